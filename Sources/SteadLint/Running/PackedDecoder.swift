/// Decodes values in the order in which a `PackedEncoder` wrote them.
///
/// Keys aren't stored, so a type must decode its values in the order in which it encodes them.
/// Synthesized conformances do.
///
/// All decoders and containers of one value share its reader, which moves on with each value. So a
/// container must be read to its end, and before its sibling.
struct PackedDecoder: Decoder {
  let reader: PackedReader

  // Errors need no path: whatever is wrong with a record, its file is parsed again.
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  // A keyed container has no bytes of its own: its values follow each other.
  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Keyed<Key>(reader: reader))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try Unkeyed(reader: reader)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { Single(reader: reader) }
}

extension PackedDecoder {
  /// The values of a structure, or the case of an enumeration. Keys are ignored but for that case.
  fileprivate struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let reader: PackedReader

    var codingPath: [any CodingKey] { [] }
    /// The case of an enumeration, whose synthesized `init(from:)` looks for it here. Nothing else asks for
    /// the keys.
    var allKeys: [Key] {
      guard let name = try? reader.peekString(), let key = Key(stringValue: name) else { return [] }
      return [key]
    }

    /// Called only before values that may be absent.
    func contains(_ key: Key) -> Bool { (try? reader.flag()) ?? false }
    // A value that may be absent has a flag before it, which `contains` has read.
    func decodeNil(forKey key: Key) -> Bool { false }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try reader.flag() }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try reader.number() }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try reader.string() }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
      try Value(from: PackedDecoder(reader: reader))
    }

    // A flag is before each value that may be absent, whether one follows or not.
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
      try reader.flag() ? try reader.flag() : nil
    }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
      try reader.flag() ? try reader.number() : nil
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
      try reader.flag() ? try reader.string() : nil
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
      try reader.flag() ? try Value(from: PackedDecoder(reader: reader)) : nil
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws
      -> KeyedDecodingContainer<Nested>
    {
      // The writer puts the case's name before its values.
      guard try reader.string() == key.stringValue else { throw PackedReader.Damage() }
      return KeyedDecodingContainer(Keyed<Nested>(reader: reader))
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
      try Unkeyed(reader: reader)
    }

    func superDecoder() -> any Decoder { PackedDecoder(reader: reader) }
    func superDecoder(forKey key: Key) -> any Decoder { PackedDecoder(reader: reader) }
  }

  /// The elements of a list, whose number comes first.
  fileprivate struct Unkeyed: UnkeyedDecodingContainer {
    let reader: PackedReader
    private let length: Int
    private(set) var currentIndex = 0

    init(reader: PackedReader) throws {
      self.reader = reader
      length = try reader.reservedCount()
    }

    var codingPath: [any CodingKey] { [] }
    var count: Int? { length }
    var isAtEnd: Bool { currentIndex >= length }

    /// Counts an element, and throws beyond the last one: its bytes would be those of the next
    /// value.
    private mutating func countOne() throws {
      guard !isAtEnd else { throw PackedReader.Damage() }
      currentIndex += 1
    }

    func decodeNil() -> Bool { false }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      try countOne()
      return try Value(from: PackedDecoder(reader: reader))
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws
      -> KeyedDecodingContainer<Nested>
    {
      try countOne()
      return KeyedDecodingContainer(Keyed<Nested>(reader: reader))
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
      try countOne()
      return try Unkeyed(reader: reader)
    }

    mutating func superDecoder() throws -> any Decoder {
      try countOne()
      return PackedDecoder(reader: reader)
    }
  }

  /// One value, as an element of a list or a raw value.
  fileprivate struct Single: SingleValueDecodingContainer {
    let reader: PackedReader

    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { false }
    func decode(_ type: Bool.Type) throws -> Bool { try reader.flag() }
    func decode(_ type: Int.Type) throws -> Int { try reader.number() }
    func decode(_ type: String.Type) throws -> String { try reader.string() }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      // A number other than `Int` would ask for itself again, without end.
      throw DecodingError.typeMismatch(
        type, .init(codingPath: [], debugDescription: "\(Value.self) has no packed form."))
    }
  }
}

// MARK: - Bytes

/// Reads what a `PackedWriter` wrote. Damaged bytes cause an error, never a trap.
///
/// Invariant: no count is believed before it was compared with the bytes that are left. So damaged
/// bytes can't make it reserve much memory or read beyond the end.
///
/// A class, since nested decoders read from one position. Each value has a reader of its own, which
/// one thread uses.
final class PackedReader {
  /// The bytes aren't what a writer of this version writes. The cache takes the record for absent.
  struct Damage: Error {}

  private let bytes: ArraySlice<UInt8>
  /// The position of the next byte.
  private var index: Int
  /// The table of strings, which the values refer to by index.
  private var strings: [String] = []

  /// A reader at the beginning of some bytes, which aren't copied.
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
    // At most as many as there are bytes, by `count()`.
    reader.strings.reserveCapacity(count)
    for _ in 0..<count { reader.strings.append(try reader.content()) }
    return try Value(from: PackedDecoder(reader: reader))
  }

  var isAtEnd: Bool { index == bytes.endIndex }

  /// A byte that is 0 or 1.
  func flag() throws -> Bool {
    switch try byte() {
    case 0: false
    case 1: true
    default: throw Damage()
    }
  }

  /// A number in groups of seven bits, the lowest first, with the sign in the lowest bit (zigzag).
  func number() throws -> Int {
    var result: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let next = try byte()
      result |= UInt64(next & 0x7f) << shift
      if next < 0x80 { break }
      shift += 7
      // Ten groups are the most that 64 bits need; damaged bytes could go on.
      guard shift < 64 else { throw Damage() }
    }
    return Int(truncatingIfNeeded: result >> 1) ^ -Int(truncatingIfNeeded: result & 1)
  }

  /// A string by its number in the table at the beginning.
  ///
  /// The strings of a record share their memory with the table.
  func string() throws -> String {
    let number = try number()
    guard strings.indices.contains(number) else { throw Damage() }
    return strings[number]
  }

  /// The next string, without moving past it.
  ///
  /// An enumeration's `init(from:)` asks for the keys before it reads its case.
  func peekString() throws -> String {
    // Put back also if the string can't be read.
    let start = index
    defer { index = start }
    return try string()
  }

  /// A string that was written in full, not as its number.
  func content() throws -> String {
    guard let string = String(validating: try byteSlice(), as: UTF8.self) else { throw Damage() }
    return string
  }

  /// Bytes with their count first.
  ///
  /// A slice of the reader's bytes: nothing is copied.
  func byteSlice() throws -> ArraySlice<UInt8> {
    let count = try count()
    defer { index += count }
    return bytes[index..<index + count]
  }

  /// The count that a writer reserved room for.
  ///
  /// Four bytes, the least significant first, as `PackedWriter.setCount(_:at:)` writes them.
  func reservedCount() throws -> Int {
    var count = 0
    for position in 0..<4 { count |= Int(try byte()) << (8 * position) }
    return try checked(count)
  }

  /// A count of strings or bytes, as a number of any size.
  private func count() throws -> Int { try checked(number()) }

  /// A count of things that have at least one byte each, so it can't exceed the bytes that are left.
  private func checked(_ count: Int) throws -> Int {
    guard count >= 0, count <= bytes.endIndex - index else { throw Damage() }
    return count
  }

  /// The next byte. Throws at the end.
  private func byte() throws -> UInt8 {
    guard index < bytes.endIndex else { throw Damage() }
    defer { index += 1 }
    return bytes[index]
  }
}
