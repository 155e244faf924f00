/// An opaque name: 1 to 200 characters of printable ASCII, without spaces, quotation marks and backslashes.
///
/// So it needs no escapes in JSON, and its order by bytes is the same in every language and database. The owner
/// percent-encodes names with other characters, such as a key of a key-value store.
///
/// `Subject` only distinguishes identifiers of different things.
public struct Identifier<Subject>: Hashable, Comparable, Sendable {
  /// The maximum number of characters.
  public static var lengthLimit: Int { 200 }

  /// The characters.
  public let text: String

  /// Makes an identifier, or nil if the string isn't one.
  public init?(_ text: String) {
    guard Self.accepts(text) else { return nil }
    self.text = text
  }

  /// Makes an identifier from a string that is known to be one, without checking it.
  init(trusted text: String) { self.text = text }

  /// Whether a string is an identifier. Costs time in proportion to its length.
  public static func accepts(_ text: String) -> Bool {
    let bytes = text.utf8
    guard !bytes.isEmpty, bytes.count <= lengthLimit else { return false }
    return bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }
  }

  // These three are inlined into the dictionaries of other modules.
  @inlinable public static func == (one: Self, other: Self) -> Bool { one.text == other.text }
  @inlinable public func hash(into hasher: inout Hasher) { hasher.combine(text) }

  /// Compares by bytes.
  @inlinable public static func < (one: Self, other: Self) -> Bool { one.text < other.text }
}

extension Identifier: CustomStringConvertible {
  public var description: String { text }
}

extension Identifier: ExpressibleByStringLiteral {
  /// Makes an identifier from a literal; one that isn't an identifier is a programmer's error and traps.
  public init(stringLiteral text: String) {
    precondition(Self.accepts(text), "An identifier has 1 to 200 printable ASCII characters.")
    self.text = text
  }
}

/// What identifiers can name. Never instantiated.
public enum IdentifierSubject {
  public enum Zones {}
  public enum Clients {}
  public enum Devices {}
  public enum Records {}
  public enum Incarnations {}
  public enum Blobs {}
  public enum UniqueTokens {}
}

/// A zone: 128 random bits, in any printable form.
public typealias ZoneID = Identifier<IdentifierSubject.Zones>
/// One run of a device's numbering of transactions. A client that finds its server restored starts a new one.
public typealias ClientID = Identifier<IdentifierSubject.Clients>
/// A device, for as long as it keeps its data. Part of each stamp.
public typealias DeviceID = Identifier<IdentifierSubject.Devices>
/// A record, unique in its zone whatever the record's type.
public typealias RecordID = Identifier<IdentifierSubject.Records>
/// One life of a record, from an insert to its deletion. Opaque: it has no order and is never a time.
public typealias Incarnation = Identifier<IdentifierSubject.Incarnations>
/// A blob by its SHA-256, in 64 lowercase hexadecimal digits.
public typealias BlobID = Identifier<IdentifierSubject.Blobs>
/// The values of a unique constraint, as one name. See ``Schema/tokens(of:)``.
public typealias UniqueToken = Identifier<IdentifierSubject.UniqueTokens>

extension String {
  /// Whether the string can name a type or a field: 1 to 200 bytes of UTF-8, without control characters.
  var isWireName: Bool {
    !utf8.isEmpty && utf8.count <= 200 && utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
  }
}
