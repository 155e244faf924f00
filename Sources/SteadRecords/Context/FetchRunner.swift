import Foundation

/// Runs the fetches of a context: by SQL alone, by SQL and in memory, or by an app's own store.
struct FetchRunner {
  let graph: ObjectGraph

  init(_ graph: ObjectGraph) { self.graph = graph }

  /// The objects of a fetch: of a custom store if the entity is in one, else by SQL alone, or by SQL and in memory.
  ///
  /// Relationship caches are dropped before, not after: what is fetched now must stay loaded for the program. The
  /// rows are remembered, so that a relationship of one object is loaded for all of them.
  ///
  /// - Throws: `unknownSchema` for a class outside the schema, errors of the store, and those of reading a row.
  func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
    graph.dropCachesWhenMany()
    let plan = try makePlan(descriptor)
    let models: [T]
    if let store = graph.customStore(of: plan.entity), let found = try fetch(plan, from: store) {
      models = found
    } else {
      models = try plan.mergesPending || !plan.isExact ? fetchMerging(plan) : run(plan)
    }
    // A single object loads its relationships alone, and needs no record of what was fetched with it.
    if models.count > 1, !plan.entity.relationships.isEmpty {
      graph.loader.remember(
        OwnerBatch(
          root: plan.entity.rootIndex, rows: models.map { $0._$statePointer.pointee.rowID }))
      prefetch(descriptor.relationshipKeyPathsForPrefetching, models, plan.entity)
    }
    return models
  }

  func makePlan<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> FetchPlan<T> {
    try FetchPlan(
      descriptor, layout: graph.layout, entities: graph.entities,
      pendingRoots: graph.pending.roots)
  }

  // MARK: Rows

  /// The fetch that SQL can do alone.
  private func run<T>(_ plan: FetchPlan<T>) throws -> [T] {
    try run(plan, limit: plan.descriptor.fetchLimit, offset: plan.descriptor.fetchOffset)
  }

  /// Runs a plan's SQL with a limit of its own, without pending changes.
  ///
  /// A fetch of all rows of a class of which many objects are registered reads the rows' numbers alone, as long as
  /// few are missing. A partial fetch doesn't, since the missing rows would be read whole.
  private func run<T>(_ plan: FetchPlan<T>, limit: Int?, offset: Int?) throws -> [T] {
    let entityPlan = graph.entities[plan.entity.index].lazyPlan.plan
    let partial = PartialColumns(plan.descriptor.propertiesToFetch, entityPlan)
    let sql = plan.selection(
      of: partial?.columnList ?? entityPlan.columnList, from: entityPlan, limit: limit,
      offset: offset)
    return try graph.commits.readNewest(of: graph.entities[plan.entity.index].storeIndex) {
      connection in
      if partial == nil, limit == nil, offset == nil, let sql = plan.scan(of: entityPlan),
        graph.loader.mayCollectRegistered(entityPlan)
      {
        let numbers = try connection.statement(sql)
        numbers.reset()
        defer { numbers.reset() }
        let models: [T]? = try graph.loader.collectRegistered(numbers, entityPlan, connection)
        // nil if too many rows were missing: then all are read in one pass below.
        if let models { return models }
      }
      let statement = try connection.statement(sql.sql)
      statement.reset()
      statement.bind(sql.bindings)
      defer { statement.reset() }
      if let partial { return try graph.loader.collect(statement, entityPlan, partial) }
      return try graph.loader.collect(statement, entityPlan)
    }
  }

  // MARK: Memory

  /// A fetch whose result depends on unsaved changes, or on something that SQL cannot express.
  ///
  /// Rows of changed and deleted objects are dropped from the SQL's result, since they show former values, and the
  /// pending objects are matched in memory. So a limit in SQL is raised by the number of these objects: as many rows
  /// of the result may be dropped. There is no limit in SQL if the SQL accepts rows that do not match, or does not
  /// sort.
  private func fetchMerging<T>(_ plan: FetchPlan<T>) throws -> [T] {
    let descriptor = plan.descriptor
    if !descriptor.includePendingChanges, !graph.pending.roots.isEmpty {
      return try fetchStored(descriptor)
    }
    let dirtyCount =
      plan.mergesPending
      ? graph.pending.models(.changed).count + graph.pending.models(.deleted).count : 0
    let canLimit = plan.query.isExact && plan.query.orderIsExact
    let limit = descriptor.fetchLimit.map { $0 + (descriptor.fetchOffset ?? 0) + dirtyCount }
    // Without an offset: which of the skipped rows are dropped below, SQL does not know.
    var models: [T] = try run(plan, limit: canLimit ? limit : nil, offset: nil)
    if plan.mergesPending {
      let dirty = _ModelFlags.changed | _ModelFlags.deleted
      models.removeAll { $0.has(dirty) }
    }
    // The SQL has selected a superset: parts of the predicate without SQL are evaluated here.
    if !plan.query.isExact, let predicate = descriptor.predicate {
      let matcher = PredicateMatcher(predicate)
      models = try models.filter { try matcher.matches($0) }
    }
    if plan.mergesPending { models += try pendingModels(matching: descriptor.predicate) }
    if !descriptor.sortBy.isEmpty { models = MemoryOrder(descriptor.sortBy).sorted(models) }
    let rest = models.dropFirst(descriptor.fetchOffset ?? 0)
    return Array(descriptor.fetchLimit.map { rest.prefix($0) } ?? rest)
  }

  /// What matches in the store, asked of another context: the objects of this one have unsaved values.
  ///
  /// Costs a context, and a look-up of the objects here by their identifiers.
  func fetchStored<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
    let identifiers = try ModelContext(graph.container).fetchIdentifiers(descriptor)
    return try models(identifiers).compactMap { $0 as? T }
  }

  /// The changed and the new objects that match, in the order of their changes; deleted ones are left out.
  func pendingModels<T>(matching predicate: Predicate<T>?) throws -> [T] {
    let matcher = predicate.map { PredicateMatcher($0) }
    var result: [T] = []
    for kind in [PendingChanges.Kind.changed, .inserted] {
      for model in graph.pending.models(kind) where !model.has(_ModelFlags.deleted) {
        guard let model = model as? T else { continue }
        if let matcher, try !matcher.matches(model) { continue }
        result.append(model)
      }
    }
    return result
  }

  // MARK: Counts and identifiers

  /// The number of objects that match. Makes no objects, unless unsaved changes or the predicate need them.
  func fetchCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> Int {
    var unordered = descriptor
    // The order does not change the number, and one without SQL would have all objects fetched.
    unordered.sortBy = []
    let plan = try makePlan(unordered)
    if let store = graph.customStore(of: plan.entity), let count = try fetchCount(plan, from: store)
    {
      return count
    }
    if plan.mergesPending || !plan.isExact { return try fetchMerging(plan).count }
    let isLimited = descriptor.fetchLimit != nil || descriptor.fetchOffset != nil
    // A limit is one of rows, and `count(*)` gives one row: with a limit the rows are counted from outside.
    let selection = plan.selection(
      of: isLimited ? "1" : "count(*)", from: graph.entities[plan.entity.index].lazyPlan.plan,
      limit: descriptor.fetchLimit, offset: descriptor.fetchOffset)
    let sql = isLimited ? selection.counted : selection
    return try graph.commits.readNewest(of: graph.entities[plan.entity.index].storeIndex) {
      connection in
      Int(try connection.integer(sql.sql, sql.bindings) ?? 0)
    }
  }

  /// The identifiers of the objects that match, in their order. Makes no objects, unless unsaved changes or the
  /// predicate need them.
  func fetchIdentifiers<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>
  ) throws -> [PersistentIdentifier] {
    let plan = try makePlan(descriptor)
    if let store = graph.customStore(of: plan.entity),
      let found = try fetchIdentifiers(plan, from: store)
    {
      return found
    }
    if plan.mergesPending || !plan.isExact {
      return try fetchMerging(plan).map(\.persistentModelID)
    }
    let entityPlan = graph.entities[plan.entity.index].lazyPlan.plan
    let sql = plan.selection(
      of: entityPlan.identifierColumns, from: entityPlan, limit: descriptor.fetchLimit,
      offset: descriptor.fetchOffset)
    return try graph.commits.readNewest(of: graph.entities[plan.entity.index].storeIndex) {
      connection in
      let statement = try connection.statement(sql.sql)
      statement.reset()
      statement.bind(sql.bindings)
      defer { statement.reset() }
      var result: [PersistentIdentifier] = []
      while try statement.step() {
        let concrete = graph.loader.concretePlan(entityPlan, statement) ?? entityPlan
        result.append(
          PersistentIdentifier(reference: concrete.reference, row: statement.integer(0)))
      }
      return result
    }
  }

  /// The tables that a fetch reads; nil when that is not known.
  func tables<T>(of descriptor: FetchDescriptor<T>) -> Set<String>? {
    // What is evaluated in memory may read any object.
    guard let plan = try? makePlan(descriptor), plan.query.isExact else { return nil }
    return Set(
      ([plan.entity.index] + plan.query.relatedEntities).map { graph.layout.entities[$0].table })
  }

  // MARK: Prefetching

  /// Loads relationships of fetched objects: the first object loads those of all others that were fetched with it, in
  /// one query.
  private func prefetch<T: PersistentModel>(
    _ keyPaths: [PartialKeyPath<T>], _ models: [T], _ entity: EntityLayout
  ) {
    for keyPath in keyPaths {
      guard let index = entity.propertyIndex(of: keyPath) else { continue }
      for model in models where graph.entity(of: model).properties.indices.contains(index) {
        switch model.content(at: index) {
        case .toOne(.row(let row)):
          if let target = graph.reader.resolve(row, model, index) as? any PersistentModel {
            model.setContent(.toOne(.model(target)), at: index)
          }
        case .toMany(let targets) where targets.loaded == nil:
          _ = graph.reader.loadToMany(model, index)
        default: break
        }
      }
    }
  }

  // MARK: Identifiers

  /// The object of an identifier, loaded if necessary. An object without a row stands for one that does not exist or
  /// cannot be read, since the API of this name returns no optional.
  func model(for identifier: PersistentIdentifier) -> any PersistentModel {
    if identifier.row > 0, let entity = graph.entity(of: identifier) {
      do {
        if let model = try graph.reader.object(entity, row: identifier.row) { return model }
      } catch {
        Report.problem(
          .objectNotLoaded, subject: "\(identifier)",
          message: "The object was not loaded. Look it up again.", cause: error)
      }
    }
    // Also a new object, whose identifier is temporary.
    if let model = registeredModel(for: identifier) { return model }
    guard let entity = graph.layout.entity(named: identifier.entityName) else {
      Report.problem(
        .unknownModel, subject: identifier.entityName,
        message: "The model is not in the container's schema. Name it when the container is made.")
      return graph.layout.entities[0].type.init(_row: .empty)
    }
    let placeholder = entity.type.init(_row: .empty)
    placeholder._$statePointer.pointee.set(_ModelFlags.missing)
    return placeholder
  }

  /// The object of an identifier, if it is in memory. A new one is searched for among the new objects, in linear
  /// time.
  func registeredModel(for identifier: PersistentIdentifier) -> (any PersistentModel)? {
    guard let entity = graph.layout.entity(named: identifier.entityName) else { return nil }
    if identifier.row < 0 {
      return graph.pending.models(.inserted).first {
        $0._$statePointer.pointee.rowID == identifier.row
      }
    }
    // In another store the same number is another row.
    guard identifier.storeIdentifier == graph.entities[entity.index].lazyPlan.plan.reference.store
    else {
      return nil
    }
    return graph.registered(entity, row: identifier.row)
  }

  // MARK: Batches

  /// Calls a block with each object that matches, and holds the objects of one batch at a time.
  ///
  /// Identifiers are fetched first, so the objects are those that matched at the beginning, whatever the block
  /// changes. Caches are dropped after each batch: relationships would keep its objects alive.
  ///
  /// - Throws: `invalidTransactionFetchRequest` if there are unsaved changes after a batch, unless they are allowed
  ///   or there were some before the first; and what the block throws.
  func enumerate<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, batchSize: Int, allowsMutations: Bool,
    _ block: (T) throws -> Void
  ) throws {
    let identifiers = try fetchIdentifiers(descriptor)
    let wasChanged = graph.pending.hasChanges
    for start in stride(from: 0, to: identifiers.count, by: max(batchSize, 1)) {
      let batch = identifiers[start..<min(identifiers.count, start + max(batchSize, 1))]
      for model in try models(batch) {
        if let model = model as? T { try block(model) }
      }
      if !allowsMutations, graph.pending.hasChanges, !wasChanged {
        throw SwiftDataError(
          .invalidTransactionFetchRequest,
          "The block changed objects. Save in the block, or pass allowEscapingMutations: true.")
      }
      graph.dropCaches()
    }
  }

  /// The objects of identifiers, in their order; identifiers without a row are left out.
  func models(_ identifiers: some Collection<PersistentIdentifier>) throws -> [any PersistentModel]
  {
    // One statement for each class. New objects, whose numbers are negative, are looked up below.
    let saved = Dictionary(grouping: identifiers.filter { $0.row > 0 }, by: \.entityName)
    var found: [PersistentIdentifier: any PersistentModel] = [:]
    for (name, identifiers) in saved {
      guard let entity = graph.layout.entity(named: name) else { continue }
      if let store = graph.customStore(of: entity) {
        try store.take(identifiers, for: graph.editingState)
      }
      for model in try graph.reader.load(entity, rows: identifiers.map(\.row)) {
        found[model.persistentModelID] = model
      }
    }
    return identifiers.compactMap { found[$0] ?? registeredModel(for: $0) }
  }
}
