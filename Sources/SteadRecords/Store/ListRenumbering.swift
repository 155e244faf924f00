import SteadSQLite

/// Keeps rows in their to-many relationships when a new version of the models declares these in another
/// order: of several that share a to-one relationship, a column has the number.
struct ListRenumbering {
  let match: SchemaMatch
  let layout: StoreLayout

  func apply(to entity: EntityLayout, on connection: StoreConnection) throws {
    for property in entity.properties {
      guard let column = property.listColumn, let destination = property.destination,
        let cases = cases(property, entity, layout.entities[destination])
      else { continue }
      let list = column.sqlName
      try connection.execute(
        "UPDATE \(entity.table.sqlName) SET \(list) = CASE ifnull(\(list), 0) \(cases) END "
          + "WHERE \(property.name.sqlName) IS NOT NULL"
          + (entity.discriminator.map { " AND \"_entity\" = \($0)" } ?? ""))
    }
  }

  /// The new number of each old one, in SQL; nil when all stay.
  private func cases(
    _ toOne: PropertyLayout, _ entity: EntityLayout, _ owner: EntityLayout
  ) -> String? {
    let old = storedLists(toOne, entity, owner)
    let new = toOne.relationship?.lists ?? []
    let numbers = old.map { name in
      new.first { list in
        match.oldProperty(owner.properties[list.property].name, of: owner.name)?.name == name
      }?.number
    }
    guard !old.isEmpty, numbers != Array(numbers.indices) else { return nil }
    // A single list had no column of numbers, or one that was no longer maintained.
    if numbers.count == 1 { return "WHEN 0 THEN \(numbers[0] ?? 0) ELSE \(numbers[0] ?? 0)" }
    return numbers.enumerated().map { "WHEN \($0) THEN \($1 ?? 0)" }.joined(separator: " ")
      + " ELSE 0"
  }

  /// The names of the to-one's lists in the stored schema, in the order of their declaration.
  private func storedLists(
    _ toOne: PropertyLayout, _ entity: EntityLayout, _ owner: EntityLayout
  ) -> [String] {
    guard let before = match.oldProperty(toOne.name, of: entity.name),
      let member = match.oldEntities[entity.name], let owner = match.oldEntities[owner.name]
    else { return [] }
    let lineage = Set(
      sequence(first: member) { $0.superentity }.map(\.name))
    return owner.storedProperties.compactMap { $0 as? Schema.Relationship }.filter {
      lineage.contains($0.destination) && $0.inverseName == before.name
    }.map(\.name)
  }
}
