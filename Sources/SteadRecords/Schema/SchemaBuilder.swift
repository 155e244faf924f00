import Foundation

/// Turns the metadata of model types into entities, and finds each relationship's inverse.
struct SchemaBuilder {
  private(set) var types: [any PersistentModel.Type] = []
  private var seen: Set<ObjectIdentifier> = []

  /// Adds types, their superclasses, and all that their relationships reach.
  mutating func add(_ new: [any PersistentModel.Type]) {
    var queue = new
    while let type = queue.popLast() {
      guard seen.insert(ObjectIdentifier(type)).inserted else { continue }
      types.append(type)
      if let parent = type._$supermodel { queue.append(parent) }
      for property in type.schemaMetadata where property.isStored {
        if let model = PropertyShape(property.valueType).model { queue.append(model) }
      }
    }
  }

  func makeEntities() -> [Schema.Entity] {
    var entities: [ObjectIdentifier: Schema.Entity] = [:]
    for type in types { entities[ObjectIdentifier(type)] = makeEntity(type) }
    for type in types {
      guard let entity = entities[ObjectIdentifier(type)], let parentType = type._$supermodel,
        let parent = entities[ObjectIdentifier(parentType)]
      else { continue }
      entity.superentity = parent
      entity.superentityName = parent.name
      parent.subentities.insert(entity)
    }
    for entity in entities.values {
      var inherited: [any SchemaProperty] = []
      var ancestor = entity.superentity
      while let current = ancestor {
        inherited = current.properties + inherited
        ancestor = current.superentity
      }
      entity.inheritedProperties = inherited
    }
    return types.compactMap { entities[ObjectIdentifier($0)] }
  }

  private func makeEntity(_ type: any PersistentModel.Type) -> Schema.Entity {
    let metadata = type.schemaMetadata
    var names: [AnyKeyPath: String] = [:]
    var ancestor: (any PersistentModel.Type)? = type
    while let current = ancestor {
      for property in current.schemaMetadata where property.isStored {
        names[property.keypath] = property.name
      }
      ancestor = current._$supermodel
    }
    let entity = Schema.Entity(
      Self.name(of: type), list: metadata.filter(\.isStored).map { makeProperty($0) })
    func resolve(_ paths: [AnyKeyPath]) -> [String] {
      paths.map { names[$0] ?? KeyPathName.lastComponent($0) }
    }
    for property in metadata {
      guard let constraint = property.metadata as? any ConstraintProperty else { continue }
      entity.uniquenessConstraints += constraint.uniqueKeyPaths.map(resolve)
      entity.indices += constraint.indexKeyPaths.map(resolve)
    }
    for property in entity.properties where property.isUnique {
      entity.uniquenessConstraints.append([property.name])
    }
    return entity
  }

  private static func name<T: PersistentModel>(of type: T.Type) -> String {
    Schema.entityName(for: type)
  }

  private func makeProperty(_ metadata: Schema.PropertyMetadata) -> any SchemaProperty {
    let shape = PropertyShape(metadata.valueType)
    if let model = shape.model {
      let relationship = metadata.metadata as? Schema.Relationship ?? Schema.Relationship()
      relationship.name = metadata.name
      if relationship.originalName.isEmpty { relationship.originalName = metadata.name }
      relationship.valueType = metadata.valueType
      relationship.destination = Self.name(of: model)
      relationship.keypath = metadata.keypath
      return relationship
    }
    let given = metadata.metadata as? Schema.Attribute
    let isOpaque = given.map { $0.isCodable || $0.isTransformable } ?? false
    let attribute =
      shape.encoding == .composite && !isOpaque ? makeComposite(shape, given) : given
    let result = attribute ?? Schema.Attribute()
    result.name = metadata.name
    if result.originalName.isEmpty { result.originalName = metadata.name }
    result.valueType = metadata.valueType
    result.defaultValue = metadata.defaultValue
    return result
  }

  private func makeComposite(
    _ shape: PropertyShape, _ given: Schema.Attribute?
  ) -> Schema.Attribute {
    let composite = Schema.CompositeAttribute(
      name: "", originalName: given?.originalName ?? "", options: given?.options ?? [],
      valueType: shape.wrapped, hashModifier: given?.hashModifier)
    composite.properties = CompositeFields.of(shape.wrapped).map {
      Schema.Attribute(name: $0.name, valueType: $0.type)
    }
    return composite
  }
}

extension Schema.PropertyMetadata {
  /// The type of the property's value.
  var valueType: any Any.Type { type(of: keypath).valueType }
  /// Whether this is a property, and not a set of constraints.
  var isStored: Bool { !(metadata is any ConstraintProperty) }
}

/// Names of properties by key path, for messages and for paths that the metadata does not list.
enum KeyPathName {
  /// The last component of a key path as Swift prints it: `\Task.project.name` gives `name`.
  static func lastComponent(_ keyPath: AnyKeyPath) -> String {
    let text = String(describing: keyPath)
    return text.split(separator: ".").last.map(String.init) ?? text
  }
}
