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
