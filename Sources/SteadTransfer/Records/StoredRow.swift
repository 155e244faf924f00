import Foundation
import SteadFiles
import SteadRecords
import SteadSQLite

/// A row of some store of records, with its values by the names of the attributes.
///
/// Values are in the encodings of a store of this package (Documentation/RecordStore.md), whatever the
/// source's own are: dates in seconds since 2001, identifiers as 16 bytes.
public struct StoredRow: Sendable, Hashable {
  /// A row's identity in its store. Classes of one hierarchy share their numbers.
  package struct Key: Sendable, Hashable {
    /// The entity at the root of the row's hierarchy.
    package var root: String
    package var number: Int64

    package init(root: String, number: Int64) {
      self.root = root
      self.number = number
    }
  }

  package var key: Key
  /// The row's own entity.
  public package(set) var entity: String
  package var attributes: [String: SQLValue]
  /// The rows that each relationship refers to, in order if it has one.
  package var relationships: [String: [Key]]
  /// Which of several relationships of its destination leads back, for each to-one relationship that
  /// these share as their inverse.
  package var lists: [String: String] = [:]

  package init(
    key: Key, entity: String, attributes: [String: SQLValue], relationships: [String: [Key]]
  ) {
    self.key = key
    self.entity = entity
    self.attributes = attributes
    self.relationships = relationships
  }

  /// The names of the attributes that the row has values of.
  public var attributeNames: Set<String> { Set(attributes.keys) }
  /// The names of the relationships that the row tells of.
  public var relationshipNames: Set<String> { Set(relationships.keys) }
}

extension StoredRow.Key: CustomStringConvertible {
  /// `Draft/12`.
  package var description: String { "\(root)/\(number)" }

  /// Parses a ``description``.
  package init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, let number = Int64(parts[1]) else { return nil }
    self.init(root: String(parts[0]), number: number)
  }

  /// The identity of this row as a transfer's item: the key, and a digest of the row's contents.
  ///
  /// ``StoreDestination`` finds the row that an earlier run moved by the key in it.
  package func identity(digest: String) -> String { "\(self):\(digest)" }

  /// The key in an identity that ``identity(digest:)`` made.
  package init?(identity: String) {
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

/// The rows that a placement names, `Draft/12`, or `Draft/12+Tag/3` where others came along.
struct RowReferences {
  typealias Reference = (entity: String, number: Int64)

  let references: [Reference]

  init(_ references: [Reference]) { self.references = references }

  init?(_ text: String) {
    references = text.split(separator: "+").compactMap { part in
      StoredRow.Key(part).map { ($0.root, $0.number) }
    }
    guard !references.isEmpty, self.text == text else { return nil }
  }

  var text: String { references.map { "\($0.entity)/\($0.number)" }.joined(separator: "+") }

  /// What the rows hold now; nil when one is gone.
  ///
  /// - Parameter checksFiles: Whether a row whose external file is gone or damaged counts as gone.
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

  static func joined(_ digests: [String]) -> String {
    if digests.count == 1 { return digests[0] }
    var digest = RowDigest()
    for text in digests { digest.add(text: text) }
    return digest.text
  }
}

extension RowContent {
  /// The digest of the row's columns and pairs.
  var digest: String {
    var digest = RowDigest()
    for (column, value) in zip(shape.columns, values) { digest.add(column, value) }
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

/// Collects what a row holds, for a digest that is the same wherever the row is read.
///
/// Each name and value has its kind and its length in front, so that no two contents give the same
/// bytes.
struct RowDigest {
  private var bytes: [UInt8] = []

  init() { bytes.reserveCapacity(256) }

  mutating func add(_ name: String, _ value: SQLValue) {
    add(text: name)
    add(value)
  }

  mutating func add(text: String) {
    var text = text
    text.withUTF8 { add(3, $0) }
  }

  mutating func add(_ value: SQLValue) {
    switch value {
    case .null: bytes.append(0)
    case .integer(let number): add(1, number: UInt64(bitPattern: number))
    // SQLite keeps the negative zero as zero.
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

  /// The digest of all that was added.
  var text: String { ItemDigest.text(of: Data(bytes)) }
}
