import Foundation
import SteadFormats
import SteadSQLite

/// The model that wrote a store, as the store keeps it in `Z_MODELCACHE`: an
/// `NSManagedObjectModel`, archived and deflated.
///
/// It has what no table shows: which columns are the fields of one struct, and their types.
struct CoreDataModel {
  /// The types of attributes, by the numbers of `NSAttributeType`.
  enum AttributeType: Int {
    case integer16 = 100
    case integer32 = 200
    case integer64 = 300
    case decimal = 400
    case double = 500
    case float = 600
    case string = 700
    case boolean = 800
    case date = 900
    case data = 1000
    case uuid = 1100
    case url = 1200
    case transformable = 1800
    case composite = 2100

    /// The declared type that Core Data gives to the attribute's column; nil if the attribute has
    /// none.
    var columnType: String? {
      switch self {
      case .integer16, .integer32, .integer64, .boolean: "INTEGER"
      case .decimal: "DECIMAL"
      case .double, .float: "FLOAT"
      case .string, .url: "VARCHAR"
      case .date: "TIMESTAMP"
      case .data, .uuid, .transformable: "BLOB"
      case .composite: nil
      }
    }
  }

  /// An attribute that has a column, or is a struct whose fields have.
  struct Attribute {
    let name: String
    /// Nil for an unknown type.
    let type: AttributeType?
    /// The fields of a struct, or the cases of an enum.
    let fields: [Attribute]
    /// The name that the attribute had in an earlier model, if it was renamed.
    var renamingIdentifier: String?

    /// The raw value of an enum. SwiftData describes such a property as a struct with one field of
    /// the property's own name.
    var rawValue: Attribute? {
      guard type == .composite, fields.count == 1, let field = fields.first, field.name == name,
        field.type != .composite
      else { return nil }
      return field
    }
  }

  /// A relationship.
  struct Relationship {
    /// The property's name.
    let name: String
    /// Whether it leads to more than one row: `NSMaxCount` isn't 1.
    let isToMany: Bool
    /// The name that it had in an earlier model, if it was renamed.
    var renamingIdentifier: String?
  }

  /// An entity with all of its properties, inherited ones included.
  struct Entity {
    /// The entity's name.
    let name: String
    let attributes: [Attribute]
    let relationships: [Relationship]
    /// The name that it had in an earlier model, if it was renamed.
    var renamingIdentifier: String?
  }

  /// The maximum size of a model after decompression; the largest of Apple's own have one million
  /// bytes.
  static let sizeLimit = 64_000_000
  /// The maximum nesting depth of structs.
  static let depthLimit = 20
  /// The `NSMaxCount` of a to-one relationship.
  private static let toOne = 1

  /// The entities by name.
  let entities: [String: Entity]

  /// Decodes a model.
  ///
  /// - Throws: For a model that is damaged, or has a part of an unknown kind. Guessing would assign
  ///   columns wrongly.
  init(_ content: Data) throws {
    // The limit bounds a decompression bomb.
    let archive = try ArchivedObjects(Inflater.inflate(content, limit: Self.sizeLimit))
    var entities: [String: Entity] = [:]
    for object in archive.all(of: "NSEntityDescription") {
      let entity = try Self.entity(object, archive)
      // Two entities of one name can't be told apart in `Z_PRIMARYKEY`.
      guard entities.updateValue(entity, forKey: entity.name) == nil else { throw Self.unknown }
    }
    guard !entities.isEmpty else { throw Self.unknown }
    self.entities = entities
  }

  /// The error for a model of an unknown form.
  private static var unknown: PropertyListError {
    .damaged("the model in Z_MODELCACHE isn't of a known form", at: 0)
  }

  /// Decodes an entity.
  private static func entity(
    _ object: ArchivedObjects.Reference, _ archive: ArchivedObjects
  ) throws -> Entity {
    guard let name = archive.string("NSEntityName", of: object),
      let list = archive.object("NSProperties", of: object),
      let properties = archive.elements(of: list)
    else { throw unknown }
    var attributes: [Attribute] = []
    var relationships: [Relationship] = []
    for property in properties {
      // Neither transient attributes nor fetched properties have a column.
      if archive.integer("NSIsTransient", of: property) == 1 { continue }
      if archive.is(property, a: "NSFetchedPropertyDescription") { continue }
      if archive.is(property, a: "NSAttributeDescription") {
        var attribute = try attribute(property, archive, depth: 0)
        attribute.renamingIdentifier = archive.string("NSRenamingIdentifier", of: property)
        attributes.append(attribute)
      } else if archive.is(property, a: "NSRelationshipDescription"),
        let name = archive.string("NSPropertyName", of: property)
      {
        let count = archive.integer("NSMaxCount", of: property)
        relationships.append(
          Relationship(
            name: name, isToMany: count != toOne,
            renamingIdentifier: archive.string("NSRenamingIdentifier", of: property)))
      } else {
        throw unknown
      }
    }
    return Entity(
      name: name, attributes: attributes, relationships: relationships,
      renamingIdentifier: archive.string("NSRenamingIdentifier", of: object))
  }

  /// Decodes an attribute, and the fields of a struct recursively.
  private static func attribute(
    _ object: ArchivedObjects.Reference, _ archive: ArchivedObjects, depth: Int
  ) throws -> Attribute {
    guard let name = archive.string("NSPropertyName", of: object), depth < depthLimit else {
      throw unknown
    }
    let isComposite = archive.is(object, a: "NSCompositeAttributeDescription")
    let type =
      isComposite
      ? AttributeType.composite
      : archive.integer("NSAttributeType", of: object).flatMap(AttributeType.init)
    guard type == .composite else { return Attribute(name: name, type: type, fields: []) }
    // The key of the list of fields isn't documented. So it is the only field that has a list of
    // attributes, whatever its name.
    let lists = archive.fieldNames(of: object).compactMap { field in
      archive.object(field, of: object).flatMap { archive.elements(of: $0) }
    }.filter { list in
      !list.isEmpty && list.allSatisfy { archive.is($0, a: "NSAttributeDescription") }
    }
    guard lists.count == 1, let list = lists.first else { throw unknown }
    let fields = try list.map { try attribute($0, archive, depth: depth + 1) }
    return Attribute(name: name, type: .composite, fields: fields)
  }

  // MARK: - Reading from a store

  /// The model in a store; nil if it has none, or one whose entities aren't the store's.
  ///
  /// - Parameter entities: The names of the entities in the metadata.
  static func stored(in store: ForeignStore, entities: Set<String>) throws -> CoreDataModel? {
    let rows = try store.rows("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 2")
    // A model that isn't the store's own would assign wrong columns; without one, names decide.
    guard rows.count == 1, case .blob(let content) = rows[0][0],
      let model = try? CoreDataModel(content), Set(model.entities.keys) == entities
    else { return nil }
    return model
  }
}

extension CoreDataModel.Entity {
  /// The first attribute that has one of these names, in this order and then regardless of case.
  func attribute(named names: [String]) -> CoreDataModel.Attribute? {
    Self.find(names, in: attributes, \.name)
  }

  /// The first relationship that has one of these names, in this order and then regardless of case.
  func relationship(named names: [String]) -> CoreDataModel.Relationship? {
    Self.find(names, in: relationships, \.name)
  }

  /// The first part that has one of the names. Case is ignored only if that is unambiguous.
  private static func find<Part>(
    _ names: [String], in parts: [Part], _ name: (Part) -> String
  ) -> Part? {
    for wanted in names {
      if let exact = parts.first(where: { name($0) == wanted }) { return exact }
      let similar = parts.filter { name($0).uppercased() == wanted.uppercased() }
      if similar.count == 1 { return similar[0] }
    }
    return nil
  }
}

// MARK: - Columns

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
