/// Where the pairs of a relationship are stored, by the names of tables and columns.
enum LinkStorage: Hashable {
  /// In a column of the owners' table.
  case column(table: String, column: String)
  /// In a column of the destinations' table; several relationships may share it, distinguished by their number.
  case inverse(table: String, column: String, list: Int?)
  /// In a table of pairs, whose owner column holds this relationship's owners or its targets.
  case pairs(table: String, isOwner: Bool)

  /// The table, and the column if there is one.
  var column: [String] {
    switch self {
    case .column(let table, let column), .inverse(let table, let column, _): [table, column]
    case .pairs(let table, _): [table]
    }
  }

  /// The parts that both sides of a relationship share.
  var place: String {
    switch self {
    case .column(let table, let column): "\(table).\(column)"
    case .inverse(let table, let column, let list): "\(table).\(column)#\(list ?? 0)"
    case .pairs(let table, _): table
    }
  }
}
