/// Writes the values that a type encodes, in order and without keys: only their positions identify them.
///
/// It is for the cache alone, whose version changes with the types. It supports what ``FileRecord`` has:
/// structures, enumerations with values, lists, strings, integers and flags. Dictionaries have no order, and
/// are encoded as two lists (``AttributeFact``).
struct PackedEncoder: Encoder {
  let writer: PackedWriter

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  // Nothing is written for the structure itself: its values follow each other.
  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(Keyed<Key>(writer: writer))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { Unkeyed(writer: writer) }

  func singleValueContainer() -> any SingleValueEncodingContainer { Single(writer: writer) }
}

extension PackedEncoder {
  /// The values of a structure, or the case of an enumeration.
  fileprivate struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let writer: PackedWriter

    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) { writer.append(false) }
    func encode(_ value: Bool, forKey key: Key) { writer.append(value) }
    func encode(_ value: Int, forKey key: Key) { writer.append(value) }
    func encode(_ value: String, forKey key: Key) { writer.append(value) }
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
      try value.encode(to: PackedEncoder(writer: writer))
    }

    // A flag says whether a value follows. The default would leave an absent value out, and the
    // reader couldn't tell.
    func encodeIfPresent(_ value: Bool?, forKey key: Key) {
      writer.append(value != nil)
      if let value { writer.append(value) }
    }

    func encodeIfPresent(_ value: Int?, forKey key: Key) {
      writer.append(value != nil)
      if let value { writer.append(value) }
    }

    func encodeIfPresent(_ value: String?, forKey key: Key) {
      writer.append(value != nil)
      if let value { writer.append(value) }
    }

    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
      writer.append(value != nil)
      try value?.encode(to: PackedEncoder(writer: writer))
    }

    /// The case of an enumeration, whose key must be read before its values.
    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key)
      -> KeyedEncodingContainer<Nested>
    {
      writer.append(key.stringValue)
      return KeyedEncodingContainer(Keyed<Nested>(writer: writer))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
      Unkeyed(writer: writer)
    }

    func superEncoder() -> any Encoder { PackedEncoder(writer: writer) }
    func superEncoder(forKey key: Key) -> any Encoder { PackedEncoder(writer: writer) }
  }

  /// The elements of a list, with their number before them.
  fileprivate struct Unkeyed: UnkeyedEncodingContainer {
    let writer: PackedWriter
    /// Where the number is.
    private let countOffset: Int
    private(set) var count = 0

    init(writer: PackedWriter) {
      self.writer = writer
      countOffset = writer.reserveCount()
    }

    var codingPath: [any CodingKey] { [] }

    /// Counts an element and writes the new number, since a container isn't told that its last
    /// element was written.
    private mutating func countOne() {
      count += 1
      writer.setCount(count, at: countOffset)
    }

    mutating func encodeNil() {
      countOne()
      writer.append(false)
    }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
      countOne()
      try value.encode(to: PackedEncoder(writer: writer))
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type)
      -> KeyedEncodingContainer<Nested>
    {
      countOne()
      return KeyedEncodingContainer(Keyed<Nested>(writer: writer))
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
      countOne()
      return Unkeyed(writer: writer)
    }

    mutating func superEncoder() -> any Encoder {
      countOne()
      return PackedEncoder(writer: writer)
    }
  }

  /// One value, as an element of a list or a raw value.
  fileprivate struct Single: SingleValueEncodingContainer {
    let writer: PackedWriter

    var codingPath: [any CodingKey] { [] }

    func encodeNil() { writer.append(false) }
    func encode(_ value: Bool) { writer.append(value) }
    func encode(_ value: Int) { writer.append(value) }
    func encode(_ value: String) { writer.append(value) }
    /// Without this error, a type such as `UInt8` would encode itself as a single value, without end.
    func encode<Value: Encodable>(_ value: Value) throws {
      throw EncodingError.invalidValue(
        value, .init(codingPath: [], debugDescription: "\(Value.self) has no packed form."))
    }
  }
}

// MARK: - Bytes

/// The bytes of values in the order in which they're written, without names of properties and with each
/// string once.
///
/// Reading them back needs the same types. They take a small part of the space of a property list.
final class PackedWriter {
  private(set) var bytes: [UInt8] = []
  /// The different strings so far, in the order in which they came.
  private var strings: [String] = []
  /// The indexes of `strings` by their contents.
  private var indexes: [String: Int] = [:]

  /// A value's bytes: the strings, then the value.
  ///
  /// Throws for a value with anything but structures, lists, strings, integers and flags.
  static func bytes(of value: some Encodable) throws -> [UInt8] {
    // Written first, and put after the table: the table is complete only when the value is.
    let body = PackedWriter()
    try value.encode(to: PackedEncoder(writer: body))
    let whole = PackedWriter()
    whole.append(body.strings.count)
    for string in body.strings { whole.append(content: string) }
    return whole.bytes + body.bytes
  }

  /// Appends a byte, 1 or 0.
  func append(_ flag: Bool) {
    bytes.append(flag ? 1 : 0)
  }

  /// Appends a number in as many bytes as it needs, seven bits in each, the lowest first.
  func append(_ number: Int) {
    // The sign goes last, so that numbers close to zero are short.
    // This is the zigzag form of Protocol Buffers: 0, -1, 1, -2 become 0, 1, 2, 3.
    var rest = UInt64(bitPattern: Int64(number << 1 ^ number >> (Int.bitWidth - 1)))
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Appends a string's number in the table, to which a new one is added. Most strings of a record, such as its path,
  /// occur many times.
  func append(_ string: String) {
    if let known = indexes[string] { return append(known) }
    indexes[string] = strings.count
    append(strings.count)
    strings.append(string)
  }

  /// Appends a string in full, not its number.
  func append(content string: String) {
    append(bytes: Array(string.utf8))
  }

  /// Appends the count of some bytes, and the bytes.
  func append(bytes more: some Collection<UInt8>) {
    append(more.count)
    bytes += more
  }

  /// Reserves room for a count that isn't known yet, and returns its offset. Four bytes, since it can't grow later.
  func reserveCount() -> Int {
    // A number of variable length would move all that follows when it grows.
    bytes += [0, 0, 0, 0]
    return bytes.count - 4
  }

  /// Fills in a reserved count, with the least significant byte first.
  func setCount(_ count: Int, at offset: Int) {
    // A file has far fewer facts than 32 bits can count.
    for index in 0..<4 { bytes[offset + index] = UInt8(truncatingIfNeeded: count >> (8 * index)) }
  }
}
