import Foundation

/// Some entries of a receipt, in order and packed: about 32 bytes each if their locations are
/// consecutive.
///
/// A run writes a chunk together with each batch of items. Small chunks are folded when the run is
/// finished.
///
/// Encoded, a chunk has `identities`, `places` and `digests`, each a ``PackedTexts``.
/// Documentation/Transfer.md describes the format.
struct ReceiptChunk: Equatable, Sendable {
  /// The maximum number of entries that chunks are folded to, and that a batch of a chunked source
  /// has.
  static let foldLimit = 4096
  /// The maximum number of entries in a chunk. A destination that takes all items at once gets one
  /// chunk for them.
  static let limit = Int(Int32.max)

  private var identities: PackedTexts
  /// The three columns of the entries, packed each by itself, since strings of one column resemble
  /// each other.
  private var locations: PackedTexts
  private var digests: PackedTexts
  private(set) var count: Int

  init(_ entries: [TransferReceipt.Entry]) {
    identities = PackedTexts(entries.lazy.map(\.identity))
    locations = PackedTexts(entries.lazy.map(\.placement.location))
    digests = PackedTexts(entries.lazy.map(\.placement.digest))
    count = entries.count
  }

  /// The entries, unpacked.
  var entries: [TransferReceipt.Entry] {
    zip(identities.texts, placements).map { .init(identity: $0, placement: $1) }
  }

  /// The identities alone, for finding out which items are known.
  var identityTexts: [String] { identities.texts }

  /// The placements alone, for verification.
  var placements: [TransferPlacement] {
    zip(locations.texts, digests.texts).map { TransferPlacement(location: $0, digest: $1) }
  }

  /// Both chunks as one; nil if that would exceed ``foldLimit``.
  func folded(with next: ReceiptChunk) -> ReceiptChunk? {
    guard count + next.count <= Self.foldLimit else { return nil }
    return ReceiptChunk(entries + next.entries)
  }
}

extension ReceiptChunk: Codable {
  // The stored name of `locations` is that of version 2 of the format.
  private enum Keys: String, CodingKey { case identities, digests, locations = "places" }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Keys.self)
    identities = try fields.decode(PackedTexts.self, forKey: .identities)
    locations = try fields.decode(PackedTexts.self, forKey: .locations)
    digests = try fields.decode(PackedTexts.self, forKey: .digests)
    count = identities.count
    // A damaged receipt must be an error: misaligned columns would remove the wrong items.
    guard locations.count == count, digests.count == count else {
      throw DecodingError.dataCorruptedError(
        forKey: .locations, in: fields, debugDescription: "The numbers of places and items differ."
      )
    }
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Keys.self)
    try fields.encode(identities, forKey: .identities)
    try fields.encode(locations, forKey: .locations)
    try fields.encode(digests, forKey: .digests)
  }
}

// MARK: - Packed strings

/// Many short strings in little memory.
///
/// Consecutive strings that differ only in a number, such as `Draft/12` and `Draft/13`, are one run
/// (``TextRun``). A digest at the end of a string is stored as 16 bytes instead of 32 digits,
/// outside of the run, so that it doesn't break it.
struct PackedTexts: Equatable, Sendable {
  private var runs: [TextRun] = []
  /// The digests at the ends of the strings of those runs that have some, in order.
  private var digests = Data()

  init(_ texts: some Sequence<String>) {
    for text in texts { append(text) }
  }

  /// Appends a string, to the last run if it continues that.
  mutating func append(_ text: String) {
    let bytes = Array(text.utf8)
    // Identities and digests end with one, and differ in all of it.
    let digest = HexadecimalDigest(bytes.suffix(ItemDigest.digitCount))
    let stem = digest == nil ? bytes[...] : bytes.dropLast(ItemDigest.digitCount)
    // In the order of the strings, whichever run they join.
    if let digest { digests.append(contentsOf: digest.bytes) }
    let run = TextRun(stem, hasDigest: digest != nil)
    if runs.isEmpty || !runs[runs.count - 1].absorb(run) { runs.append(run) }
  }

  /// All strings, in order.
  var texts: [String] {
    var rest = digests[...]
    return runs.flatMap { run in
      (0..<run.count).map { index in
        guard run.hasDigest else { return run.text(index) }
        let digest = rest.prefix(ItemDigest.byteCount)
        rest = rest.dropFirst(ItemDigest.byteCount)
        return run.text(index) + HexadecimalDigest(bytes: Array(digest)).text
      }
    }
  }

  /// The number of strings.
  var count: Int { runs.reduce(0) { $0 + $1.count } }
}

extension PackedTexts: Codable {
  private enum Keys: String, CodingKey { case runs, digests }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Keys.self)
    runs = try fields.decode([TextRun].self, forKey: .runs)
    digests = try fields.decode(Data.self, forKey: .digests)
    // A damaged receipt is an error, and not another one.
    let expected = runs.reduce(0) { $0 + ($1.hasDigest ? $1.count : 0) } * ItemDigest.byteCount
    guard digests.count == expected else {
      throw DecodingError.dataCorruptedError(
        forKey: .digests, in: fields, debugDescription: "The number of digests is wrong.")
    }
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Keys.self)
    try fields.encode(runs, forKey: .runs)
    try fields.encode(digests, forKey: .digests)
  }
}

/// Strings that are equal, or in which one number increases or decreases by one from each to the
/// next.
struct TextRun: Equatable, Sendable {
  /// The maximum length of the number. 18 digits fit into an `Int64` with room for `step * count`.
  private static let digitLimit = 18

  /// The part before the number, or the whole string.
  private let head: String
  /// The first string's number; nil if the strings have none. `Int64`, since `Int` has 32 bits on
  /// watchOS.
  private let number: Int64?
  /// The part after the number.
  private let tail: String
  /// The difference between neighbours: -1, 0 or 1.
  private var step = 0
  /// The number of strings.
  private(set) var count = 1
  /// Whether a digest follows each string.
  let hasDigest: Bool

  /// A run of one string. Its number is the last one in the string.
  init(_ text: ArraySlice<UInt8>, hasDigest: Bool) {
    self.hasDigest = hasDigest
    // From the end: `Draft/12` is head "Draft/" and number 12.
    let tail = text.reversed().prefix { !Self.isDigit($0) }.count
    let digits = text.dropLast(tail).reversed().prefix { Self.isDigit($0) }.count
    let figures = text.dropLast(tail).suffix(digits)
    // A number with leading zeros would lose them when it is printed again.
    let isPlain = figures.first != UInt8(ascii: "0") || digits == 1
    if digits > 0, digits <= Self.digitLimit, isPlain {
      head = String(decoding: text.dropLast(tail + digits), as: UTF8.self)
      number = Int64(String(decoding: figures, as: UTF8.self))
      self.tail = String(decoding: text.suffix(tail), as: UTF8.self)
    } else {
      head = String(decoding: text, as: UTF8.self)
      number = nil
      self.tail = ""
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  /// Appends a run of one string if that continues this one, and returns whether it does.
  mutating func absorb(_ next: TextRun) -> Bool {
    guard head.utf8.elementsEqual(next.head.utf8), tail.utf8.elementsEqual(next.tail.utf8),
      hasDigest == next.hasDigest, (number == nil) == (next.number == nil)
    else { return false }
    // Can't overflow, since both have at most 18 digits.
    let distance = (next.number ?? 0) - (number ?? 0)
    // The first two strings determine the step.
    if count == 1 {
      guard abs(distance) <= 1 else { return false }
      step = Int(distance)
    }
    // A run has no gaps: its next number is one step further than it is long.
    guard distance == Int64(step * count) else { return false }
    count += 1
    return true
  }

  /// The string at an index, without its digest.
  func text(_ index: Int) -> String {
    guard let number else { return head }
    return "\(head)\(number + Int64(step * index))\(tail)"
  }
}

extension TextRun: Codable {
  /// Decodes an array of six values; see ``encode(to:)``.
  init(from decoder: any Decoder) throws {
    var fields = try decoder.unkeyedContainer()
    head = try fields.decode(String.self)
    let figures = try fields.decode(String.self)
    number = Int64(figures)
    tail = try fields.decode(String.self)
    step = try fields.decode(Int.self)
    count = try fields.decode(Int.self)
    hasDigest = try fields.decode(Bool.self)
    // Bounds, so that a damaged run can neither overflow nor expand to billions of strings.
    let isNumber = figures.isEmpty || number != nil && figures.utf8.count <= Self.digitLimit
    guard isNumber, (1...ReceiptChunk.limit).contains(count), (-1...1).contains(step) else {
      throw DecodingError.dataCorruptedError(
        in: fields, debugDescription: "A run of texts has impossible numbers.")
    }
  }

  /// An array: head, the first number in digits or an empty string, tail, step, count, whether digests follow.
  func encode(to encoder: any Encoder) throws {
    var fields = encoder.unkeyedContainer()
    try fields.encode(head)
    try fields.encode(number.map(String.init) ?? "")
    try fields.encode(tail)
    try fields.encode(step)
    try fields.encode(count)
    try fields.encode(hasDigest)
  }
}
