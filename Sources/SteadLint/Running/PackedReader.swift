/// Reads what a `PackedWriter` wrote. Damaged bytes cause an error, never a trap.
final class PackedReader {
  struct Damage: Error {}

  private let bytes: ArraySlice<UInt8>
  private var index: Int
  private var strings: [String] = []

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    index = bytes.startIndex
  }

  /// Decodes a value from bytes that `PackedWriter.bytes(of:)` returned.
  static func value<Value: Decodable>(_ type: Value.Type, of bytes: ArraySlice<UInt8>) throws
    -> Value
  {
    let reader = PackedReader(bytes)
    let count = try reader.count()
    reader.strings.reserveCapacity(count)
    for _ in 0..<count { reader.strings.append(try reader.content()) }
    return try Value(from: PackedDecoder(reader: reader))
  }

  var isAtEnd: Bool { index == bytes.endIndex }

  func flag() throws -> Bool {
    switch try byte() {
    case 0: false
    case 1: true
    default: throw Damage()
    }
  }

  func number() throws -> Int {
    var result: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let next = try byte()
      result |= UInt64(next & 0x7f) << shift
      if next < 0x80 { break }
      shift += 7
      guard shift < 64 else { throw Damage() }
    }
    return Int(truncatingIfNeeded: result >> 1) ^ -Int(truncatingIfNeeded: result & 1)
  }

  func string() throws -> String {
    let number = try number()
    guard strings.indices.contains(number) else { throw Damage() }
    return strings[number]
  }

  /// The next string, without moving past it.
  func peekString() throws -> String {
    let start = index
    defer { index = start }
    return try string()
  }

  /// A string that was written in full, not as its number.
  func content() throws -> String {
    guard let string = String(validating: try list(), as: UTF8.self) else { throw Damage() }
    return string
  }

  func list() throws -> ArraySlice<UInt8> {
    let count = try count()
    defer { index += count }
    return bytes[index..<index + count]
  }

  /// The count that a writer reserved room for.
  func reservedCount() throws -> Int {
    var count = 0
    for position in 0..<4 { count |= Int(try byte()) << (8 * position) }
    return try checked(count)
  }

  private func count() throws -> Int { try checked(number()) }

  /// A count of things that have at least one byte each, so it can't exceed the bytes that are left.
  private func checked(_ count: Int) throws -> Int {
    guard count >= 0, count <= bytes.endIndex - index else { throw Damage() }
    return count
  }

  private func byte() throws -> UInt8 {
    guard index < bytes.endIndex else { throw Damage() }
    defer { index += 1 }
    return bytes[index]
  }
}
