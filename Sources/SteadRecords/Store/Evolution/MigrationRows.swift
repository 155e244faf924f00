import SteadSQLite

/// The queries and updates that a migration runs on existing rows.
///
/// What is asked before the migration has the old names of tables and columns, and the old numbers
/// of classes. What runs at its end has the new ones.
struct MigrationRows {
  /// It reads the store before the migration, or has it open for writing.
  private let connection: StoreConnection
  /// Which old entity and property each new one is.
  private let match: SchemaMatch
  /// The tables and columns before and after.
  private let names: TableNames
  /// The columns of each table before the migration.
  private let existing: [String: [String: String]]
  /// The tables that the store should have.
  private let tables: [TableLayout]
  /// The conversions of properties that the match has as new.
  private let conversions: [ValueConversion.Property: ValueConversion]

  /// - Parameter conversions: The conversions of a custom stage. The checks take their results for
  ///   the values that rows will have.
  init(
    _ connection: StoreConnection, _ match: SchemaMatch, _ names: TableNames,
    _ existing: [String: [String: String]], _ tables: [TableLayout],
    converting conversions: [ValueConversion] = []
  ) {
    self.connection = connection
    self.match = match
    self.names = names
    self.existing = existing
    self.tables = tables
    self.conversions = Dictionary(conversions.map { ($0.property, $0) }) { first, _ in first }
  }

  /// An entity whose rows the store has, with their table under its former name.
  struct Table {
    /// The entity of the new schema.
    let new: Schema.Entity
    /// The entity that it was.
    let old: Schema.Entity
    /// The table's name before the migration.
    let name: String
    /// A test of the rows' class, which begins with ` AND`, or nothing.
    let only: String

    /// All entities that the store had before and has afterwards.
    ///
    /// Entities that are new have no rows to look at, and those of other stores have no table here.
    static func all(
      _ match: SchemaMatch, _ existing: [String: [String: String]], _ tables: [TableLayout]
    ) -> [Table] {
      let known = Set(tables.map(\.name))
      return match.new.entities.compactMap { entity in
        guard known.contains(entity.root.name), let old = match.oldEntities[entity.name],
          let columns = existing[old.root.name]
        else { return nil }
        // What `_entity` has: the position among all old entities, from 1.
        let index = match.old.entities.firstIndex { $0 === old }
        let only =
          columns["_entity"] == nil ? "" : index.map { " AND \"_entity\" = \($0 + 1)" } ?? ""
        return Table(new: entity, old: old, name: old.root.name, only: only)
      }
    }
  }

  /// The entities of ``Table/all(_:_:_:)``, without the tests of their class.
  private var entities: [(new: Schema.Entity, old: Schema.Entity, table: String)] {
    Table.all(match, existing, tables).map { ($0.new, $0.old, $0.name) }
  }

  // MARK: Before

  /// The rows that prevent a migration, in sentences.
  ///
  /// - Parameter givesValues: Whether a required property needs a default value for existing rows.
  func problems(givesValues: Bool = true) throws -> [String] {
    var problems: [String] = []
    for rows in Table.all(match, existing, tables) {
      let (entity, old, table) = (rows.new, rows.old, rows.name)
      for property in entity.storedProperties {
        if let problem = try problem(of: property, entity, old, table, rows.only, givesValues) {
          problems.append(problem)
        }
      }
      for set in entity.uniquenessConstraints where isNew(set, entity, old) {
        if let problem = try duplicates(set, entity, table) { problems.append(problem) }
      }
    }
    return problems
  }

  /// The values that cannot be read as they are, in sentences: for a store to which nothing is written.
  func problemsOfReading() throws -> [String] {
    var problems: [String] = []
    for rows in Table.all(match, existing, tables) {
      for case let now as Schema.Attribute in rows.new.storedProperties {
        guard let before = match.oldProperty(now.name, of: rows.new.name) as? Schema.Attribute,
          case .checked = AttributeChange(from: before, to: now)
        else { continue }
        let name = "\(rows.new.name).\(now.name)"
        let check = ValueCheck(connection, table: rows.name, only: rows.only)
        let misfits = try check.misfits(of: before.name, as: now)
        problems += misfits.map { $0.problem(of: name, now) }
        if misfits.isEmpty, let incomplete = try check.incomplete(before.name, as: now) {
          problems.append(incomplete.problemOfReading(name, now))
        }
        let column = before.name.sqlName
        if rounds(now.name, rows.new),
          let unrounded = try numbers(
            rows.name, "\(column) IS NOT \(Self.rounded(column))\(rows.only)")
        {
          problems.append(
            "\(name) is now a `Float`, and these rows have numbers with more digits: \(unrounded). They are rounded when the "
              + "store is opened for writing: open it once with allowsSave: true.")
        }
      }
    }
    return problems
  }

  /// What rows prevent of one property's migration, in a sentence; nil if nothing.
  ///
  /// Only rows are looked at that the kind of change may concern: those of a new required property, of a type whose
  /// values have to be read, of a relationship that has become required, or whose destinations go with their class.
  private func problem(
    of property: any SchemaProperty, _ entity: Schema.Entity, _ old: Schema.Entity,
    _ table: String, _ only: String, _ givesValues: Bool
  ) throws -> String? {
    let name = "\(entity.name).\(property.name)"
    let before = match.oldProperty(property.name, of: entity.name)
    switch (before, property) {
    case (nil, let new as Schema.Attribute):
      // In a custom stage the closures set the values.
      guard givesValues, !new.isOptional, new.defaultValue == nil, try hasRows(table, only) else {
        return nil
      }
      return
        "\(name) is new and required, has no default value, and its model has rows. Make it optional, or give it a default "
        + "value."
    case (nil, let new as Schema.Relationship):
      guard givesValues, new.isToOneRelationship, !new.isOptional, try hasRows(table, only) else {
        return nil
      }
      return
        "\(name) is new and required, and its model has rows. Make it optional, or set it in `didMigrate` of a migration "
        + "plan."
    case (let before as Schema.Attribute, let new as Schema.Attribute):
      guard case .checked = AttributeChange(from: before, to: new) else { return nil }
      let misfits = try ValueCheck(connection, table: table, only: only)
        .misfits(of: before.name, as: new)
      return misfits.isEmpty
        ? nil : misfits.map { $0.problem(of: name, new) }.joined(separator: " ")
    case (let before as Schema.Relationship, let new as Schema.Relationship):
      if !new.isToOneRelationship {
        return try shortages(before, new, old, table, only).map {
          "\(name) needs \(new.minimumModelCount ?? 0) or more objects, but these rows would keep fewer without those of a "
            + "class that is gone: \($0). Keep the class, add other objects in an earlier version or in `willMigrate` of "
            + "a migration plan, or give the relationship a smaller `minimumModelCount`."
        }
      }
      guard !new.isOptional, before.isToOneRelationship else { return nil }
      if givesValues, before.isOptional,
        let rows = try numbers(table, "(\(isMissing(before)))\(only)")
      {
        return
          "\(name) is now required, but these rows have none, or one that no longer exists: \(rows). Make it optional, or "
          + "set it in `didMigrate` of a migration plan."
      }
      return try strays(before, table, only).map {
        "\(name) is required, but these rows lead to objects of a class that is gone: \($0). Keep the class, lead them "
          + "elsewhere in an earlier version or in `willMigrate` of a migration plan, or make the relationship optional."
      }
    default: return nil
    }
  }

  /// A test for rows whose reference is NULL, or leads to a row that no longer exists, as after a
  /// deletion with the rule `noAction`.
  private func isMissing(_ reference: Schema.Relationship) -> String {
    let column = reference.name.sqlName
    let isEmpty = "\(column) IS NULL"
    guard let root = match.old.entitiesByName[reference.destination]?.root,
      existing[root.name] != nil
    else { return isEmpty }
    return "\(isEmpty) OR \(column) NOT IN (SELECT \"_id\" FROM \(root.name.sqlName))"
  }

  /// Some rows whose reference leads to an object that goes with its class; nil for none.
  private func strays(
    _ reference: Schema.Relationship, _ table: String, _ only: String
  ) throws -> String? {
    guard let target = removedClasses(ofTargetsOf: reference) else { return nil }
    return try numbers(
      table,
      "\(reference.name.sqlName) IN (SELECT \"_id\" FROM \(target.table.sqlName) "
        + "WHERE \"_entity\" IN (\(target.numbers)))\(only)")
  }

  /// Some rows that lose objects along with a class, and keep fewer than the new models allow, with the number that
  /// each keeps; nil for none.
  private func shortages(
    _ before: Schema.Relationship, _ new: Schema.Relationship, _ old: Schema.Entity,
    _ table: String, _ only: String
  ) throws -> String? {
    guard let minimum = new.minimumModelCount, minimum > 0,
      let target = removedClasses(ofTargetsOf: before)
    else { return nil }
    let storage = SchemaLinks(match.old).storage(of: before, in: old)
    let columns = storage.column.first.flatMap { existing[$0] }?.keys.map { $0 } ?? []
    let family = Set((match.old.entitiesByName[before.destination]?.family ?? []).map(\.name))
    let numbers = match.old.entities.indices.filter { family.contains(match.old.entities[$0].name) }
    let links = LinkQuery(
      storage, columns: Set(columns), owners: nil,
      targets: LinkQuery.Rows(table: target.table, classes: numbers.map { $0 + 1 })
    ).sql
    // How many targets stay.
    let kept = "count(*) - sum(t.\"_entity\" IN (\(target.numbers)))"
    let rows = try connection.rows(
      "SELECT l.owner, \(kept) FROM (\(links)) AS l JOIN \(target.table.sqlName) AS t "
        + "ON t.\"_id\" = l.target WHERE l.owner IN (SELECT \"_id\" FROM \(table.sqlName) WHERE 1\(only)) "
        // Only owners that lose some: what was too few before is no effect of the migration.
        + "GROUP BY l.owner HAVING \(kept) < \(minimum) AND \(kept) < count(*) "
        + "ORDER BY l.owner LIMIT \(SchemaMigrator.namedRowLimit)")
    let named = rows.compactMap { row -> String? in
      guard case .integer(let owner) = row[0], case .integer(let count) = row[1] else { return nil }
      return "\(owner) keeps \(count)"
    }
    return named.isEmpty ? nil : named.joined(separator: ", ")
  }

  /// The table of a relationship's destinations, and the numbers of those of its classes that are gone; nil for none.
  private func removedClasses(
    ofTargetsOf relationship: Schema.Relationship
  ) -> (table: String, numbers: String)? {
    guard let root = match.old.entitiesByName[relationship.destination]?.root,
      existing[root.name]?["_entity"] != nil
    else { return nil }
    let gone = match.old.entities.enumerated().filter { _, entity in
      entity.root === root && match.newEntities[entity.name] == nil
    }.map { "\($0.offset + 1)" }
    return gone.isEmpty ? nil : (root.name, gone.joined(separator: ", "))
  }

  /// Whether a class has any row. Costs one step, not a count.
  private func hasRows(_ table: String, _ only: String) throws -> Bool {
    try connection.integer("SELECT 1 FROM \(table.sqlName) WHERE 1\(only) LIMIT 1") != nil
  }

  /// The numbers of some of the rows that pass a test; nil when none does.
  private func numbers(_ table: String, _ test: String) throws -> String? {
    let rows = try connection.rows(
      "SELECT \"_id\" FROM \(table.sqlName) WHERE \(test) LIMIT \(SchemaMigrator.namedRowLimit)"
    ).compactMap { if case .integer(let row)? = $0.first { "\(row)" } else { nil } }
    return rows.isEmpty ? nil : rows.joined(separator: ", ")
  }

  // MARK: Unique keys

  /// Whether rows may share a unique key that the store did not have, or in which some classes have a new property.
  private func isNew(_ set: [String], _ entity: Schema.Entity, _ old: Schema.Entity) -> Bool {
    let isKnown = old.uniquenessConstraints.contains {
      $0.map { match.newProperty($0, of: old.name)?.name } == set.map { $0 }
    }
    return !isKnown || rounds(set, entity)
      || entity.root.family.contains { member in
        match.oldEntities[member.name] != nil
          && set.contains { name in
            member.storedPropertiesByName[name] != nil
              && match.oldProperty(name, of: member.name) == nil
          }
      }
  }

  /// Whether the numbers of a property were of a type with more digits: they are rounded, and may be equal afterwards.
  private func rounds(_ name: String, _ entity: Schema.Entity) -> Bool {
    guard let now = entity.storedPropertiesByName[name] as? Schema.Attribute,
      let before = match.oldProperty(name, of: entity.name) as? Schema.Attribute,
      PropertyShape(now.valueType).isSinglePrecision,
      case .checked = AttributeChange(from: before, to: now)
    else { return false }
    return true
  }

  /// Whether the numbers of one of these properties are rounded, in any class of the table.
  private func rounds(_ set: [String], _ entity: Schema.Entity) -> Bool {
    set.contains { name in entity.root.family.contains { rounds(name, $0) } }
  }

  /// Rows that share the values of a set of properties that becomes unique.
  private func duplicates(
    _ set: [String], _ entity: Schema.Entity, _ table: String
  ) throws -> String? {
    var terms: [String] = []
    for name in set {
      // A value that is nil everywhere, or another one in each row, has no duplicates.
      guard let term = try term(name, entity, table) else { return nil }
      terms.append(term)
    }
    // A constant in GROUP BY would be a column's number, so terms are columns of an inner SELECT.
    let keys = terms.indices.map { "key\($0)" }
    let groups = try connection.rows(
      "SELECT group_concat(row, ' and '), count(*) FROM (SELECT \"_id\" AS row, "
        + "\(zip(terms, keys).map { "\($0) AS \($1)" }.joined(separator: ", ")) FROM \(table.sqlName)) WHERE "
        // nil is not equal to nil, so it is no duplicate.
        + keys.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
        + " GROUP BY \(keys.joined(separator: ", ")) HAVING count(*) > 1 "
        + "ORDER BY min(row) LIMIT \(SchemaMigrator.namedRowLimit)")
    let rows = groups.compactMap { row -> String? in
      // A group may have any number of rows, and a message may not.
      if case .text(let text) = row[0] { "rows \(text.prefix(100))" } else { nil }
    }
    guard !rows.isEmpty else { return nil }
    let text = set.map { "\(entity.name).\($0)" }.joined(separator: " and ")
    let reason = rounds(set, entity) ? "unique and rounded to `Float`" : "now unique"
    return
      "\(text) is \(reason), but these rows share a value: \(rows.joined(separator: ", ")). Remove all but one of "
      + "each, for example in `willMigrate` of a migration plan."
  }

  /// The SQL of the value that rows will have in a column; nil if it is nil for all, or not known.
  ///
  /// The classes of a hierarchy share the column and its key. Some may have had the property, and some may have none.
  ///
  /// ```sql
  /// CASE "_entity" WHEN 2 THEN "code" WHEN 3 THEN 'none' END
  /// ```
  private func term(_ name: String, _ entity: Schema.Entity, _ table: String) throws -> String? {
    guard existing[table]?["_entity"] != nil else { return try value(of: name, entity) }
    var cases: [String] = []
    for (offset, old) in match.old.entities.enumerated() where old.root.name == table {
      guard let now = match.newEntities[old.name], let value = try value(of: name, now) else {
        continue
      }
      cases.append("WHEN \(offset + 1) THEN \(value)")
    }
    return cases.isEmpty ? nil : "CASE \"_entity\" \(cases.joined(separator: " ")) END"
  }

  /// The SQL of the value that the rows of one class will have.
  private func value(of name: String, _ entity: Schema.Entity) throws -> String? {
    guard let property = entity.storedPropertiesByName[name], TableNames.isColumn(property) else {
      return nil
    }
    let before = match.oldProperty(name, of: entity.name)
    let declared = ValueConversion.Property(entity: entity.declarer(of: name).name, name: name)
    if let conversion = conversions[declared] {
      return try filled(conversion.value, property, entity)
    }
    guard let before, TableNames.isColumn(before) else { return try literal(property, entity) }
    let column = before.name.sqlName
    let value = rounds(name, entity) ? Self.rounded(column) : column
    // A required column has no NULL to replace.
    return try before.isOptional ? filled(value, property, entity) : value
  }

  /// The SQL of a column's number as a `Float`. NaN, which is a string, stays as it is.
  private static func rounded(_ column: String) -> String {
    "CASE WHEN typeof(\(column)) IN ('real', 'integer') THEN stead_float(\(column)) ELSE \(column) END"
  }

  /// The SQL of a value that may be missing: the default value replaces NULL only in a required property.
  private func filled(
    _ value: String, _ property: any SchemaProperty, _ entity: Schema.Entity
  ) throws -> String {
    guard !property.isOptional, let literal = try literal(property, entity) else { return value }
    return "ifnull(\(value), \(literal))"
  }

  /// The SQL of the default value that all rows get; nil if each row gets its own.
  private func literal(_ property: any SchemaProperty, _ entity: Schema.Entity) throws -> String? {
    guard let attribute = property as? Schema.Attribute, let value = attribute.defaultValue,
      let stored = DefaultValueEncoder.encode(value, as: attribute.encoding)
    else { return nil }
    // A value for each row, such as a UUID, causes no duplicates.
    if let model = match.new.models.first(where: { $0.name == entity.name }),
      RowDefaults(attribute.name, attribute.encoding, value, of: model.type) != nil
    {
      return nil
    }
    return try DefaultLiteral(value: stored).checked(connection)
  }

  // MARK: Afterwards

  /// Sets NULL to the default value, in properties that are new or have become required.
  ///
  /// The history gets updates of rows whose values changed, not of those that have only gained a property.
  ///
  /// Invariant: afterwards each row has a value of every attribute with a default value that is new,
  /// or that was optional and is required now. A hierarchy is filled class by class, since classes
  /// that share a column may have other defaults.
  func fillDefaults(_ layout: StoreLayout) throws {
    for (entity, _, table) in entities {
      guard let now = layout.entity(named: entity.name) else { continue }
      for property in now.properties {
        guard case .attribute(let encoding) = property.kind, let value = property.defaultValue,
          let stored = DefaultValueEncoder.encode(value, as: encoding)
        else { continue }
        // Only new properties, and optional ones that have become required.
        let before = match.oldProperty(property.name, of: entity.name)
        if before != nil, !(before?.isOptional ?? false) || property.isOptional { continue }
        let only = now.discriminator.map { " AND \"_entity\" = \($0)" } ?? ""
        let test = "\(property.name.sqlName) IS NULL\(only)"
        // Another value for each row, which one UPDATE cannot give.
        if let defaults = RowDefaults(property, of: now.type) {
          if before != nil { try recordUpdates(now, property, where: test) }
          try fill(now, property, defaults, where: test)
          continue
        }
        // The column was added with the value.
        let isFilled =
          before == nil && now.discriminator == nil && existing[table]?[property.name] == nil
        if isFilled, try DefaultLiteral(property)?.checked(connection) != nil { continue }
        if before != nil { try recordUpdates(now, property, where: test) }
        try connection.run(
          "UPDATE \(now.table.sqlName) SET \(property.name.sqlName) = ?1 WHERE \(test)", [stored])
      }
    }
  }

  /// How many rows are read before they are written.
  private static let batch = 1_000

  /// Sets NULL to a value of the row's own, in batches by number: a row that is written no longer passes the test, and the
  /// default's code runs outside of a statement.
  private func fill(
    _ entity: EntityLayout, _ property: PropertyLayout, _ defaults: RowDefaults,
    where test: String
  ) throws {
    let (table, column) = (entity.table.sqlName, property.name.sqlName)
    // By number, not by the test alone: a row whose default value is NULL would pass it forever.
    var last = Int64.min
    while true {
      let rows = try connection.rows(
        "SELECT \"_id\" FROM \(table) WHERE \(test) AND \"_id\" > ?1 ORDER BY \"_id\" LIMIT \(Self.batch)",
        [.integer(last)])
      for row in rows {
        guard case .integer(let number) = row[0] else { continue }
        try connection.run(
          "UPDATE \(table) SET \(column) = ?2 WHERE \"_id\" = ?1",
          [row[0], defaults.next() ?? .null])
        last = number
      }
      if rows.count < Self.batch { return }
    }
  }

  /// Records an update of each row that passes a test, before the rows are changed and no longer pass it.
  private func recordUpdates(
    _ entity: EntityLayout, _ property: PropertyLayout, where test: String
  ) throws {
    let statement = try connection.prepare(
      "SELECT \"_id\" FROM \(entity.table.sqlName) WHERE \(test)")
    defer { statement.reset() }
    while try statement.step() {
      connection.changes.record(
        .update, entity, row: statement.integer(0), properties: PropertySet([property.index]))
    }
  }

  /// Makes stored values what a changed type reads: fields that it has gained are added from the property's default
  /// value, and numbers that have become `Float` are rounded.
  func completeValues(_ layout: StoreLayout) throws {
    for (entity, _, _) in entities {
      guard let now = layout.entity(named: entity.name) else { continue }
      let only = now.discriminator.map { " AND \"_entity\" = \($0)" } ?? ""
      let check = ValueCheck(connection, table: now.table, only: only)
      for property in now.properties {
        guard
          let new = entity.storedPropertiesByName[property.name] as? Schema.Attribute,
          let before = match.oldProperty(property.name, of: entity.name) as? Schema.Attribute,
          case .checked = AttributeChange(from: before, to: new)
        else { continue }
        if PropertyShape(new.valueType).isSinglePrecision {
          try round(property.name, in: now.table, only)
        }
        let defaults = RowDefaults(property, of: now.type)
        try check.complete(property.name, as: new, defaults) { row in
          connection.changes.record(
            .update, now, row: row, properties: PropertySet([property.index]))
        }
      }
    }
  }

  /// Rounds a column's numbers: predicates and unique keys compare what the column has, and objects read a rounded value.
  private func round(_ column: String, in table: String, _ only: String) throws {
    let rounded = Self.rounded(column.sqlName)
    try connection.execute(
      "UPDATE \(table.sqlName) SET \(column.sqlName) = \(rounded) "
        + "WHERE \(column.sqlName) IS NOT \(rounded)\(only)")
  }

  /// Moves values from files into the columns of attributes that are stored there now.
  func inlineFiles(_ blobs: BlobFiles?) throws {
    for (entity, _, _) in entities {
      for case let attribute as Schema.Attribute in entity.storedProperties {
        guard
          let before = match.oldProperty(attribute.name, of: entity.name) as? Schema.Attribute,
          case .inlined = AttributeChange(from: before, to: attribute), let blobs
        else { continue }
        let (table, column) = (entity.root.name.sqlName, attribute.name.sqlName)
        let rows = try connection.rows(
          // Text is the name of a file. Small values are bytes in the column already.
          "SELECT \"_id\", \(column) FROM \(table) WHERE typeof(\(column)) = 'text'")
        for row in rows {
          guard case .text(let reference) = row[1] else { continue }
          try connection.run(
            "UPDATE \(table) SET \(column) = ?2 WHERE \"_id\" = ?1",
            [row[0], .blob(blobs.read(reference))])
        }
      }
    }
  }
}
