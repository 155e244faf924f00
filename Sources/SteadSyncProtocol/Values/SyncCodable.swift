/// A value with its own encoding: JSON that is byte for byte the same for equal values.
///
/// Documentation/SyncProtocol.md describes each. Decoding never traps on any bytes. It ignores unknown members, and
/// ``Record`` keeps them.
package protocol SyncCodable {
  /// Reads a value. Throws ``SyncCodingError``.
  init(syncValue: SyncValue) throws(SyncCodingError)
  /// The value as JSON has it.
  var syncValue: SyncValue { get }
  /// Compact JSON in UTF-8: the bytes of ``syncValue``. Costs time in proportion to its size.
  func encoded() -> [UInt8]
}

extension SyncCodable {
  /// Reads JSON in UTF-8. Costs time and memory in proportion to the bytes; limit them before. Throws
  /// ``SyncCodingError``.
  package init(encoded bytes: some Collection<UInt8>) throws(SyncCodingError) {
    try self.init(syncValue: JSONReader.value(Array(bytes)))
  }

  package func encoded() -> [UInt8] { JSONWriter.bytes(syncValue) }
}

extension SyncValue: SyncCodable {
  package init(syncValue: SyncValue) { self = syncValue }
  package var syncValue: SyncValue { self }
}

/// Reads a list of values with an encoding.
extension Array: SyncCodable where Element: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    guard let values = syncValue.array else {
      throw SyncCodingError(.unexpected, "A list of \(Element.self) isn't an array.")
    }
    var elements: [Element] = []
    elements.reserveCapacity(values.count)
    for value in values { elements.append(try Element(syncValue: value)) }
    self = elements
  }

  package var syncValue: SyncValue { .array(map(\.syncValue)) }
}

// MARK: - Errors

/// The error of bytes that cannot be decoded. Its message names the byte or the member, and never a value.
package struct SyncCodingError: Error, Hashable, Sendable {
  /// The kind of error, to compare.
  package struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Name { case malformed, unsupportedVersion, unexpected, limit }
    private let name: Name
    private init(_ name: Name) { self.name = name }

    /// The code's name, for logs and metrics.
    package var description: String { "\(name)" }

    /// The bytes aren't JSON in UTF-8.
    package static let malformed = Code(.malformed)
    /// The message has a later version than this code supports.
    package static let unsupportedVersion = Code(.unsupportedVersion)
    /// The JSON isn't the message that was expected.
    package static let unexpected = Code(.unexpected)
    /// A limit is exceeded.
    package static let limit = Code(.limit)
  }

  package var code: Code
  package var message: String

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }
}

// MARK: - Reading objects

/// Reads the members of an object, each by its name.
struct MemberReader {
  /// The version of the messages that this code writes, and the latest that it reads.
  static let version: Int64 = 1

  /// All members, those that nobody asks for included.
  let members: [String: SyncValue]
  /// What is read, for the messages of errors.
  private let subject: String

  /// Throws unless the value is an object.
  init(_ value: SyncValue, _ subject: String) throws(SyncCodingError) {
    guard let members = value.object else {
      throw SyncCodingError(.unexpected, "The \(subject) isn't an object.")
    }
    self.members = members
    self.subject = subject
  }

  /// The same for a message, which states its version.
  init(message value: SyncValue, _ subject: String) throws(SyncCodingError) {
    try self.init(value, subject)
    let version = try int("v")
    guard version == Self.version else {
      throw SyncCodingError(
        .unsupportedVersion, "The \(subject) has version \(version); \(Self.version) is known.")
    }
  }

  /// The error for a member that isn't what it should be. Never has its value.
  func problem(_ name: String, _ expected: String) -> SyncCodingError {
    SyncCodingError(.unexpected, "The member \(name) of the \(subject) isn't \(expected).")
  }

  /// A member; null counts as absent.
  func value(_ name: String) -> SyncValue? {
    let value = members[name]
    return value == .null ? nil : value
  }

  /// A string. Throws if it is absent.
  func string(_ name: String) throws(SyncCodingError) -> String {
    guard let text = members[name]?.string else { throw problem(name, "a string") }
    return text
  }

  /// A whole number. Throws if it is absent.
  func int(_ name: String) throws(SyncCodingError) -> Int64 {
    guard let number = members[name]?.int else { throw problem(name, "a whole number") }
    return number
  }

  /// A whole number that isn't negative.
  func count(_ name: String) throws(SyncCodingError) -> Int64 {
    let number = try int(name)
    guard number >= 0 else { throw problem(name, "0 or more") }
    return number
  }

  /// A Boolean. Throws if it is absent.
  func bool(_ name: String) throws(SyncCodingError) -> Bool {
    guard case .bool(let flag)? = members[name] else { throw problem(name, "true or false") }
    return flag
  }

  /// An object. Throws if it is absent.
  func object(_ name: String) throws(SyncCodingError) -> [String: SyncValue] {
    guard let members = members[name]?.object else { throw problem(name, "an object") }
    return members
  }

  /// Values with an encoding.
  func coded<Value: SyncCodable>(_ name: String) throws(SyncCodingError) -> Value {
    guard let value = members[name] else { throw problem(name, "there") }
    return try Value(syncValue: value)
  }

  /// The same, or nil where the member is absent or null.
  func codedIfPresent<Value: SyncCodable>(_ name: String) throws(SyncCodingError) -> Value? {
    guard let value = value(name) else { return nil }
    return try Value(syncValue: value)
  }

  /// 64 bits in 16 hexadecimal digits, or nil where the member is absent or null.
  func digestIfPresent(_ name: String) throws(SyncCodingError) -> UInt64? {
    guard let value = value(name) else { return nil }
    guard let bits = value.string.flatMap({ UInt64(digits: $0) }) else {
      throw problem(name, "16 hexadecimal digits")
    }
    return bits
  }
}

extension SyncValue {
  /// An object of the members that aren't nil.
  static func members(_ pairs: KeyValuePairs<String, SyncValue?>) -> SyncValue {
    var members: [String: SyncValue] = [:]
    for (name, value) in pairs { members[name] = value }
    return .object(members)
  }

  /// An object of a message.
  static func message(_ pairs: KeyValuePairs<String, SyncValue?>) -> SyncValue {
    guard case .object(var members) = members(pairs) else { return .null }
    members["v"] = .int(MemberReader.version)
    return .object(members)
  }
}
