import SteadSQLite

/// The columns of an entity, or of several in one table, whose values the history preserves when a row is deleted.
struct PreservedColumns {
  let properties: [PropertyLayout]

  init(_ properties: [PropertyLayout]) {
    self.properties = properties.filter { $0.isPreserved && $0.column != nil }
  }

  var isEmpty: Bool { properties.isEmpty }

  var set: PropertySet { PropertySet(properties.map(\.index)) }

  /// SQL for a JSON array of the values as SQL literals.
  ///
  /// - Parameter row: What the columns' names are prefixed with.
  func list(of row: String = "") -> String {
    HistoryFormat.valueList(properties.map { row + ($0.column ?? "").sqlName })
  }
}
