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
    let terms = properties.map { property in
      // Not json_array, which a connection that trusts no schema refuses in a trigger.
      var term = "quote(\(row)\((property.column ?? "").sqlName))"
      for (text, escape) in Self.escapes { term = "replace(\(term), \(text), '\(escape)')" }
      return "'\"' || \(term) || '\"'"
    }
    return "'[' || \(terms.joined(separator: " || ',' || ")) || ']'"
  }

  private static let escapes = [
    ("'\\'", "\\\\"), ("'\"'", "\\\""), ("char(10)", "\\n"), ("char(13)", "\\r"),
    ("char(9)", "\\t"),
  ]
}
