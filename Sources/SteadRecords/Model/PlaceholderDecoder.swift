/// Makes a value of any Decodable type without data, and notes which keys the type asks for.
///
/// It has two uses: a stand-in for a value without a row, and the coding keys of a struct.
struct PlaceholderDecoder: Decoder {
  final class Record {
    var keys: [String] = []
  }

  struct NoPlaceholder: Error {}

  let record: Record
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// The keys that the type decodes, or nil when it cannot be made without data.
  static func keys(of type: any Decodable.Type) -> [String]? {
    let record = Record()
    guard (try? type.init(from: PlaceholderDecoder(record: record))) != nil else { return nil }
    return record.keys
  }

  /// A value of the type, or nil when none can be made up.
  static func value<T>(of type: T.Type) -> T? {
    if let nothing = (type as? any ExpressibleByNilLiteral.Type)?.init(nilLiteral: ()) {
      return nothing as? T
    }
    if let attribute = type as? any _AttributeValue.Type { return attribute._placeholder as? T }
    if let iterable = type as? any CaseIterable.Type, let first = firstCase(iterable) as? T {
      return first
    }
    if let decodable = type as? any Decodable.Type,
      let value = try? decodable.init(from: PlaceholderDecoder(record: Record())) as? T
    {
      return value
    }
    return firstCaseByLayout(type)
  }

  private static func firstCase<C: CaseIterable>(_ type: C.Type) -> Any? { type.allCases.first }

  /// The first case of an enum without payload: all its bits are zero.
  private static func firstCaseByLayout<T>(_ type: T.Type) -> T? {
    let isEnum = unsafeBitCast(type, to: UnsafePointer<Int>.self).pointee == 0x201
    guard isEnum, MemoryLayout<T>.size <= 1 else { return nil }
    if MemoryLayout<T>.size == 0 { return unsafeBitCast((), to: T.self) }
    let value = unsafeBitCast(UInt8(0), to: T.self)
    // An enum with a payload of one byte has the same size, but its mirror has a child.
    return Mirror(reflecting: value).children.isEmpty ? value : nil
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Keyed(record: record))
  }

  func unkeyedContainer() -> any UnkeyedDecodingContainer { Empty() }

  func singleValueContainer() -> any SingleValueDecodingContainer { Single() }

  static func make<T: Decodable>(_ type: T.Type) throws -> T {
    guard let value = value(of: type) else { throw NoPlaceholder() }
    return value
  }
}

extension PlaceholderDecoder {
  struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let record: Record
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool {
      record.keys.append(key.stringValue)
      return false
    }

    func decodeNil(forKey key: Key) -> Bool { true }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
      record.keys.append(key.stringValue)
      return try make(type)
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) -> T? {
      record.keys.append(key.stringValue)
      return nil
    }

    func nestedContainer<NestedKey: CodingKey>(
      keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedDecodingContainer<NestedKey> {
      record.keys.append(key.stringValue)
      return KeyedDecodingContainer(Keyed<NestedKey>(record: Record()))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
      record.keys.append(key.stringValue)
      return Empty()
    }

    func superDecoder() -> any Decoder { PlaceholderDecoder(record: Record()) }
    func superDecoder(forKey key: Key) -> any Decoder { PlaceholderDecoder(record: Record()) }
  }

  struct Empty: UnkeyedDecodingContainer {
    var codingPath: [any CodingKey] { [] }
    var count: Int? { 0 }
    var isAtEnd: Bool { true }
    var currentIndex: Int { 0 }

    func decodeNil() -> Bool { true }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try make(type) }
    func nestedContainer<NestedKey: CodingKey>(
      keyedBy type: NestedKey.Type
    ) -> KeyedDecodingContainer<NestedKey> {
      KeyedDecodingContainer(Keyed<NestedKey>(record: Record()))
    }
    func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer { Empty() }
    func superDecoder() -> any Decoder { PlaceholderDecoder(record: Record()) }
  }

  struct Single: SingleValueDecodingContainer {
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { true }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try make(type) }
  }
}
