import Foundation
import SteadFiles
import SteadRecords
import SteadSQLite

/// A row of a store of records, with its values by the names of the attributes.
///
/// The element of moves between stores that need no model objects (`.store(_:)`), and of an import
/// from Core Data. An app sees one only in the conversion of such a move, and passes it on or
/// throws.
///
/// Values are in the encodings of this package's stores (Documentation/RecordStore.md), whatever
/// those of the source are: dates are seconds since 2001, UUIDs are 16 bytes.
public struct StoredRow: Sendable, Hashable {
  /// The primary key of a row in its store. The classes of a hierarchy share a table, so they share
  /// their numbers.
  package struct Key: Sendable, Hashable {
    /// The entity at the root of the row's hierarchy.
    package var root: String
    /// The row's number in the table of its hierarchy.
    package var number: Int64

    package init(root: String, number: Int64) {
      self.root = root
      self.number = number
    }
  }

  /// The row's key in its source.
  package var key: Key
  /// The name of the row's own entity.
  public package(set) var entity: String
  /// The values by the names of the attributes.
  package var attributes: [String: SQLValue]
  /// The rows that each relationship leads to, in its order if it has one.
  package var relationships: [String: [Key]]
  /// For a to-one relationship that several to-many relationships have as their inverse: the name
  /// of the one that has the row.
  package var lists: [String: String] = [:]

  package init(
    key: Key, entity: String, attributes: [String: SQLValue], relationships: [String: [Key]]
  ) {
    self.key = key
    self.entity = entity
    self.attributes = attributes
    self.relationships = relationships
  }

  /// The names of the attributes that the row has values of, NULL included.
  public var attributeNames: Set<String> { Set(attributes.keys) }
  /// The names of the relationships that the row has destinations of, empty ones included.
  public var relationshipNames: Set<String> { Set(relationships.keys) }
}

extension StoredRow.Key: CustomStringConvertible {
  /// `Draft/12`.
  package var description: String { "\(root)/\(number)" }

  /// Parses a ``description``.
  package init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    // Omitting empty parts would accept `Draft//12`.
    guard parts.count == 2, !parts[0].isEmpty, let number = Int64(parts[1]) else { return nil }
    self.init(root: String(parts[0]), number: number)
  }

  /// The identity of this row as an item of a transfer: the key, and a digest of the row's
  /// contents.
  ///
  /// An edited row is another item. ``StoreDestination`` finds the row that an earlier run moved by
  /// the key in it.
  package func identity(digest: String) -> String { "\(self):\(digest)" }

  /// The key in an identity that ``identity(digest:)`` made.
  package init?(identity: String) {
    // The last colon: a digest has none.
    guard let end = identity.lastIndex(of: ":") else { return nil }
    self.init(identity[..<end])
  }
}

// MARK: - Transfers of rows

extension Transfer where Value == StoredRow, Element == StoredRow {
  /// A transfer of rows as they are: `Transfer("library", from: .store(old), to: .store(new))`.
  public init(
    _ id: String, from source: TransferSource<StoredRow>,
    to destination: TransferDestination<StoredRow>, options: TransferOptions = TransferOptions()
  ) {
    self.init(id, from: source, to: destination, options: options) { $0 }
  }
}

// MARK: - References

/// The rows that a placement names: `Draft/12`, or `Draft/12+Tag/3` if objects that the first one
/// leads to were written with it.
struct RowReferences {
  typealias Reference = (entity: String, number: Int64)

  /// The rows, that of the element itself first.
  let references: [Reference]

  /// References to some rows, at least one.
  init(_ references: [Reference]) { self.references = references }

  /// Parses a ``text``; nil for any string that it would not reproduce.
  init?(_ text: String) {
    references = text.split(separator: "+").compactMap { part in
      StoredRow.Key(part).map { ($0.root, $0.number) }
    }
    // Only the exact form: a placement is compared as a string elsewhere.
    guard !references.isEmpty, self.text == text else { return nil }
  }

  /// The references as a receipt has them.
  var text: String { references.map { "\($0.entity)/\($0.number)" }.joined(separator: "+") }

  /// The digest of what the rows have now; nil if one is gone.
  ///
  /// - Parameter checksFiles: Whether a row counts as gone if one of its external files is missing
  ///   or damaged. Off within the transaction that writes the files, which has just written them.
  func digest(in rows: RowTransaction, checksFiles: Bool) throws -> String? {
    var digests: [String] = []
    for reference in references {
      guard let shape = rows.rows.shapes[reference.entity],
        let content = try rows.content(of: shape, reference.number)
      else { return nil }
      if checksFiles, !content.hasReadableFiles(rows) { return nil }
      digests.append(content.digest)
    }
    return Self.joined(digests)
  }

  /// The digest of several rows; that of a single row is its own.
  static func joined(_ digests: [String]) -> String {
    if digests.count == 1 { return digests[0] }
    var digest = RowDigest()
    for text in digests { digest.add(text: text) }
    return digest.text
  }
}

extension RowContent {
  /// The digest of the row's columns and pairs, in the order of the schema.
  var digest: String {
    var digest = RowDigest()
    for (column, value) in zip(shape.columns, values) { digest.add(column, value) }
    // Empty relationships add nothing, so that a model that gains one doesn't change all digests.
    for (relationship, pairs) in zip(shape.ownedPairs, pairs) where !pairs.isEmpty {
      digest.add(relationship.name, .integer(Int64(pairs.count)))
      for pair in pairs {
        digest.add(.integer(pair.target))
        digest.add(pair.ownerOrder.map { .integer($0) } ?? .null)
        digest.add(pair.targetOrder.map { .integer($0) } ?? .null)
      }
    }
    return digest.text
  }

  /// Whether all external files of the row can be read. The column has only a file's name, so a
  /// missing file wouldn't change the digest.
  fileprivate func hasReadableFiles(_ rows: RowTransaction) -> Bool {
    zip(shape.columns, values).allSatisfy { column, value in
      guard shape.attributes.contains(where: { $0.isExternal && $0.name == column }) else {
        return true
      }
      return (try? rows.bytes(ofExternal: value)) != nil
    }
  }
}

// MARK: - Digests

/// Collects the contents of a row for a digest that is the same wherever the row is read.
///
/// Each name and value is preceded by its kind and its length, so that no two contents have the
/// same bytes.
struct RowDigest {
  private var bytes: [UInt8] = []

  init() { bytes.reserveCapacity(256) }

  /// Adds a name and its value.
  mutating func add(_ name: String, _ value: SQLValue) {
    add(text: name)
    add(value)
  }

  /// Adds a string.
  mutating func add(text: String) {
    var text = text
    text.withUTF8 { add(3, $0) }
  }

  /// Adds a value with its kind, so that 1 and `1` differ.
  mutating func add(_ value: SQLValue) {
    switch value {
    case .null: bytes.append(0)
    case .integer(let number): add(1, number: UInt64(bitPattern: number))
    // SQLite stores the negative zero as zero, so both must have one digest.
    case .real(let number): add(2, number: (number == 0 ? 0 : number).bitPattern)
    case .text(let text): add(text: text)
    case .blob(let data): data.withUnsafeBytes { add(4, $0.bindMemory(to: UInt8.self)) }
    }
  }

  private mutating func add(_ kind: UInt8, number: UInt64) {
    bytes.append(kind)
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  private mutating func add(_ kind: UInt8, _ content: UnsafeBufferPointer<UInt8>) {
    add(kind, number: UInt64(content.count))
    bytes.append(contentsOf: content)
  }

  /// The digest of everything that was added.
  var text: String { ItemDigest.text(of: Data(bytes)) }
}
