import Foundation
import SteadSQLite

extension PredicateTranslation {
  /// The term of a property of an object, by its key path.
  ///
  /// Looks the key path up among those that the schema lists. Any other is either the identifier, or is traced: see
  /// ``TracedPath``.
  func property(_ keyPath: AnyKeyPath, of row: RowTerm) throws -> Term {
    guard let index = row.entity.propertyByKeyPath[keyPath] else {
      if Self.isIdentifier(keyPath, of: row.entity.type) { return .row(row) }
      return try traced(keyPath, of: row)
    }
    // A custom stage of a migration must have read what it drops; a predicate on a property counts as a read.
    row.entity.reads?.record(index)
    return try property(row.entity.properties[index], of: row)
  }

  /// The term of a key path that leads through relationships, or that generic code has made.
  private func traced(_ keyPath: AnyKeyPath, of row: RowTerm) throws -> Term {
    guard let path = TracedPath.find(keyPath, from: row.entity, in: layout) else {
      throw NotTranslatable("\(keyPath) isn't a stored property of \(row.entity.name)")
    }
    var term = Term.row(row)
    for index in path {
      guard case .row(let owner) = term else { break }
      // Each property on the way counts as read, as in `property(_:of:)`.
      owner.entity.reads?.record(index)
      term = try property(owner.entity.properties[index], of: owner)
    }
    return term
  }

  /// Whether a key path is `persistentModelID` or `id` of a model.
  private static func isIdentifier(_ keyPath: AnyKeyPath, of type: any PersistentModel.Type) -> Bool
  {
    func identifiers<M: PersistentModel>(_ type: M.Type) -> [AnyKeyPath] {
      [\M.persistentModelID, \M.id]
    }
    // The cast is cheap, while making the two key paths to compare with is not.
    guard keyPath is any IdentifierKeyPath else { return false }
    return identifiers(type).contains(keyPath)
  }

  /// The term of a property by its kind.
  private func property(_ property: PropertyLayout, of row: RowTerm) throws -> Term {
    switch property.kind {
    case .attribute(let encoding):
      return try attribute(property, encoding, of: row)
    case .toOne(let destination):
      let column = column(property.column ?? property.name, of: row)
      return .row(
        RowTerm(
          entity: layout.entities[destination], id: column,
          nullability: property.isOptional ? .optional : .undefined, strict: row.strict,
          isColumn: row.alias != nil && row.condition == nil, isReference: true,
          premise: row.premise))
    case .toMany(let storage, let destination):
      return .rows(
        rows(storage, property.relationship?.list, of: entity(destination), owner: row))
    }
  }

  /// The term of an attribute, read as its column's encoding.
  ///
  /// - Throws: ``NotTranslatable`` for encodings that SQL cannot look into: external storage, and opaque data.
  private func attribute(
    _ property: PropertyLayout, _ encoding: ColumnEncoding, of row: RowTerm
  ) throws -> Term {
    let column = column(property.column ?? property.name, of: row)
    let nullability: Nullability =
      property.isOptional ? .optional : row.nullability == .never ? .never : .undefined
    switch encoding {
    case .boolean, .integer, .unsigned64, .real, .date, .decimal, .text, .uuid, .url, .data:
      return .scalar(
        Scalar(
          sql: column, encoding: encoding, nullability: nullability, strict: row.strict,
          isColumn: row.alias != nil && row.condition == nil,
          lookup: lookup(property.column ?? property.name, of: row)))
    // Generated columns are read under the row's alias, and not of a row that may be absent.
    case .composite:
      return .composite(
        CompositeTerm(
          json: column, type: PropertyShape(property.valueType).wrapped,
          columnPrefix: row.condition == nil && hasOwnFieldColumns(property, of: row.entity)
            ? row.alias.map { ($0, property.column ?? property.name) } : nil,
          nullability: nullability, strict: row.strict))
    case .json:
      return try list(property.valueType, json: column, nullability, strict: row.strict)
    case .external, .opaque:
      throw NotTranslatable("\(row.entity.name).\(property.name) is stored in a special form")
    }
  }

  /// How equality with the column can be asked the other way round, if the row is reached over a foreign key of the
  /// query's own row.
  private func lookup(_ column: String, of row: RowTerm) -> Scalar.Lookup? {
    // Only one step: the key has to be a column of a row that is in the FROM clause.
    guard row.alias == nil, row.isColumn, row.condition == nil else { return nil }
    return Scalar.Lookup(
      key: row.id, table: SQLName(row.entity.table), column: SQLName("r", column))
  }

  /// The SQL of a column of an object's row: the column itself where the row has an alias, else a scalar subquery by
  /// primary key.
  ///
  /// ```sql
  /// t0."name"
  /// (SELECT r."name" FROM "Trip" AS r WHERE r."_id" = t0."trip")
  /// ```
  func column(_ name: String, of row: RowTerm) -> SQLFragment {
    // The row's table is not in the FROM clause. SQLite answers a subquery by primary key with one look-up.
    guard let alias = row.alias else {
      related.insert(row.entity.index)
      let value: SQLFragment =
        "(SELECT r.\(SQLName(name)) FROM \(SQLName(row.entity.table)) AS r "
        + "WHERE r.\"_id\" = \(row.id))"
      return row.condition.map { "CASE WHEN \($0) THEN \(value) END" } ?? value
    }
    let column = SQLFragment(sql: SQLName(alias, name).sql)
    return row.condition.map { "CASE WHEN \($0) THEN \(column) END" } ?? column
  }

  /// The rows of a to-many relationship.
  ///
  /// What follows FROM and WHERE, of a list in its inverse's column and of one in a table of pairs:
  ///
  /// ```sql
  /// "Stop" AS t1 WHERE t1."trip" = t0."_id"
  /// "Tag_trips" AS t2 JOIN "Tag" AS t1 ON t1."_id" = t2."owner" WHERE t2."target" = t0."_id"
  /// ```
  ///
  /// - Parameter list: The relationship's number among those that share one inverse; nil if it has the inverse to
  ///   itself.
  private func rows(
    _ storage: ToManyStorage, _ list: Int?, of entity: EntityLayout, owner: RowTerm
  ) -> RowsTerm {
    let alias = newAlias()
    let table: SQLFragment = "\(SQLName(entity.table)) AS \(SQLName(alias: alias))"
    let ownerID: SQLFragment =
      owner.condition.map { "CASE WHEN \($0) THEN \(owner.id) END" } ?? owner.id
    let reference = ObjectReference(
      number: ownerID, entity: owner.entity, mayBeGone: owner.isReference)
    // A test of the owner costs a look-up for each row, so it is left out where the owner always
    // exists.
    let presence: SQLFragment? =
      owner.nullability.mayBeNull || owner.condition != nil
      ? "NOT \(absence(of: reference))" : nil
    // Sibling classes may share the column, or inherit the table of pairs.
    let own = SQLFragment(sql: entity.ownRows(alias))
    switch storage {
    case .inverse(let index):
      let key = entity.properties[index].column ?? entity.properties[index].name
      return RowsTerm(
        entity: entity, alias: alias, source: table,
        condition: "\(SQLName(alias, key)) = \(ownerID)"
          + isIn(list, entity.properties[index], alias) + own,
        order: Self.sortTerms(SQLName(alias, HiddenColumn.order(of: key)), in: alias),
        presence: presence)
    case .join(let name, let owner, let target):
      // A pair's table joined to the members' table: the order of a many-to-many relationship is a column of the
      // pair.
      let join = newAlias()
      return RowsTerm(
        entity: entity, alias: alias,
        source: "\(SQLName(name)) AS \(SQLName(alias: join)) JOIN \(table) "
          + "ON \(SQLName(alias, "_id")) = \(SQLName(join, target))",
        condition: "\(SQLName(join, owner)) = \(ownerID)" + own,
        order: Self.sortTerms(SQLName(join, "\(owner)_order"), in: join), presence: presence)
    }
  }

  /// The ORDER BY terms of a relationship's order. The order column is NULL until a member is moved: a member's
  /// position is then the number of its row, or of its pair.
  private static func sortTerms(_ order: SQLName, in alias: String) -> SQLFragment {
    "ifnull(\(order), \(SQLName(alias, "_id"))), \(SQLName(alias, "_id"))"
  }

  /// Restricts the members to one of several relationships that share a to-one relationship as their inverse; empty
  /// if there is one alone.
  private func isIn(_ list: Int?, _ toOne: PropertyLayout, _ alias: String) -> SQLFragment {
    guard let list, let column = toOne.listColumn else { return "" }
    return " AND ifnull(\(SQLName(alias, column)), 0) = \(form: list)"
  }

  /// The term of the variable of a closure over the rows.
  func element(of rows: RowsTerm) -> Term {
    .row(
      RowTerm(
        entity: rows.entity, id: SQLFragment(sql: SQLName(rows.alias, "_id").sql),
        alias: rows.alias))
  }
}

/// A key path whose value is an identifier.
private protocol IdentifierKeyPath {}
extension KeyPath: IdentifierKeyPath where Value == PersistentIdentifier {}

// MARK: - Fields of structs

extension PredicateTranslation {
  /// The term of a stored field of a Codable struct.
  ///
  /// A key path into a struct has no name, so the field is found by its offset and type. A computed property has no
  /// offset.
  ///
  /// - Throws: ``NotTranslatable`` if the key path is no stored field, or the field's form cannot be compared in SQL.
  func field(_ keyPath: AnyKeyPath, of composite: CompositeTerm) throws -> Term {
    let fields = CompositeFields.of(composite.type)
    // The type is compared as well: the first field of a nested struct has the offset of the
    // struct.
    guard let offset = Self.offset(of: keyPath, in: composite.type),
      let field = fields.first(where: {
        $0.offset == offset && $0.type == Swift.type(of: keyPath).valueType
      })
    else { throw NotTranslatable("\(keyPath) isn't a stored field of \(composite.type)") }
    let shape = PropertyShape(field.type)
    let path = Self.path(of: field.name)
    let nullability: Nullability =
      shape.isOptional ? .optional : composite.nullability == .never ? .never : .undefined
    let value: SQLFragment = "json_extract(\(composite.json), \(path))"
    // The name that `TableLayout` gives the generated column of a field.
    let column = composite.columnPrefix.map {
      SQLFragment(sql: SQLName($0.alias, "\($0.name)_\(field.name)").sql)
    }
    let sql: SQLFragment
    switch shape.encoding {
    // The generated column, which an index may have, else the same extraction written out.
    case .boolean, .integer, .url: sql = column ?? value
    // SQLite cuts a string off at NUL, which JSON has as an escape.
    case .text:
      let json = composite.json
      sql =
        "CASE WHEN instr(\(json), '\\u0000') > 0 THEN stead_unwrapped(\(json) -> \(path)) ELSE \(column ?? value) END"
    // SQLite may parse a decimal fraction with an error in the last bit.
    case .real, .date:
      let function: SQLFragment = shape.isSinglePrecision ? "stead_single" : "stead_real"
      sql = "\(function)(\(composite.json) -> \(path))"
    case .uuid: sql = "stead_uuid(\(value))"
    case .composite:
      return .composite(
        CompositeTerm(
          json: value, type: shape.wrapped, columnPrefix: nil, nullability: nullability,
          strict: composite.strict))
    case .json: return try list(field.type, json: value, nullability, strict: composite.strict)
    default: throw NotTranslatable("\(keyPath), which is stored in a special form")
    }
    return .scalar(
      Scalar(
        sql: sql, encoding: shape.encoding, nullability: nullability, strict: composite.strict,
        isColumn: column != nil && [.boolean, .integer, .url].contains(shape.encoding)))
  }

  /// Whether no other column of the table can have the name of a struct's generated columns: the property `place_city`
  /// has that of the field `city` of `place`, and so would `a_b` with a field `c`, beside `a` with a field `b_c`.
  private func hasOwnFieldColumns(_ property: PropertyLayout, of entity: EntityLayout) -> Bool {
    let own = "\(property.column ?? property.name)_".lowercased()
    for other in layout.entities where other.rootIndex == entity.rootIndex {
      for property in other.properties {
        guard let column = property.column?.lowercased(), column + "_" != own else { continue }
        if column.hasPrefix(own) || HiddenColumn.order(of: column).hasPrefix(own) { return false }
        if case .attribute(.composite) = property.kind, own.hasPrefix(column + "_") { return false }
      }
    }
    return true
  }

  /// The JSON path of a field, as a literal of SQL.
  private static func path(of field: String) -> SQLFragment {
    SQLFragment(sql: "'$.\"\(field)\"'")
  }

  /// The offset of a stored property in values of a type; nil for anything else.
  private static func offset(of keyPath: AnyKeyPath, in type: any Any.Type) -> Int? {
    func open<T>(_ type: T.Type) -> Int? {
      (keyPath as? PartialKeyPath<T>).flatMap { MemoryLayout<T>.offset(of: $0) }
    }
    return _openExistential(type, do: open)
  }
}
