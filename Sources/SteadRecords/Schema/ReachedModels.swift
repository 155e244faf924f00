/// The classes of a schema: those that it names, their superclasses, and all that their relationships reach, with one
/// class for each name.
///
/// A version that reuses a class of an earlier one may reach, through its relationships, a class that the version has
/// anew. Of two classes of one name the one counts that the version names, or that is declared in it. What only the
/// other one reaches is not part of the schema. A superclass cannot be replaced, since its subclass has its properties:
/// so both classes of a name may be among the models, which is a problem of the schema.
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
  /// The class that counts for a name.
  private var owners: [String: ObjectIdentifier] = [:]
  /// The names whose class is not decided again.
  private var settled: Set<String> = []

  init(_ types: [any PersistentModel.Type], of owner: Any.Type?) {
    var seen: Set<ObjectIdentifier> = []
    named = types.map { ModelMetadata.of($0) }.filter {
      seen.insert(ObjectIdentifier($0.type)).inserted
    }
    self.owner = owner.map { _typeName($0, qualified: true) + "." }
    for model in named where owners[model.name] == nil {
      owners[model.name] = ObjectIdentifier(model.type)
    }
    // A class that is found late may count instead of one that was followed: each time, one more name is decided.
    while !collect() {}
  }

  /// Whether a class is declared in the version.
  func isOwn(_ model: ModelMetadata) -> Bool {
    owner.map { _typeName(model.type, qualified: true).hasPrefix($0) } ?? false
  }

  /// Follows the classes; false if it turned out that another class counts for a name.
  private mutating func collect() -> Bool {
    models = []
    var found: [String: ModelMetadata] = [:]
    var skipped: [ModelMetadata] = []
    var seen: Set<ObjectIdentifier> = []
    var queue: [ModelMetadata] = []
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
        skipped.append(model)
        continue
      }
      if let other = found[model.name], !settled.contains(model.name), isOwn(other) != isOwn(model)
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
    skipped.removeAll { seen.contains(ObjectIdentifier($0.type)) }
    for model in skipped where found[model.name] == nil && !settled.contains(model.name) {
      // Only a class that is not part of the schema after all led to the one that counted.
      owners[model.name] = ObjectIdentifier(model.type)
      settled.insert(model.name)
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
