package import SteadRecords

/// A row of some store of records, with its values by the names of the attributes.
///
/// Values are in the encodings of a store of this package (Documentation/RecordStore.md), whatever the
/// source's own are: dates in seconds since 2001, identifiers as 16 bytes.
package struct StoredRow: Sendable, Hashable {
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
  package var entity: String
  package var attributes: [String: SQLValue]
  /// The rows that each relationship leads to, in their order where it has one.
  package var relationships: [String: [Key]]

  package init(
    key: Key, entity: String, attributes: [String: SQLValue], relationships: [String: [Key]]
  ) {
    self.key = key
    self.entity = entity
    self.attributes = attributes
    self.relationships = relationships
  }
}
