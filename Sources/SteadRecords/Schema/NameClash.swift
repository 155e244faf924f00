/// Names that SQLite would take for one, since it does not tell upper from lower case.
struct NameClash {
  private let entities: [EntityLayout]

  init(_ entities: [EntityLayout]) { self.entities = entities }

  /// Throws if two tables would be one, or two properties one column that cannot hold both.
  func check() throws {
    var problems: [String] = []
    for family in Dictionary(grouping: entities, by: { $0.table.lowercased() }).values {
      let tables = Set(family.map(\.table)).sorted()
      if tables.count > 1 {
        problems.append(
          "\(tables.joined(separator: " and ")) differ only in case, and SQLite treats them as one "
            + "table. Rename one of the models.")
      }
    }
    for family in Dictionary(grouping: entities, by: \.rootIndex).values {
      problems += columns(of: family.sorted { $0.index < $1.index })
    }
    guard !problems.isEmpty else { return }
    throw SchemaProblem(.nameClash, problems.sorted().joined(separator: " "))
  }

  /// The problem with the columns of a hierarchy's table.
  private func columns(of family: [EntityLayout]) -> [String] {
    var problems: Set<String> = []
    var taken: [String: (entity: EntityLayout, property: PropertyLayout)] = [:]
    for entity in family {
      for property in entity.properties {
        guard let column = property.column else { continue }
        let name = "\(entity.name).\(property.name)"
        if ["_id", "_entity"].contains(column.lowercased()) {
          problems.insert(
            "\(name) has the name of a column that every table has. Rename the property.")
          continue
        }
        guard let (other, known) = taken[column.lowercased()] else {
          taken[column.lowercased()] = (entity, property)
          continue
        }
        let otherName = "\(other.name).\(known.name)"
        if known.column != column {
          problems.insert(
            "\(otherName) and \(name) differ only in case, and SQLite treats them as one column. "
              + "Rename one of the properties.")
        } else if !holdsSame(known, property) {
          problems.insert(
            "\(otherName) and \(name) share a column, since they belong to one class hierarchy, and "
              + "differ in their types. Rename one of the properties, or move it to their superclass."
          )
        }
      }
    }
    return Array(problems)
  }

  private func holdsSame(_ one: PropertyLayout, _ other: PropertyLayout) -> Bool {
    switch (one.kind, other.kind) {
    case (.attribute(let left), .attribute(let right)): left == right
    case (.toOne(let left), .toOne(let right)):
      entities[left].rootIndex == entities[right].rootIndex
    default: false
    }
  }
}
