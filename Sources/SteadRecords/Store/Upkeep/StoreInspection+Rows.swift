import SteadSQLite

extension StoreInspection {
  /// Counts a class's rows, and checks the relationships that it declares.
  ///
  /// Costs a scan of the table, or of an index, for each relationship and each check.
  mutating func checkRows(of entity: EntityLayout, _ catalog: StoreCatalog) throws {
    // Rows of subclasses count as theirs.
    let own = entity.discriminator.map { " WHERE \"_entity\" = \($0)" } ?? ""
    let count = try connection.integer("SELECT count(*) FROM \(entity.table.sqlName)\(own)")
    setRowCount(to: Int(count ?? 0), of: entity)
    try checkRowNumbers(of: entity)
    for property in declaredProperties(of: entity) {
      switch property.kind {
      case .attribute: continue
      case .toOne(let destination):
        try checkReference(property, of: entity, to: layout.entities[destination])
        try checkRequired(property, of: entity, to: layout.entities[destination])
        try checkOrder(property, of: entity, catalog)
        try checkList(property, of: entity)
      case .toMany(_, let destination):
        try checkPairs(property, of: entity, to: layout.entities[destination], catalog)
      }
    }
  }

  /// Finds rows of a class whose numbers the library never gives out: in memory, an object with such a number is one
  /// that was never saved, so a save refuses its deletion, and links that would have the number.
  ///
  /// Adds ``StoreCheck/Problem/Kind/unusableNumber``. Costs no scan: `_id` is the key of the table.
  private mutating func checkRowNumbers(of entity: EntityLayout) throws {
    let own = entity.discriminator.map { " AND \"_entity\" = \($0)" } ?? ""
    let found = try rows(
      "SELECT \"_id\" FROM \(entity.table.sqlName) WHERE \"_id\" < 1\(own) ORDER BY \"_id\"")
    guard found.count > 0 else { return }
    addProblem(
      .unusableNumber, entity, rows: found,
      "The numbers of \(found) of \(entity.name) are below 1, so these objects cannot be deleted, nor linked by a column or "
        + "a pair. Give the rows positive numbers in _id that no row has, and write these to the columns and pairs that "
        + "refer to the rows."
    )
  }

  /// The properties that a class does not inherit.
  func declaredProperties(of entity: EntityLayout) -> [PropertyLayout] {
    guard let parent = parent(of: entity) else { return entity.properties }
    return entity.properties.filter { parent.property(named: $0.name) == nil }
  }

  /// The condition, after another one, that selects the rows of a class and its subclasses.
  private func family(_ entity: EntityLayout, _ alias: String) -> String {
    guard entity.discriminator != nil else { return "" }
    let numbers = entity.familyDiscriminators.map(String.init).joined(separator: ", ")
    return " AND \(alias).\"_entity\" IN (\(numbers))"
  }

  /// Finds rows whose `_entity` is no class of the hierarchy.
  ///
  /// Adds ``StoreCheck/Problem/Kind/unknownClass``.
  mutating func checkClasses(of table: TableLayout) throws {
    guard table.isHierarchy, let root = layout.entity(named: table.name) else { return }
    let numbers = layout.entities.filter { $0.rootIndex == root.index }
      .compactMap { $0.discriminator.map(String.init) }
    let found = try rows(
      "SELECT \"_id\" FROM \(table.name.sqlName) "
        + "WHERE \"_entity\" NOT IN (\(numbers.joined(separator: ", ")))")
    guard found.count > 0 else { return }
    addProblem(
      .unknownClass, root, rows: found,
      "No class of the hierarchy of \(root.name) has the number in _entity of \(found), so they are not objects. "
        + "Open a backup, or give the rows the number of a class.")
  }

  // MARK: To-one relationships

  /// Finds references to rows that do not exist, or are of a class that the relationship cannot lead to.
  ///
  /// Not for a relationship that the rule `noAction` may leave dangling, which is no damage.
  ///
  /// Adds ``StoreCheck/Problem/Kind/danglingReference``.
  private mutating func checkReference(
    _ property: PropertyLayout, of entity: EntityLayout, to destination: EntityLayout
  ) throws {
    guard let column = property.column, readable.contains(destination.table),
      !property.mayBeLeft(in: layout.entities)
    else { return }
    // The class is compared in the join, so that a row of another class counts as missing.
    let found = try rows(
      "SELECT s.\"_id\" FROM \(entity.table.sqlName) AS s "
        + "LEFT JOIN \(destination.table.sqlName) AS d ON d.\"_id\" = s.\(column.sqlName)"
        + "\(family(destination, "d")) WHERE s.\(column.sqlName) IS NOT NULL AND d.\"_id\" IS NULL"
        + family(entity, "s"))
    guard found.count > 0 else { return }
    addProblem(
      .danglingReference, entity, rows: found,
      "\(entity.name).\(property.name) leads to a missing row of \(destination.name) in \(found). "
        + "Set the relationship of these objects again, or the column to NULL.")
  }

  /// Finds rows that lack a required reference.
  ///
  /// Adds ``StoreCheck/Problem/Kind/missingReference``.
  private mutating func checkRequired(
    _ property: PropertyLayout, of entity: EntityLayout, to destination: EntityLayout
  ) throws {
    guard property.isRequiredReference, let column = property.column else { return }
    let found = try rows(
      "SELECT s.\"_id\" FROM \(entity.table.sqlName) AS s WHERE s.\(column.sqlName) IS NULL"
        + family(entity, "s"))
    guard found.count > 0 else { return }
    addProblem(
      .missingReference, entity, rows: found,
      "\(entity.name).\(property.name) is required, but leads nowhere in \(found), so these objects cannot be saved. Set "
        + "the relationship of each to an object of \(destination.name), or delete the objects.")
  }

  /// Two members of one list may not have the same position, and none may have one that a later row gets.
  ///
  /// Adds ``StoreCheck/Problem/Kind/ambiguousOrder`` and ``StoreCheck/Problem/Kind/futurePlace``. Plain SQL may have
  /// given a row the number that is another member's place.
  private mutating func checkOrder(
    _ property: PropertyLayout, of entity: EntityLayout, _ catalog: StoreCatalog
  ) throws {
    guard let column = property.column,
      catalog.columns[entity.table]?[HiddenColumn.order(of: column)] != nil
    else { return }
    // Each of several lists over one column has positions of its own.
    let list = property.listColumn.map { ", ifnull(s.\($0.sqlName), 0)" } ?? ""
    // max(): of the rows that share a place, the newest one is named.
    let order = HiddenColumn.order(of: column).sqlName
    let found = try rows(
      "SELECT max(s.\"_id\") FROM \(entity.table.sqlName) AS s WHERE s.\(column.sqlName) IS NOT NULL"
        + "\(family(entity, "s")) GROUP BY s.\(column.sqlName)\(list), ifnull(s.\(order), s.\"_id\") "
        + "HAVING count(*) > 1")
    addOrderProblem(entity, property.name, found)
    try checkPlaces(
      property, of: entity, in: entity.table, HiddenColumn.order(of: column),
      "s.\(column.sqlName) IS NOT NULL\(family(entity, "s"))", catalog)
  }

  /// Finds members whose place is a number that their table, or that of the pairs, has not given out: a row that is
  /// added later has its own number as its place, and would come before them.
  ///
  /// Adds ``StoreCheck/Problem/Kind/futurePlace``.
  private mutating func checkPlaces(
    _ property: PropertyLayout, of entity: EntityLayout, in table: String, _ order: String,
    _ condition: String, _ catalog: StoreCatalog
  ) throws {
    // Its absence is a problem of its own.
    guard catalog.columns["stead_sequence"] != nil else { return }
    let last = try connection.lastNumber(in: table)
    let found = try rows(
      "SELECT s.\"_id\" FROM \(table.sqlName) AS s "
        + "WHERE \(condition) AND s.\(order.sqlName) > \(last)")
    guard found.count > 0 else { return }
    addProblem(
      .futurePlace, entity, rows: found,
      "The place in \(entity.name).\(property.name) of \(found) of the table \(table) is a number that the table has "
        + "not given out yet, so members that are added later come before. Put the members in order again, or set the "
        + "column \(order) of these rows to NULL.")
  }

  /// Adds rows that share a place with another member of their list.
  private mutating func addOrderProblem(
    _ entity: EntityLayout, _ property: String, _ found: FoundRows
  ) {
    guard found.count > 0 else { return }
    addProblem(
      .ambiguousOrder, entity, rows: found,
      "The place in \(entity.name).\(property) of \(found) also belongs to another member, so their order is not "
        + "defined. Put the members in order again.")
  }

  /// Finds rows whose list number is of no relationship that shares the inverse.
  ///
  /// Adds ``StoreCheck/Problem/Kind/unknownList``.
  private mutating func checkList(_ property: PropertyLayout, of entity: EntityLayout) throws {
    guard let column = property.column, let list = property.listColumn,
      let lists = property.relationship?.lists, !lists.isEmpty
    else { return }
    let numbers = lists.map { String($0.number) }.joined(separator: ", ")
    let found = try rows(
      "SELECT s.\"_id\" FROM \(entity.table.sqlName) AS s WHERE s.\(column.sqlName) IS NOT NULL "
        + "AND ifnull(s.\(list.sqlName), 0) NOT IN (\(numbers))\(family(entity, "s"))")
    guard found.count > 0 else { return }
    addProblem(
      .unknownList, entity, rows: found,
      "The column \(list) of \(entity.name) has a number that isn't a relationship's in \(found). Set "
        + "\(entity.name).\(property.name) of these objects again.")
  }

  // MARK: Pairs

  /// Checks the pairs of a relationship: that their rows exist, and their places.
  private mutating func checkPairs(
    _ property: PropertyLayout, of entity: EntityLayout, to destination: EntityLayout,
    _ catalog: StoreCatalog
  ) throws {
    guard let join = property.joinTable, catalog.columns[join.name] != nil else { return }
    // The rule leaves the pairs of a deleted owner, which is no damage.
    let leaves = property.relationship?.deleteRule == .noAction
    if !leaves { try checkPairs(property, of: entity, join, join.owner, entity) }
    // The other side of a relationship with an inverse is checked as that one's.
    if property.relationship?.inverse == nil, readable.contains(destination.table) {
      try checkPairs(property, of: entity, join, join.target, destination)
    }
    let found = try rows(
      "SELECT max(\"_id\") FROM \(join.name.sqlName) "
        + "GROUP BY \(join.owner), ifnull(\(join.owner)_order, \"_id\") HAVING count(*) > 1")
    addOrderProblem(entity, property.name, found)
    try checkPlaces(property, of: entity, in: join.name, "\(join.owner)_order", "true", catalog)
  }

  /// Finds the pairs of which one column leads to no row of a class or its subclasses.
  private mutating func checkPairs(
    _ property: PropertyLayout, of entity: EntityLayout, _ join: JoinTable, _ column: String,
    _ end: EntityLayout
  ) throws {
    let found = try rows(
      "SELECT p.\"_id\" FROM \(join.name.sqlName) AS p LEFT JOIN \(end.table.sqlName) AS e "
        + "ON e.\"_id\" = p.\(column)\(family(end, "e")) WHERE e.\"_id\" IS NULL")
    guard found.count > 0 else { return }
    addProblem(
      .danglingReference, entity, rows: found,
      "Pairs of \(entity.name).\(property.name) lead to missing rows of \(end.name): \(found) of the table \(join.name). "
        + "Delete these pairs.")
  }
}
