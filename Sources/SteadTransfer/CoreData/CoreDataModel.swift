import Foundation
import SteadFormats
import SteadSQLite

/// The model that wrote a store, as the store itself keeps it in `Z_MODELCACHE`.
///
/// It has what no table shows: which columns are the fields of one struct, and their types.
struct CoreDataModel {
  /// The types of attributes, by Core Data's numbers.
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

    /// The type in Core Data's declaration of the attribute's column; nil if that isn't known.
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
    /// Nil for a type that isn't known here.
    let type: AttributeType?
    /// The fields of a struct, or the cases of an enum.
    let fields: [Attribute]
    var renamingIdentifier: String?

    /// The raw value of an enum: SwiftData describes the property as a struct with one field of its own name.
    var rawValue: Attribute? {
      guard type == .composite, fields.count == 1, let field = fields.first, field.name == name,
        field.type != .composite
      else { return nil }
      return field
    }
  }

  struct Relationship {
    let name: String
    let isToMany: Bool
    var renamingIdentifier: String?
  }

  /// An entity with all of its properties, inherited ones included.
  struct Entity {
    let name: String
    let attributes: [Attribute]
    let relationships: [Relationship]
    var renamingIdentifier: String?
  }

  /// How many bytes a model may have when it is expanded; the largest of Apple's own have one million.
  static let sizeLimit = 64_000_000
  /// How deep structs may be nested.
  static let depthLimit = 20
  /// `NSMaxCount` of a relationship to one row.
  private static let toOne = 1

  let entities: [String: Entity]

  /// Throws for a model that is damaged, or has a part that isn't known here.
  init(_ content: Data) throws {
    let archive = try ArchivedObjects(Inflater.inflate(content, limit: Self.sizeLimit))
    var entities: [String: Entity] = [:]
    for object in archive.all(of: "NSEntityDescription") {
      let entity = try Self.entity(object, archive)
      guard entities.updateValue(entity, forKey: entity.name) == nil else { throw Self.unknown }
    }
    guard !entities.isEmpty else { throw Self.unknown }
    self.entities = entities
  }

  private static var unknown: PropertyListError {
    .damaged("the model in Z_MODELCACHE isn't of a known form", at: 0)
  }

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
      // Neither has a column.
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
    // The one list of attributes that it has, whatever its name.
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

  /// The model in a store; nil if it has none, or one with other entities than the store's.
  ///
  /// - Parameter entities: The names that the store's other tables have.
  static func stored(in store: ForeignStore, entities: Set<String>) throws -> CoreDataModel? {
    let rows = try store.rows("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 2")
    guard rows.count == 1, case .blob(let content) = rows[0][0],
      let model = try? CoreDataModel(content), Set(model.entities.keys) == entities
    else { return nil }
    return model
  }
}

extension CoreDataModel.Entity {
  /// The first attribute of one of these names, whatever its case.
  func attribute(named names: [String]) -> CoreDataModel.Attribute? {
    Self.find(names, in: attributes, \.name)
  }

  /// The first relationship of one of these names, whatever its case.
  func relationship(named names: [String]) -> CoreDataModel.Relationship? {
    Self.find(names, in: relationships, \.name)
  }

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
