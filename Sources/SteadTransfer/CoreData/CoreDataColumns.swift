/// Resolves an entity's properties to columns by the model alone.
///
/// A field of a struct has a column of the field's name alone. If names clash within an entity, the
/// columns are numbered in the alphabetical order of the top-level properties: `author.id` is
/// `ZID`, and `id` is `ZID1`. This rule was inferred from stores, so it is applied only where no
/// other rule would give another result; all else is ambiguous and needs `storedNames` of the
/// mapping.
struct CoreDataColumns {
  /// A column, or why it isn't certain.
  enum Resolution: Equatable {
    case column(String)
    case ambiguous(String)
  }

  /// A part of the model with a column of its own.
  private struct Leaf {
    /// The path within the entity: `author.id`.
    let path: String
    /// The top-level property: `author`.
    let property: String
    let type: CoreDataModel.AttributeType?
    let isRelationship: Bool
  }

  /// The resolutions by path: `id`, `author.id`.
  let resolutions: [String: Resolution]

  /// - Parameters:
  ///   - table: The columns of the entity's table, by their names in capitals, with their declared types.
  ///   - isShared: Whether the table has rows of other entities.
  ///   - holdsValues: Whether a column holds a value in a row of this entity.
  init(
    _ entity: CoreDataModel.Entity, table: [String: (name: String, type: String)], isShared: Bool,
    holdsValues: (String) throws -> Bool
  ) rethrows {
    var groups: [String: [Leaf]] = [:]
    for leaf in Self.leaves(of: entity) {
      let name = leaf.path.split(separator: ".").last.map(String.init) ?? leaf.path
      groups["Z" + name.uppercased(), default: []].append(leaf)
    }
    var resolutions: [String: Resolution] = [:]
    // Groups are parts with the same column name; a group of one is certain unless another column
    // could be meant.
    for (base, leaves) in groups {
      let numbered = table.keys.filter { Self.isNumbered($0, base) }.sorted()
      if leaves.count == 1 {
        // Another property may have such a name of its own: `id1` is `ZID1`.
        let own = numbered.filter { groups[$0] == nil }
        resolutions[leaves[0].path] = try Self.resolution(base, own, table, isShared, holdsValues)
      } else {
        // A property named `title1` takes the column that the rule would give to a second `title`.
        let isMixed = numbered.contains { groups[$0] != nil }
        let found = Self.resolutions(base, leaves, numbered, table)
        for (leaf, resolution) in zip(leaves, found) {
          resolutions[leaf.path] =
            isShared
            ? .ambiguous(Self.sharedTable) : isMixed ? .ambiguous(Self.mixedNames) : resolution
        }
      }
    }
    self.resolutions = resolutions
  }

  private static let sharedTable =
    "several properties have one name, and other entities have rows in the table"
  private static let mixedNames = "a property is named as a numbered column is"

  /// All parts with a column: attributes, fields of structs, to-one relationships.
  private static func leaves(of entity: CoreDataModel.Entity) -> [Leaf] {
    func leaves(_ attribute: CoreDataModel.Attribute, _ path: String, _ top: String) -> [Leaf] {
      guard attribute.type == .composite else {
        return [Leaf(path: path, property: top, type: attribute.type, isRelationship: false)]
      }
      return attribute.fields.flatMap { leaves($0, "\(path).\($0.name)", top) }
    }
    return entity.attributes.flatMap { leaves($0, $0.name, $0.name) }
      + entity.relationships.filter { !$0.isToMany }.map {
        Leaf(path: $0.name, property: $0.name, type: nil, isRelationship: true)
      }
  }

  /// Whether a column's name is `base` with a number after it.
  static func isNumbered(_ column: String, _ base: String) -> Bool {
    guard column.hasPrefix(base), column.count > base.count else { return false }
    return column.dropFirst(base.count).allSatisfy { ("0"..."9").contains($0) }
  }

  /// The column of a name that only one part of the entity has.
  private static func resolution(
    _ base: String, _ numbered: [String], _ table: [String: (name: String, type: String)],
    _ isShared: Bool, _ holdsValues: (String) throws -> Bool
  ) rethrows -> Resolution {
    guard let first = table[base] else { return .ambiguous("the table has no column \(base)") }
    // The usual case.
    if numbered.isEmpty { return .column(first.name) }
    // Sibling entities share a table, and their attributes of one name have numbered columns. The
    // rows of one entity use only one of them.
    let used = try ([base] + numbered).compactMap { table[$0]?.name }.filter(holdsValues)
    switch used.count {
    // Without values nothing can be read wrongly.
    case 0: return .column(first.name)
    case 1 where isShared || used[0] == first.name: return .column(used[0])
    default:
      return .ambiguous("the rows have values in \(([base] + numbered).joined(separator: ", "))")
    }
  }

  /// The columns of a name that several parts of the entity have. Any deviation from what the
  /// numbering rule predicts makes all of them ambiguous.
  private static func resolutions(
    _ base: String, _ leaves: [Leaf], _ numbered: [String],
    _ table: [String: (name: String, type: String)]
  ) -> [Resolution] {
    func all(_ reason: String) -> [Resolution] { leaves.map { _ in .ambiguous(reason) } }
    let names = leaves.map(\.property)
    guard Set(names).count == names.count else { return all("a property has the name twice") }
    guard !leaves.contains(where: \.isRelationship) else {
      return all("a relationship and an attribute have one name")
    }
    // Exactly the columns that the rule predicts, no more and no fewer.
    let columns = [base] + (1..<leaves.count).map { "\(base)\($0)" }
    guard Set(columns) == Set(numbered + [base]), columns.allSatisfy({ table[$0] != nil })
    else { return all("the columns of this name are not as many as the properties") }
    let order = names.sorted()
    // Whether Core Data sorts by case isn't known, so the order must not depend on it.
    guard order == names.sorted(by: { $0.lowercased() < $1.lowercased() }) else {
      return all("capitals decide about the order of the properties")
    }
    let found = leaves.map { leaf in
      order.firstIndex(of: leaf.property).flatMap { table[columns[$0]] }
    }
    let fits = zip(leaves, found).allSatisfy { leaf, column in
      leaf.type?.columnType == column?.type.uppercased() && column != nil
    }
    guard fits else { return all("the columns' types are not those of the properties") }
    return found.map { column in column.map { .column($0.name) } ?? .ambiguous("it has no column") }
  }
}
