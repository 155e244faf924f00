// MARK: - Coding keys

/// The coding keys of a type, found out without decoding a value.
///
/// Runs the type's `init(from:)` as far as its first call for a container, which names the type of the keys. It gets no
/// value, so that nothing of the app's takes a value apart that was made up.
struct CodingKeyNames {
  /// The strings of the keys by the names of their cases.
  let strings: [String: String]

  /// nil for a type that reads no container with keys, and for keys that are not an enum.
  ///
  /// Calls the type's `init(from:)`, which throws at its first container; the error is expected.
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

  /// The string of each key by the name of its case; nil unless the keys are an enum without
  /// payloads.
  private static func strings<Key: CodingKey>(of type: Key.Type) -> [String: String]? {
    guard let cases = EnumCases(type), let values = cases.values(of: type) else { return nil }
    return Dictionary(
      // A case and its key are at the same place: the values are made in the order of the cases.
      zip(cases.cases.map(\.name), values.map(\.stringValue))
    ) { first, _ in first }
  }
}

/// Records which keys a type asks for, and ends its decoding there by throwing.
private struct KeyDecoder: Decoder {
  final class Record {
    /// The key that the container has.
    let chosen: String?
    /// The type of the keys of the first container; nil until one is asked for.
    var keys: (any CodingKey.Type)?
    /// The type of the keys of the chosen key's own container.
    var nested: (any CodingKey.Type)?

    init(chosen: String? = nil) { self.chosen = chosen }
  }

  /// There is no value.
  struct Ended: Error {}

  let record: Record
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    // Only the first counts: a custom decoding may catch the error, and try another container.
    record.keys = record.keys ?? type
    // With a chosen key the decoder claims to have exactly this case of an enum, so that the type
    // asks for its payload.
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

// MARK: - Values without data

/// Makes a value of any Decodable type without data, and records which keys the type asks for.
///
/// It has two uses: placeholders for properties of objects without a row, and the coding keys of a struct.
struct PlaceholderDecoder: Decoder {
  final class Record {
    /// The keys that were asked for, in that order, perhaps several times.
    var keys: [String] = []
  }

  /// A part of the value has no placeholder, so the whole has none.
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
    // From the cheapest and surest to the last resort. An optional is nil whatever it wraps, and a
    // type with a column encoding knows its own placeholder. Only then is a type's own code run.
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

  /// The first case of an enum without payloads, whose bits are all zero.
  ///
  /// For an enum without raw values that isn't `CaseIterable`: no other way leads to one of its values.
  private static func firstCaseByLayout<T>(_ type: T.Type) -> T? {
    // The first word of a type's metadata is its kind, and 0x201 is that of an enum, in Swift's
    // stable ABI.
    let isEnum = unsafeBitCast(type, to: UnsafePointer<Int>.self).pointee == 0x201
    // An enum without payloads has at most one byte up to 256 cases, and its first case is number
    // 0.
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

  /// A placeholder for a part of a value.
  static func make<T: Decodable>(_ type: T.Type) throws -> T {
    guard let value = value(of: type) else { throw NoPlaceholder() }
    return value
  }
}

extension PlaceholderDecoder {
  /// A container that has every key, with placeholders as values, and records which are asked for.
  struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let record: Record
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool {
      record.keys.append(key.stringValue)
      return false
    }

    // Everything is absent: optionals get nil, and no key of theirs needs a value.
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

  /// An empty array.
  struct Empty: UnkeyedDecodingContainer {
    var codingPath: [any CodingKey] { [] }
    // An array decodes as empty. A type that reads a fixed number of elements gets placeholders.
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

  /// A container of one placeholder.
  struct Single: SingleValueDecodingContainer {
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { true }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try make(type) }
  }
}
