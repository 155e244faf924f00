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
