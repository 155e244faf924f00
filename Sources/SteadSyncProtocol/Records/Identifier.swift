/// An opaque name: 1 to 200 characters of printable ASCII, without spaces, quotation marks and backslashes.
///
/// So it needs no escapes in JSON, and its order by bytes is the same in every language and database. Names with other
/// characters, such as a key of a key-value store, are percent-encoded by their owner.
///
/// `Subject` is a phantom type: it only keeps identifiers of different things apart, see ``ZoneID`` and those below it.
///
/// "Identifiers" under "JSON" in Documentation/SyncProtocol.md.
package struct Identifier<Subject>: Hashable, Comparable, Sendable {
  /// The maximum number of characters.
  package static var lengthLimit: Int { 200 }

  /// The characters.
  package let text: String

  /// Makes an identifier, or nil if the string isn't one.
  package init?(_ text: String) {
    guard Self.accepts(text) else { return nil }
    self.text = text
  }

  /// Makes an identifier from a string without checking it: one that this module has made.
  init(trusted text: String) { self.text = text }

  /// Whether a string is an identifier. Costs time in proportion to its length.
  package static func accepts(_ text: String) -> Bool {
    let bytes = text.utf8
    guard !bytes.isEmpty, bytes.count <= lengthLimit else { return false }
    // Above space, below DEL, and neither the quotation mark (0x22) nor the backslash (0x5C), which
    // JSON escapes.
    return bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }
  }

  // Inlinable, so that dictionaries by identifier that other modules specialize don't call into this one.
  @inlinable package static func == (one: Self, other: Self) -> Bool { one.text == other.text }
  @inlinable package func hash(into hasher: inout Hasher) { hasher.combine(text) }

  /// Compares by bytes.
  @inlinable package static func < (one: Self, other: Self) -> Bool { one.text < other.text }
}

extension Identifier: CustomStringConvertible {
  package var description: String { text }
}

extension Identifier: ExpressibleByStringLiteral {
  /// Makes an identifier from a literal; one that isn't an identifier is a programmer's error and traps.
  package init(stringLiteral text: String) {
    precondition(Self.accepts(text), "An identifier has 1 to 200 printable ASCII characters.")
    self.text = text
  }
}

/// The phantom types of identifiers.
package enum IdentifierSubject {
  package enum Zones {}
  package enum Clients {}
  package enum Devices {}
  package enum Records {}
  package enum Incarnations {}
  package enum Blobs {}
  package enum UniqueTokens {}
}

/// A zone: 128 random bits, in any printable form.
package typealias ZoneID = Identifier<IdentifierSubject.Zones>
/// One numbering of a device's transactions. A device that finds its server restored starts another one.
package typealias ClientID = Identifier<IdentifierSubject.Clients>
/// A device, for as long as it keeps its data. Part of each stamp.
package typealias DeviceID = Identifier<IdentifierSubject.Devices>
/// A record, unique in its zone whatever the record's type.
package typealias RecordID = Identifier<IdentifierSubject.Records>
/// One life of a record, from an insert to its deletion. Opaque: it has no order and is never a time.
package typealias Incarnation = Identifier<IdentifierSubject.Incarnations>
/// A blob by its SHA-256, in 64 lowercase hexadecimal digits.
package typealias BlobID = Identifier<IdentifierSubject.Blobs>
/// The unique key of a record: type, constraint and values as one name. See ``Schema/tokens(of:)``.
package typealias UniqueToken = Identifier<IdentifierSubject.UniqueTokens>

extension [UInt8] {
  /// Appends a byte as a percent sign and two uppercase hexadecimal digits, for characters that an identifier may not
  /// have.
  mutating func appendPercentEncoded(_ byte: UInt8) {
    let digits = Array("0123456789ABCDEF".utf8)
    self += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
  }
}

extension String {
  /// Whether the string can name a type or a field: 1 to 200 bytes of UTF-8, without control characters.
  var isWireName: Bool {
    !utf8.isEmpty && utf8.count <= 200 && utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
  }
}

// MARK: - Coding

extension MemberReader {
  /// An identifier, which JSON has as a string.
  func identifier<Subject>(_ name: String) throws(SyncCodingError) -> Identifier<Subject> {
    guard let id = Identifier<Subject>(try string(name)) else {
      throw problem(name, "an identifier")
    }
    return id
  }

  /// Identifiers; none where the member is absent.
  func identifiers<Subject>(_ name: String) throws(SyncCodingError) -> [Identifier<Subject>] {
    guard let value = value(name) else { return [] }
    guard let values = value.array else { throw problem(name, "an array") }
    var ids: [Identifier<Subject>] = []
    for value in values {
      guard let id = value.string.flatMap({ Identifier<Subject>($0) }) else {
        throw problem(name, "a list of identifiers")
      }
      ids.append(id)
    }
    return ids
  }
}

extension SyncValue {
  /// Identifiers as strings; nil for none.
  static func identifiers<Subject>(_ ids: [Identifier<Subject>]) -> SyncValue? {
    ids.isEmpty ? nil : .array(ids.map { .string($0.text) })
  }

  /// An identifier as a string.
  static func identifier<Subject>(_ id: Identifier<Subject>?) -> SyncValue? {
    id.map { .string($0.text) }
  }
}
