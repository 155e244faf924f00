/// Takes the values of a snapshot apart, each with its type, instead of writing them down.
///
/// A snapshot is one keyed container; any other form is noted as unusable.
struct SnapshotEncoder: Encoder {
  final class Record {
    /// The values by key; nil for an explicit nil.
    var values: [String: (any Encodable)?] = [:]
    var isUsable = true
  }

  let record = Record()
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(Keyed(record: record))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { Unusable(record) }

  func singleValueContainer() -> any SingleValueEncodingContainer { Unusable(record) }

  private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let record: Record
    var codingPath: [any CodingKey] { [] }

    private func note(_ value: any Encodable, _ key: Key) { record.values[key.stringValue] = value }

    func encodeNil(forKey key: Key) { record.values.updateValue(nil, forKey: key.stringValue) }
    func encode(_ value: Bool, forKey key: Key) { note(value, key) }
    func encode(_ value: String, forKey key: Key) { note(value, key) }
    func encode(_ value: Double, forKey key: Key) { note(value, key) }
    func encode(_ value: Float, forKey key: Key) { note(value, key) }
    func encode(_ value: Int, forKey key: Key) { note(value, key) }
    func encode(_ value: Int8, forKey key: Key) { note(value, key) }
    func encode(_ value: Int16, forKey key: Key) { note(value, key) }
    func encode(_ value: Int32, forKey key: Key) { note(value, key) }
    func encode(_ value: Int64, forKey key: Key) { note(value, key) }
    func encode(_ value: UInt, forKey key: Key) { note(value, key) }
    func encode(_ value: UInt8, forKey key: Key) { note(value, key) }
    func encode(_ value: UInt16, forKey key: Key) { note(value, key) }
    func encode(_ value: UInt32, forKey key: Key) { note(value, key) }
    func encode(_ value: UInt64, forKey key: Key) { note(value, key) }

    func encode<T: Encodable>(_ value: T, forKey key: Key) {
      if let optional = value as? any OptionalValue, optional.isNil {
        encodeNil(forKey: key)
      } else {
        note(value, key)
      }
    }

    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
      record.isUsable = false
      return KeyedEncodingContainer(Keyed<Nested>(record: Record()))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
      Unusable(record)
    }

    func superEncoder() -> any Encoder {
      record.isUsable = false
      return SnapshotEncoder()
    }

    func superEncoder(forKey key: Key) -> any Encoder { superEncoder() }
  }

  /// Discards what is encoded into it.
  private struct Unusable: UnkeyedEncodingContainer, SingleValueEncodingContainer {
    let codingPath: [any CodingKey] = []
    let count = 0

    init(_ record: Record) { record.isUsable = false }

    func encodeNil() {}
    func encode<T: Encodable>(_ value: T) {}

    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
      KeyedEncodingContainer(Keyed<Nested>(record: Record()))
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }

    func superEncoder() -> any Encoder { SnapshotEncoder() }
  }
}
