/// Makes the changes of a save's snapshots in a context.
struct SnapshotApplication {
  private let graph: ObjectGraph
  private let context: ModelContext
  /// The objects by the snapshots' identifiers.
  private var models: [PersistentIdentifier: any PersistentModel] = [:]
  private let defaults = PropertyDefaults()

  init(_ context: ModelContext) {
    self.context = context
    graph = context.graph
  }

  /// Makes the changes, short of saving, and returns the new objects by their temporary identifiers.
  mutating func run(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> [PersistentIdentifier: any PersistentModel] {
    let values = try (request.inserted + request.updated).map { try SnapshotValues($0) }
    for values in values.prefix(request.inserted.count) {
      models[values.identifier] = try make(values)
    }
    let inserted = models
    for values in values.dropFirst(request.inserted.count) {
      let model = try existing(values.identifier)
      try SlotFiller.fill(model, of: graph.entity(of: model), with: values, defaults)
      for property in graph.entity(of: model).properties {
        if case .attribute = property.kind { graph.markChanged(model, at: property.index) }
      }
    }
    for values in values { try link(values) }
    for snapshot in request.deleted {
      if let model = try find(snapshot.persistentIdentifier) { graph.delete(model) }
    }
    return inserted
  }

  private func entity(_ name: String) throws -> EntityLayout {
    if let entity = graph.layout.entity(named: name) { return entity }
    throw SwiftDataError(
      .unknownModel, "The store has no model named \(name). Name it in the configuration's schema.")
  }

  private func make(_ values: SnapshotValues) throws -> any PersistentModel {
    let entity = try entity(values.identifier.entityName)
    let model = entity.type.init(_row: .empty)
    try SlotFiller.fill(model, of: entity, with: values, defaults)
    graph.insert(model)
    return model
  }

  private func find(_ identifier: PersistentIdentifier) throws -> (any PersistentModel)? {
    if let model = models[identifier] { return model }
    guard identifier.row > 0, let entity = graph.entity(of: identifier) else { return nil }
    return try graph.object(entity, row: identifier.row)
  }

  private func existing(_ identifier: PersistentIdentifier) throws -> any PersistentModel {
    if let model = try find(identifier) { return model }
    throw SwiftDataError(
      .foreignModel,
      "A snapshot of \(identifier.entityName) does not match an object in the store. Fetch its objects again."
    )
  }

  private func link(_ values: SnapshotValues) throws {
    let model = try existing(values.identifier)
    for index in graph.entity(of: model).relationships {
      let property = graph.entity(of: model).properties[index]
      guard values.has(property.name) else { continue }
      let targets = try values.identifiers(of: property.name).compactMap { try find($0) }
      if property.isToMany {
        // Loaded first, so that what left is known.
        _ = graph.members(of: model, at: index)
        guard case .toMany(let old) = model.content(at: index) else { continue }
        if (old.loaded ?? []).elementsEqual(targets, by: { $0 === $1 }) { continue }
        model.setContent(.toMany(_Targets(loaded: targets)), at: index)
        graph.didSetToMany(model, index, old)
      } else {
        let current = graph.destination(of: model, at: index)
        guard current !== targets.first, case .toOne(let old) = model.content(at: index) else {
          continue
        }
        model.setContent(.toOne(targets.first.map { .model($0) } ?? .none), at: index)
        graph.didSetToOne(model, index, old, targets.first)
      }
      graph.markChanged(model, at: index)
    }
  }
}
