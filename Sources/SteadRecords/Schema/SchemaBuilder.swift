import Foundation

extension Schema {
  /// Creates a schema from model types and all that their relationships reach.
  ///
  /// Superclasses that are models are included, too; subclasses only if they are named or reached. Costs time in
  /// proportion to the properties, so make it once. Contradictions between the models don't show here: opening a
  /// container throws them.
  ///
  /// - Parameters:
  ///   - types: The model classes; the same one twice counts once.
  ///   - version: The version that a store records.
  public convenience init(
    _ types: [any PersistentModel.Type], version: Version = Version(1, 0, 0)
  ) {
    self.init(types, version: version, of: nil)
  }

  /// - Parameter owner: The type that the version's own classes are declared in.
  private convenience init(
    _ types: [any PersistentModel.Type], version: Version, of owner: Any.Type?
  ) {
    var builder = SchemaBuilder()
    // Types first, since their entities refer to each other, and inverses need them all.
    builder.add(types, of: owner)
    let entities = builder.makeEntities()
    self.init(
      entities: entities, models: builder.models, findings: builder.findings, version: version,
      isVersioned: owner != nil)
  }

  /// Creates a schema from model types and all that their relationships reach, as from an array of them.
  public convenience init(
    _ types: any PersistentModel.Type..., version: Version = Version(1, 0, 0)
  ) {
    self.init(types, version: version)
  }

  /// Creates the schema that a versioned schema describes.
  ///
  /// Its version is the one that a migration plan leads to, also if other versions of the plan have the same models.
  ///
  /// A version may reuse classes of another one. If such a class leads to a class of its own version that this version
  /// has under the same name, this version's class takes its place.
  ///
  /// ```swift
  /// let container = try ModelContainer(
  ///   for: Schema(versionedSchema: LibraryV2.self), migrationPlan: LibraryPlan.self)
  /// ```
  public convenience init(versionedSchema: any VersionedSchema.Type) {
    self.init(
      versionedSchema.models, version: versionedSchema.versionIdentifier, of: versionedSchema)
  }

  /// The class with a name; nil for an entity made by hand.
  func model(named name: String) -> (any PersistentModel.Type)? {
    models.first { $0.name == name }?.type
  }
}

// MARK: - Entities

/// Turns the metadata of model types into entities, and finds each relationship's inverse.
///
/// A schema's initializer cannot throw, so what is wrong is collected in `findings`, for the container to throw.
struct SchemaBuilder {
  private(set) var findings = SchemaFindings()
  private(set) var models: [ModelMetadata] = []
  private var replaced: Set<ObjectIdentifier> = []
  /// The models of a version that another version declares.
  private var reused: [ModelMetadata] = []

  /// Adds types, their superclasses, and all that their relationships reach.
  ///
  /// - Parameter owner: The type that a version's own classes are declared in.
  mutating func add(_ new: [any PersistentModel.Type], of owner: Any.Type? = nil) {
    // Before any property's type is examined, so that models are recognized without a search for
    // conformances.
    ModelMetadata.register(new)
    let reached = ReachedModels(new, of: owner)
    models = reached.models
    reused = owner == nil ? [] : models.filter { !reached.isOwn($0) }
    for replacement in reached.replacements {
      replaced.insert(ObjectIdentifier(replacement.replaced.type))
      let (old, new) = (replacement.replaced.type, replacement.by.type)
      // Named in the message: the mistake shows in their relationships, not in the class that was
      // replaced.
      let users = models.flatMap { model in
        model.properties.filter { $0.shape.model == old }.map {
          "\(String(reflecting: model.type)).\($0.name)"
        }
      }
      let version = owner.map { String(reflecting: $0) } ?? "this version"
      findings.replacements.append(
        "The schema has \(String(reflecting: new)) for the name \(replacement.by.name), and classes that it reuses lead to "
          + "\(String(reflecting: old)): \(users.sorted().joined(separator: ", ")). In the store these relationships lead to "
          + "\(String(reflecting: new)); in code they read as empty, and the next save throws. Declare their classes in "
          + "\(version) to use them, or go the way back from their inverses.")
    }
  }

  /// The entities of ``models``, in their order, with superclasses and inverses resolved.
  ///
  /// Invariant: when it returns, every entity has its superclass and its inherited properties, those of
  /// the topmost class first. Inverses are set only if all names differ.
  mutating func makeEntities() -> [Schema.Entity] {
    ModelMetadata.registerNames(models)
    let all = models.map { makeEntity($0) }
    let byType = Dictionary(
      uniqueKeysWithValues: zip(models.map { ObjectIdentifier($0.type) }, all))
    for (model, entity) in zip(models, all) {
      guard let parent = model.parent.flatMap({ byType[ObjectIdentifier($0.type)] }) else {
        continue
      }
      entity.superentity = parent
      entity.superentityName = parent.name
      parent.subentities.insert(entity)
    }
    for entity in all {
      var inherited: [any SchemaProperty] = []
      var ancestor = entity.superentity
      while let current = ancestor {
        // The same property objects as the superclass has: finding inverses sets them in place.
        inherited = current.properties + inherited
        ancestor = current.superentity
      }
      entity.inheritedProperties = inherited
    }
    // Properties are identified with their entities' names, so those come first.
    if checkNames() {
      var finder = InverseFinder(zip(all, models).map { ($0, $1) }, replaced: replaced)
      finder.resolve()
      findings.problems += finder.findings.problems
      findings.notes += finder.findings.notes
    }
    return all
  }

  /// Whether all models have different names.
  ///
  /// With two models of one name, an inverse found by a name could be either's. So nothing is
  /// paired then.
  private mutating func checkNames() -> Bool {
    var names: Set<String> = []
    var isValid = true
    for model in models where !names.insert(model.name).inserted {
      isValid = false
      findings.problems.append(
        SchemaProblem(
          .duplicateModel,
          "Two models of the schema are named \(model.name). A container's models need different "
            + "names; put the older one into a separate VersionedSchema.\(superclassProblem(model.name))"
        ))
    }
    return isValid
  }

  /// The remedy for reused classes whose superclass the version declares again, as a further sentence; else nothing.
  private func superclassProblem(_ name: String) -> String {
    let subclasses = reused.filter { $0.parent?.name == name }.map { String(reflecting: $0.type) }
    guard !subclasses.isEmpty else { return "" }
    return
      " A class cannot be reused if the version has its superclass anew: declare "
      + "\(subclasses.sorted().joined(separator: ", ")) in the version, too."
  }

  /// The entity of a class with its own properties and constraints; `.unique` is a constraint of one property.
  private mutating func makeEntity(_ model: ModelMetadata) -> Schema.Entity {
    let entity = Schema.Entity(model.name, list: model.properties.map { makeProperty($0) })
    entity.originalName = Self.originalName(of: model.type) ?? model.name
    for constraint in model.constraints {
      entity.uniquenessConstraints += names(constraint.uniqueKeyPaths, "#Unique", of: model)
      entity.indices += names(constraint.indexKeyPaths, "#Index", of: model)
    }
    for property in entity.properties where property.isUnique {
      entity.uniquenessConstraints.append([property.name])
    }
    return entity
  }

  /// The earlier name that a class itself declares. A subclass inherits its superclass's `originalName`, but never had
  /// the superclass's rows.
  private static func originalName(of type: any PersistentModel.Type) -> String? {
    // A class inherits static members. What equals the superclass's is taken for inherited.
    guard let name = (type as? any RenamedModel.Type)?.originalName else { return nil }
    let inherited = (type._$supermodel as? any RenamedModel.Type)?.originalName
    return name == inherited ? nil : name
  }

  /// The names of the properties of sets of key paths.
  private mutating func names(
    _ sets: [[AnyKeyPath]], _ macro: String, of model: ModelMetadata
  ) -> [[String]] {
    sets.map { paths in
      paths.compactMap { path in
        // The others of the set are still looked at, so that one error names all wrong paths.
        if let property = model.property(at: path) { return property.name }
        findings.problems.append(
          SchemaProblem(
            .unknownProperty,
            "\(macro) of \(model.name) names \(KeyPathName.description(of: path, in: model)). Name "
              + "stored properties of \(model.name) only."))
        return nil
      }
    }
  }

  /// The attribute or relationship of a property, with the options of the source.
  private func makeProperty(_ property: ModelMetadata.Property) -> any SchemaProperty {
    if let model = property.shape.model {
      return Schema.Relationship(
        options: property.options as? Schema.Relationship, of: property,
        destination: ModelMetadata.name(of: model))
    }
    let given = property.options as? Schema.Attribute
    let type = property.valueType
    // Both hide the fields: a transformer's data has none, and `.codable` promises that they may change.
    let isOpaque = given.map { $0.isCodable || $0.isTransformable } ?? false
    let result: Schema.Attribute
    if property.shape.encoding == .composite, !isOpaque {
      let composite = Schema.CompositeAttribute(options: given, name: property.name, type: type)
      composite.properties = CompositeFields.of(property.shape.wrapped).map {
        Schema.Attribute(name: $0.name, valueType: $0.type)
      }
      result = composite
    } else {
      result = Schema.Attribute(options: given, name: property.name, type: type)
    }
    // What `@Model` has found in the source; `@Attribute` has no argument for it.
    result.defaultValue = property.defaultValue
    return result
  }
}

extension Schema.PropertyMetadata {
  /// The type of the property's value.
  var valueType: any Any.Type { type(of: keypath).valueType }
  /// Whether this is a property that the class declares, and not a set of constraints or of key paths.
  var isStored: Bool { !(metadata is any ConstraintProperty) && name != Self.inheritedName }
  /// The name of the entry whose default value is the class's key paths to its inherited properties.
  static var inheritedName: String { "_$inherited" }
}

// MARK: - Reached models

/// The classes of a schema: those that it names, their superclasses, and all that their relationships reach, with one
/// class for each name.
///
/// A version may reuse a class of an earlier version, whose relationships then reach a class that this version declares
/// again. Of two classes with one name, the one counts that the version names, or that is declared in it. What only the
/// other one reaches is not part of the schema. A superclass cannot be replaced, since its subclass has its properties:
/// then both classes of a name are among the models, which is a problem of the schema.
struct ReachedModels {
  /// A class in whose place the schema has another one of the same name.
  struct Replacement {
    let replaced: ModelMetadata
    let by: ModelMetadata
  }

  private(set) var models: [ModelMetadata] = []
  private(set) var replacements: [Replacement] = []
  private let named: [ModelMetadata]
  private let owner: String?
  /// The class that counts for each name, as far as that is decided.
  private var owners: [String: ObjectIdentifier] = [:]
  /// The names whose class is final.
  private var decided: Set<String> = []

  /// Takes the classes that a schema names.
  ///
  /// - Parameter owner: The type that a version's own classes are declared in; nil for a schema that is no version.
  init(_ types: [any PersistentModel.Type], of owner: Any.Type?) {
    var seen: Set<ObjectIdentifier> = []
    named = types.map { ModelMetadata.of($0) }.filter {
      seen.insert(ObjectIdentifier($0.type)).inserted
    }
    // With the dot: `LibraryV1` is no prefix of a class of `LibraryV10` then.
    self.owner = owner.map { _typeName($0, qualified: true) + "." }
    // What the schema names counts, whatever relationships reach. Of two that it names, both stay,
    // which is a problem that the schema reports.
    for model in named where owners[model.name] == nil {
      owners[model.name] = ObjectIdentifier(model.type)
    }
    // A class that is found late may replace one that was followed already. Each failed pass decides one more name, so
    // the loop ends.
    while !collect() {}
  }

  /// Whether a class is declared in the version.
  func isOwn(_ model: ModelMetadata) -> Bool {
    owner.map { _typeName(model.type, qualified: true).hasPrefix($0) } ?? false
  }

  /// Follows the relationships once; false if that has changed which class counts for a name, and the pass must be
  /// repeated.
  ///
  /// A repetition starts from nothing, since what only a replaced class reaches is not part of the schema.
  private mutating func collect() -> Bool {
    models = []
    var found: [String: ModelMetadata] = [:]
    var skipped: [ModelMetadata] = []
    var seen: Set<ObjectIdentifier> = []
    var queue: [ModelMetadata] = []
    // Superclasses come with their class, since its rows are in the topmost one's table.
    func include(_ model: ModelMetadata) {
      var next: ModelMetadata? = model
      while let current = next, seen.insert(ObjectIdentifier(current.type)).inserted {
        found[current.name] = found[current.name] ?? current
        models.append(current)
        queue += current.properties.compactMap(\.shape.model).map { ModelMetadata.of($0) }
        next = current.parent
      }
    }
    for model in named { include(model) }
    while let model = queue.popLast() {
      let id = ObjectIdentifier(model.type)
      guard !seen.contains(id) else { continue }
      if let owner = owners[model.name], owner != id {
        // Its relationships are not followed. It may still be part of the schema, as another
        // class's superclass.
        skipped.append(model)
        continue
      }
      if let other = found[model.name], !decided.contains(model.name), isOwn(other) != isOwn(model)
      {
        let own = ObjectIdentifier(isOwn(other) ? other.type : model.type)
        // It may count already, and the other one be there as a superclass.
        if owners[model.name] != own {
          owners[model.name] = own
          return false
        }
      }
      include(model)
    }
    // What was included after all, as a superclass, is not replaced by anything.
    skipped.removeAll { seen.contains(ObjectIdentifier($0.type)) }
    for model in skipped where found[model.name] == nil && !decided.contains(model.name) {
      // Only a class that is not part of the schema after all led to the one that counted.
      owners[model.name] = ObjectIdentifier(model.type)
      decided.insert(model.name)
      return false
    }
    var replaced: Set<ObjectIdentifier> = []
    replacements = skipped.compactMap { model in
      guard replaced.insert(ObjectIdentifier(model.type)).inserted else { return nil }
      return found[model.name].map { Replacement(replaced: model, by: $0) }
    }
    return true
  }
}

// MARK: - Names in messages

/// Names of properties by key path, for messages and for paths that the metadata does not list.
enum KeyPathName {
  /// The last component of a key path as Swift prints it: `\Task.project.name` gives `name`.
  static func lastComponent(_ keyPath: AnyKeyPath) -> String {
    let text = String(describing: keyPath)
    return text.split(separator: ".").last.map(String.init) ?? text
  }

  /// A key path to no stored property, in words. Swift prints an address where the name should be.
  static func description(of keyPath: AnyKeyPath, in model: ModelMetadata) -> String {
    // A stored property prints as its name, a computed one as an address.
    let name = lastComponent(keyPath)
    let isNamed = name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    let read = model.read(by: keyPath).map { ", which reads \(model.name).\($0.name)" } ?? ""
    return isNamed
      ? "\(name), which isn't a stored property"
      : "a computed or transient property of type \(type(of: keyPath).valueType)\(read)"
  }
}
