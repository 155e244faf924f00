/// Writes the values that a type encodes. Only their positions identify them.
struct PackedEncoder: Encoder {
  let writer: PackedWriter

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(Keyed<Key>(writer: writer))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { Unkeyed(writer: writer) }

  func singleValueContainer() -> any SingleValueEncodingContainer { Single(writer: writer) }
}

extension PackedEncoder {
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

  fileprivate struct Unkeyed: UnkeyedEncodingContainer {
    let writer: PackedWriter
    private let place: Int
    private(set) var count = 0

    init(writer: PackedWriter) {
      self.writer = writer
      place = writer.reserveCount()
    }

    var codingPath: [any CodingKey] { [] }

    private mutating func countOne() {
      count += 1
      writer.setCount(count, at: place)
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

  fileprivate struct Single: SingleValueEncodingContainer {
    let writer: PackedWriter

    var codingPath: [any CodingKey] { [] }

    func encodeNil() { writer.append(false) }
    func encode(_ value: Bool) { writer.append(value) }
    func encode(_ value: Int) { writer.append(value) }
    func encode(_ value: String) { writer.append(value) }
    /// Other number types would call this again and again.
    func encode<Value: Encodable>(_ value: Value) throws {
      throw EncodingError.invalidValue(
        value, .init(codingPath: [], debugDescription: "\(Value.self) has no packed form."))
    }
  }
}
