import SteadSQLite

/// What one row consists of.
package struct RowContent: Sendable {
  package let shape: RowShape
  package let number: Int64
  /// What the columns of the shape hold.
  package let values: [SQLValue]
  /// The row's pairs, for each of the shape's ``RowShape/ownedPairs``.
  package let pairs: [[RowPair]]

  package init(_ shape: RowShape, _ number: Int64, values: [SQLValue], pairs: [[RowPair]]) {
    self.shape = shape
    self.number = number
    self.values = values
    self.pairs = pairs
  }
}
