/// The names, unquoted, of the columns next to a foreign key that belong to no property.
enum HiddenColumn {
  /// The column with the order of a to-many relationship over this foreign key.
  static func order(of foreignKey: String) -> String { "_\(foreignKey)_order" }

  /// The column with the number of the to-many relationship, of several over this foreign key.
  static func list(of foreignKey: String) -> String { "_\(foreignKey)_list" }

  /// The new names of a property's columns when the property gets another name.
  static func renamings(from old: String, to new: String) -> [(old: String, new: String)] {
    [(old, new), (order(of: old), order(of: new)), (list(of: old), list(of: new))]
  }
}
