import SteadSQLite

/// The table of one class hierarchy: its columns, in the order of the statements.
struct TableLayout {
  /// A column by its name, unquoted, with what follows the name in CREATE TABLE.
  struct Column {
    let name: String
    let declaration: String
  }

  /// The table's name, unquoted.
  let name: String
  /// Whether classes share the table, whose rows then have their class in `_entity`.
  let isHierarchy: Bool
  /// The columns that hold values, after `_id` and, in a hierarchy, `_entity`. The column of a to-one property is
  /// followed by the one that records which of several lists has the row.
  let columns: [Column]
  /// Columns that SQLite computes from JSON, so that plain SQL reaches the fields of structs.
  let generated: [Column]
  /// Columns with a row's position in a to-many relationship that is stored in a foreign key.
  let orders: [Column]
  /// The index of each column in `columns`.
  let position: [String: Int]

  /// Lays out the columns of all classes of a hierarchy. A property that classes share, inherited or of the same name
  /// in siblings, has one column.
  init(root: EntityLayout, layout: StoreLayout) {
    name = root.table
    isHierarchy = root.discriminator != nil
    var columns: [Column] = []
    var generated: [Column] = []
    var orders: [Column] = []
    var position: [String: Int] = [:]
    let family = layout.entities.filter { $0.rootIndex == root.index }
    // A superclass may lack an inverse that its subclass has.
    let ordered = Set(
      family.flatMap(\.properties).filter { $0.needsOrder(in: layout.entities) }.map(\.name))
    for entity in family {
      for property in entity.properties {
        // Once for all classes that share the column.
        guard let column = property.column, position[column] == nil else { continue }
        position[column] = columns.count
        columns.append(
          Column(name: column, declaration: Self.declaration(of: property, layout: layout)))
        generated += Self.fields(of: property)
        // Apart from `columns`: no property reads a position.
        if ordered.contains(column) {
          orders.append(Column(name: HiddenColumn.order(of: column), declaration: "INTEGER"))
        }
        if let name = property.listColumn {
          position[name] = columns.count
          columns.append(Column(name: name, declaration: "INTEGER"))
        }
      }
    }
    self.columns = columns
    // A property may have the name that a field's column would get, in any case. Its own column wins, and of two fields
    // the first; predicates then read none of them.
    var taken = Set((columns + orders).map { $0.name.lowercased() })
    self.generated = generated.filter {
      !HiddenColumn.isReserved($0.name) && taken.insert($0.name.lowercased()).inserted
    }
    self.orders = orders
    self.position = position
  }

  /// What follows a column's name: its type, and of a to-one relationship the table that it leads
  /// to. SQLite does not enforce the reference.
  private static func declaration(of property: PropertyLayout, layout: StoreLayout) -> String {
    switch property.kind {
    case .attribute(let encoding): type(of: encoding)
    case .toOne(let destination):
      "INTEGER REFERENCES \(layout.entities[destination].table.sqlName)"
    case .toMany: ""
    }
  }

  /// The declared type of a column, by the rules of type affinity (sqlite.org/datatype3.html).
  static func type(of encoding: ColumnEncoding) -> String {
    switch encoding {
    case .boolean, .integer: "INTEGER"
    // BLOB in the name stops the conversion that a REAL column makes, which loses the sign of -0.0.
    case .real: "REAL BLOB"
    case .date: "REAL"
    case .decimal, .text, .url, .json, .composite: "TEXT"
    // BLOB means no conversion: numbers stay numbers and text stays text.
    case .unsigned64, .uuid, .data, .external, .opaque: "BLOB"
    }
  }

  /// The generated columns of a struct's fields, for those that have a plain SQL type.
  private static func fields(of property: PropertyLayout) -> [Column] {
    guard case .attribute(.composite) = property.kind, let column = property.column else {
      return []
    }
    return CompositeFields.of(PropertyShape(property.valueType).wrapped).compactMap { field in
      guard let type = fieldType(PropertyShape(field.type)) else { return nil }
      // The key is in quotation marks, so that no character in it has a meaning in the path.
      let path = "$.\"\(field.name)\"".replacing("'", with: "''")
      return Column(
        name: "\(column)_\(field.name)",
        declaration: "\(type) GENERATED ALWAYS AS (json_extract(\(column.sqlName), '\(path)'))")
    }
  }

  /// The declared type of a field in JSON; nil if plain SQL could not read the field as a value of
  /// its type.
  private static func fieldType(_ shape: PropertyShape) -> String? {
    guard shape.model == nil else { return nil }
    switch shape.encoding {
    case .boolean, .integer: return "INTEGER"
    case .real, .date: return "REAL"
    // JSON has a UUID as text.
    case .text, .url, .uuid: return "TEXT"
    default: return nil
    }
  }

  /// The statement that makes the table.
  ///
  /// ```sql
  /// CREATE TABLE "Stop" ("_id" INTEGER PRIMARY KEY, "name" TEXT,
  ///   "trip" INTEGER REFERENCES "Trip", "_trip_order" INTEGER)
  /// ```
  var creation: String {
    var parts = ["\"_id\" INTEGER PRIMARY KEY"]
    if isHierarchy { parts.append("\"_entity\" INTEGER NOT NULL") }
    parts += (columns + orders + generated).map { "\($0.name.sqlName) \($0.declaration)" }
    return "CREATE TABLE \(name.sqlName) (\(parts.joined(separator: ", ")))"
  }
}

// MARK: - Columns of list numbers

/// The column or parameter of a list number: of several to-many relationships that share a to-one property, the one that
/// has the object.
///
/// No property of the class has that column, so slots neither read nor bind it.
struct ListColumn {
  /// The to-one property that several lists share.
  let property: PropertyLayout
  /// The index of the result column or the parameter.
  let index: Int32
}

extension [ListColumn] {
  /// Sets an object's list numbers to those of the current row.
  ///
  /// - Parameter changes: The properties that keep what the object has.
  func read(
    into model: any PersistentModel, from statement: SQLiteStatement,
    excluding changes: PropertySet = PropertySet()
  ) {
    for list in self where !changes.contains(list.property.index) {
      let number = Int(statement.integer(list.index))
      model.setList(
        number == list.property.firstList ? nil : number, at: list.property.index)
    }
  }

  /// Binds an object's list numbers.
  func bind(of model: any PersistentModel, to statement: SQLiteStatement) {
    for list in self { statement.bind(value(of: model, list.property), at: list.index) }
  }

  /// The number to bind: NULL without a reference, and for the first list.
  private func value(of model: any PersistentModel, _ property: PropertyLayout) -> SQLValue {
    // Without a reference the number means nothing.
    if case .toOne(.none) = model.content(at: property.index) { return .null }
    let number = model.list(at: property.index) ?? property.firstList
    // NULL, as in rows from before there was a second list.
    return number == 0 ? .null : .integer(Int64(number))
  }
}
