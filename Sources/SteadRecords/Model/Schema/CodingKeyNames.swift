/// The coding keys of a type, found out without decoding a value.
///
/// Runs the type's `init(from:)` as far as its first call for a container, which names the type of the keys. It gets no
/// value, so that nothing of the app's takes a value apart that was made up.
struct CodingKeyNames {
  /// The strings of the keys by the names of their cases.
  let strings: [String: String]

  /// nil for a type that reads no container with keys, and for keys that are not an enum.
  init?(of type: any Decodable.Type) {
    let record = KeyDecoder.Record()
    _ = try? type.init(from: KeyDecoder(record: record))
    guard let keys = record.keys, let strings = Self.strings(of: keys) else { return nil }
    self.strings = strings
  }

  /// The keys of a payload of an enum's case: of its values, `_0` and so on where they have no labels.
  init?(of type: any Decodable.Type, payloadOf key: String) {
    let record = KeyDecoder.Record(chosen: key)
    _ = try? type.init(from: KeyDecoder(record: record))
    guard let keys = record.nested, let strings = Self.strings(of: keys) else { return nil }
    self.strings = strings
  }

  private static func strings<Key: CodingKey>(of type: Key.Type) -> [String: String]? {
    guard let cases = EnumCases(type), let values = cases.values(of: type) else { return nil }
    return Dictionary(
      zip(cases.cases.map(\.name), values.map(\.stringValue))
    ) { first, _ in first }
  }
}

/// Notes which keys a type asks for, and ends its decoding there.
private struct KeyDecoder: Decoder {
  final class Record {
    /// The key that the container has.
    let chosen: String?
    var keys: (any CodingKey.Type)?
    var nested: (any CodingKey.Type)?

    init(chosen: String? = nil) { self.chosen = chosen }
  }

  /// There is no value.
  struct Ended: Error {}

  let record: Record
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    record.keys = record.keys ?? type
    guard let chosen = record.chosen, let key = Key(stringValue: chosen) else { throw Ended() }
    return KeyedDecodingContainer(Keyed(record: record, allKeys: [key]))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Ended() }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Ended() }

  private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let record: Record
    let allKeys: [Key]
    var codingPath: [any CodingKey] { [] }

    func contains(_ key: Key) -> Bool { allKeys.contains { $0.stringValue == key.stringValue } }
    func decodeNil(forKey key: Key) throws -> Bool { throw Ended() }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { throw Ended() }

    func nestedContainer<NestedKey: CodingKey>(
      keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
      record.nested = record.nested ?? type
      throw Ended()
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
      throw Ended()
    }

    func superDecoder() throws -> any Decoder { throw Ended() }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw Ended() }
  }
}
