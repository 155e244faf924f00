/// Where a to-many relationship is stored.
enum ToManyStorage: Sendable {
  /// In the column of the destination's to-one property with this index. Where that property has a
  /// `listColumn`, this column holds the `list` of the relationship.
  case inverse(toOneProperty: Int)
  /// In a table of pairs.
  case join(table: String, owner: String, target: String)
}
