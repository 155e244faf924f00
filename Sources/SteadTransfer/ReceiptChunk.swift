import Foundation

/// Some of a receipt's entries, in their order, packed: 32 bytes each where places follow each other.
///
/// A run writes one with each chunk of items, as one with them. When the run is finished, small ones are
/// folded into one, so that many runs of few items leave few chunks.
struct ReceiptChunk: Equatable, Sendable {
  /// The most entries that chunks are folded to, and that a chunk of a streamed source has.
  static let foldLimit = 4096
  /// The most entries of one chunk. A destination that takes all items at once gets them in one.
  static let limit = Int(Int32.max)

  private var identities: PackedTexts
  private var locations: PackedTexts
  private var digests: PackedTexts
  private(set) var count: Int

  init(_ entries: [TransferReceipt.Entry]) {
    identities = PackedTexts(entries.lazy.map(\.identity))
    locations = PackedTexts(entries.lazy.map(\.placement.location))
    digests = PackedTexts(entries.lazy.map(\.placement.digest))
    count = entries.count
  }

  var entries: [TransferReceipt.Entry] {
    zip(identities.texts, placements).map { .init(identity: $0, placement: $1) }
  }

  var identityTexts: [String] { identities.texts }

  var placements: [TransferPlacement] {
    zip(locations.texts, digests.texts).map { TransferPlacement(location: $0, digest: $1) }
  }

  /// Both in one, if that is not too large.
  func folded(with next: ReceiptChunk) -> ReceiptChunk? {
    guard count + next.count <= Self.foldLimit else { return nil }
    return ReceiptChunk(entries + next.entries)
  }
}

extension ReceiptChunk: Codable {
  private enum Keys: String, CodingKey { case identities, digests, locations = "places" }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Keys.self)
    identities = try fields.decode(PackedTexts.self, forKey: .identities)
    locations = try fields.decode(PackedTexts.self, forKey: .locations)
    digests = try fields.decode(PackedTexts.self, forKey: .digests)
    count = identities.count
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

/// Many short strings in little memory: strings that follow each other, as `Draft/12` and `Draft/13` do, are one
/// run, and a digest at the end of a string is kept as bytes.
struct PackedTexts: Equatable, Sendable {
  private var runs: [TextRun] = []
  /// The digests at the ends of the strings, for the runs that have some.
  private var digests = Data()

  init(_ texts: some Sequence<String>) {
    for text in texts { append(text) }
  }

  mutating func append(_ text: String) {
    let bytes = Array(text.utf8)
    let digest = HexadecimalDigest(bytes.suffix(ItemDigest.digitCount))
    let stem = digest == nil ? bytes[...] : bytes.dropLast(ItemDigest.digitCount)
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

/// Strings that are equal, or in which one number grows or falls by one from each to the next.
struct TextRun: Equatable, Sendable {
  /// The longest number that is looked for.
  private static let digitLimit = 18

  /// The part before the number, or the whole string.
  private let head: String
  /// The first string's number; nil if the strings have none.
  private let number: Int64?
  private let tail: String
  private var step = 0
  private(set) var count = 1
  /// Whether a digest follows each string.
  let hasDigest: Bool

  /// A run of one string. Its number is the last one in it.
  init(_ text: ArraySlice<UInt8>, hasDigest: Bool) {
    self.hasDigest = hasDigest
    let tail = text.reversed().prefix { !Self.isDigit($0) }.count
    let digits = text.dropLast(tail).reversed().prefix { Self.isDigit($0) }.count
    let figures = text.dropLast(tail).suffix(digits)
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

  /// Adds a run of one string, if that is the next.
  mutating func absorb(_ next: TextRun) -> Bool {
    guard head.utf8.elementsEqual(next.head.utf8), tail.utf8.elementsEqual(next.tail.utf8),
      hasDigest == next.hasDigest, (number == nil) == (next.number == nil)
    else { return false }
    let distance = (next.number ?? 0) - (number ?? 0)
    if count == 1 {
      guard abs(distance) <= 1 else { return false }
      step = Int(distance)
    }
    guard distance == Int64(step * count) else { return false }
    count += 1
    return true
  }

  func text(_ index: Int) -> String {
    guard let number else { return head }
    return "\(head)\(number + Int64(step * index))\(tail)"
  }
}

extension TextRun: Codable {
  init(from decoder: any Decoder) throws {
    var fields = try decoder.unkeyedContainer()
    head = try fields.decode(String.self)
    let figures = try fields.decode(String.self)
    number = Int64(figures)
    tail = try fields.decode(String.self)
    step = try fields.decode(Int.self)
    count = try fields.decode(Int.self)
    hasDigest = try fields.decode(Bool.self)
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
