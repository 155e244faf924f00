import Foundation

extension ObjectGraph {
  func setUpInbox() {
    inbox.setUp(
      rootByTable: Dictionary(
        layout.entities.map { ($0.table, $0.rootIndex) }
      ) { first, _ in first },
      stores: Set(stores.map(\.identity)))
  }

  /// Lets go of everything when the context ends; objects still held keep their values.
  func abandon() {
    for model in inserted where model.has(_ModelFlags.inserted) {
      model._$statePointer.pointee.clear(_ModelFlags.pending)
      model._$statePointer.pointee.graph = nil
    }
    for model in changed + deleted {
      model._$statePointer.pointee.clear(_ModelFlags.changed | _ModelFlags.deleted)
      model._$statePointer.pointee.changes = 0
    }
    forgetPending()
    dropCaches()
    batches = []
    undoManager = nil
  }

  // MARK: Identifiers

  func model(for identifier: PersistentIdentifier) -> any PersistentModel {
    if identifier.row > 0, let entity = entity(of: identifier) {
      do {
        if let model = try object(entity, row: identifier.row) { return model }
      } catch {
        Report.problem("\(identifier) cannot be loaded: \(error)")
      }
    }
    if let model = registeredModel(for: identifier) { return model }
    guard let entity = layout.entity(named: identifier.entityName) else {
      Report.problem("\(identifier.entityName) is not in the container's schema.")
      return layout.entities[0].type.init(_row: .empty)
    }
    let placeholder = entity.type.init(_row: .empty)
    placeholder._$statePointer.pointee.set(_ModelFlags.missing)
    return placeholder
  }

  func registeredModel(for identifier: PersistentIdentifier) -> (any PersistentModel)? {
    guard let entity = layout.entity(named: identifier.entityName) else { return nil }
    if identifier.row < 0 {
      return inserted.first {
        $0._$statePointer.pointee.rowID == identifier.row && $0.has(_ModelFlags.inserted)
      }
    }
    guard identifier.storeIdentifier == plans[entity.index].reference.store else { return nil }
    return registered(entity, row: identifier.row)
  }

  // MARK: Batches

  func enumerate<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, batchSize: Int, allowsMutations: Bool,
    _ block: (T) throws -> Void
  ) throws {
    let identifiers = try fetchIdentifiers(descriptor)
    let wasChanged = hasChanges
    for start in stride(from: 0, to: identifiers.count, by: max(batchSize, 1)) {
      let batch = identifiers[start..<min(identifiers.count, start + max(batchSize, 1))]
      for model in try models(batch) {
        if let model = model as? T { try block(model) }
      }
      if !allowsMutations, hasChanges, !wasChanged {
        throw SwiftDataError(
          .invalidTransactionFetchRequest,
          "The block changed objects. Save in the block, or pass allowEscapingMutations: true.")
      }
      dropCaches()
    }
  }

  /// The objects of identifiers, in their order; those without a row are left out.
  func models(_ identifiers: some Collection<PersistentIdentifier>) throws -> [any PersistentModel]
  {
    let saved = Dictionary(grouping: identifiers.filter { $0.row > 0 }, by: \.entityName)
    var found: [PersistentIdentifier: any PersistentModel] = [:]
    for (name, identifiers) in saved {
      guard let entity = layout.entity(named: name) else { continue }
      for model in try load(entity, rows: identifiers.map(\.row)) {
        found[model.persistentModelID] = model
      }
    }
    return identifiers.compactMap { found[$0] ?? registeredModel(for: $0) }
  }

  // MARK: Deleting by predicate

  func delete<T: PersistentModel>(
    type: T.Type, matching predicate: Predicate<T>?, includesSubclasses: Bool
  ) throws {
    var descriptor = FetchDescriptor<T>(predicate: predicate)
    descriptor.includePendingChanges = true
    let plan = try makePlan(descriptor)
    let isPlain =
      plan.entity.relationships.isEmpty && plan.entity.discriminator == nil && plan.isExact
      && !plan.mergesPending && !plans[plan.entity.index].hasExternal
      && !layout.entities.contains { other in
        other.relationships.contains { other.properties[$0].destination == plan.entity.index }
      }
    if isPlain { return try deleteRows(plan) }
    try deleteObjects(descriptor, includesSubclasses: includesSubclasses)
    // New objects are in no store yet.
    for model in try pending(matching: predicate) as [T] where model.has(_ModelFlags.inserted) {
      if includesSubclasses || Swift.type(of: model) == type { delete(model) }
    }
    digestDeletions()
  }

  /// Deletes stored objects by the rules of their relationships, in a context of its own, so that
  /// nothing else of this context is saved with them.
  private func deleteObjects<T>(
    _ descriptor: FetchDescriptor<T>, includesSubclasses: Bool
  ) throws {
    let context = ModelContext(container)
    context.observesModels = false
    context.author = author
    for model in try context.fetch(descriptor) {
      if includesSubclasses || Swift.type(of: model) == T.self { context.delete(model) }
    }
    try context.save()
    receiveRemoteChanges()
  }

  /// One statement for objects that nothing else depends on.
  private func deleteRows<T>(_ plan: FetchPlan<T>) throws {
    let entityPlan = plans[plan.entity.index]
    let store = stores[plan.entity.index]
    let (select, values) = select(plan, columns: "t0.\"_id\"", limit: nil, offset: nil)
    let rows = try store.write { connection in
      let newest = try connection.integer("SELECT max(\"_id\") FROM \(entityPlan.table)") ?? 0
      let rows = try connection.rows(
        "DELETE FROM \(entityPlan.table) WHERE \"_id\" IN (\(select)) RETURNING \"_id\"", values)
      if newest > 0 {
        try connection.run(
          "INSERT INTO stead_sequence VALUES (?1, ?2) "
            + "ON CONFLICT DO UPDATE SET last = max(last, excluded.last)",
          [.text(entityPlan.tableLayout.name), .integer(newest)])
      }
      return rows
    }
    var ids: Set<Int64> = []
    for case .integer(let id)? in rows.map(\.first) { ids.insert(id) }
    for id in ids {
      if let model = registered(plan.entity, row: id) { release(model) }
    }
    container.exchange.post(
      StoreChanges(store: store.identity, rows: [plan.entity.table: ids]), from: inbox)
    contextDidChange([plan.entity.table])
  }

  // MARK: Notifications and turns

  func post(_ name: Notification.Name, _ summary: SaveSummary?) {
    guard let context else { return }
    NotificationCenter.default.post(name: name, object: context, userInfo: summary?.userInfo)
  }

  /// Tells live results that tables changed; nil for any.
  func contextDidChange(_ tables: Set<String>? = nil) {
    guard !followers.isEmpty, !isTellingFollowers else { return }
    isTellingFollowers = true
    defer { isTellingFollowers = false }
    let told = followers
    followers = []
    followers = told.filter { $0(tables) } + followers
  }

  /// Calls a function after changes until it returns false, and sees to it that commits of others are
  /// merged by themselves where that is possible.
  func follow(_ isolation: (any Actor)?, _ follower: @escaping (Set<String>?) -> Bool) {
    followers.append(follower)
    for store in container.stores { store.watch() }
    guard !inbox.hasScheduler, let isolation, let context else { return }
    let box = ContextBox(context)
    inbox.setScheduler { Task { await box.merge(on: isolation) } }
  }

  /// The tables that a fetch reads; nil when that is not known.
  func tables<T>(of descriptor: FetchDescriptor<T>) -> Set<String>? {
    guard let plan = try? makePlan(descriptor), plan.query.isExact else { return nil }
    return Set(([plan.entity.index] + plan.query.relatedEntities).map { layout.entities[$0].table })
  }

  func closeUndoGroup() {
    guard let undoManager, undoManager.groupingLevel > 0, undoManager.groupsByEvent else { return }
    undoManager.endUndoGrouping()
  }

  func scheduleAutosave() {
    isAutosaveScheduled = true
    guard let context else { return }
    let box = ContextBox(context)
    Task { @MainActor in box.autosave() }
  }
}

/// Carries a context to the main actor.
private struct ContextBox: @unchecked Sendable {
  // Sendable: made where the context is used and opened on the main actor alone; a context with
  // autosave is the main actor's, which the documentation of `autosaveEnabled` asks for.
  private weak var context: ModelContext?

  init(_ context: ModelContext) { self.context = context }

  @MainActor func autosave() {
    guard let context else { return }
    context.graph.isAutosaveScheduled = false
    guard context.autosaveEnabled, context.hasChanges else { return }
    do {
      try context.save()
    } catch {
      Report.problem("Autosave failed, the changes are still pending: \(error)")
    }
  }

  @MainActor func merge() { context?.processPendingChanges() }

  /// Merges on the actor whose context it is.
  func merge(on actor: isolated any Actor) { context?.processPendingChanges() }
}

extension ModelContext {
  /// Turns on autosave, and merges other contexts' commits as they come.
  @MainActor func becomeMain() {
    autosaveEnabled = true
    let box = ContextBox(self)
    graph.inbox.setScheduler { Task { @MainActor in box.merge() } }
  }
}
