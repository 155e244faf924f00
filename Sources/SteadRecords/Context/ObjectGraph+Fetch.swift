import Foundation

/// A fetch as it will be run: the SQL, and what is left to do in memory.
struct FetchPlan<T: PersistentModel> {
  let descriptor: FetchDescriptor<T>
  let entity: EntityLayout
  var query: TranslatedQuery
  /// Whether pending changes of the context can change the result.
  var mergesPending = false

  /// Whether SQL alone gives the right objects in the right order.
  var isExact: Bool { query.isExact && (query.orderIsExact || descriptor.sortBy.isEmpty) }
}

extension ObjectGraph {
  func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
    receiveRemoteChanges()
    digestDeletions()
    dropCachesWhenMany()
    let plan = try makePlan(descriptor)
    let models = try plan.mergesPending || !plan.isExact ? fetchMerging(plan) : run(plan)
    if models.count > 1, !plan.entity.relationships.isEmpty {
      remember(
        OwnerBatch(
          root: plan.entity.rootIndex, rows: models.map { $0._$statePointer.pointee.rowID }))
      prefetch(descriptor.relationshipKeyPathsForPrefetching, models, plan.entity)
    }
    return models
  }

  func makePlan<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> FetchPlan<T> {
    guard let entity = layout.entity(for: T.self) else {
      throw SwiftDataError(
        .unknownSchema,
        "\(T.self) is not in the container's schema. Name the type when the container is made.")
    }
    var query = try QueryTranslator(
      layout: layout, store: plans[entity.index].reference.store
    ).translate(
      predicate: descriptor.predicate, sortBy: descriptor.sortBy, entity: entity)
    var plan = FetchPlan(descriptor: descriptor, entity: entity, query: query)
    guard descriptor.includePendingChanges, !pendingRoots.isEmpty else { return plan }
    plan.mergesPending = pendingRoots.contains(entity.rootIndex)
    let related = Set(query.relatedEntities.map { layout.entities[$0].rootIndex })
    if !pendingRoots.isDisjoint(with: related) {
      // Rows do not show the pending changes that the predicate reads: it is evaluated on objects.
      query.condition = nil
      query.isExact = descriptor.predicate == nil
      query.order = nil
      query.orderIsExact = false
      plan.query = query
      plan.mergesPending = true
    }
    return plan
  }

  // MARK: SQL

  private func conditions(_ entity: EntityLayout, _ condition: SQLFragment?) -> String {
    var terms: [String] = []
    if let discriminator = entity.discriminator,
      entity.rootIndex != entity.index || entity.familyDiscriminators.isEmpty
    {
      let family =
        entity.familyDiscriminators.isEmpty ? [discriminator] : entity.familyDiscriminators
      terms.append("t0.\"_entity\" IN (\(family.map(String.init).joined(separator: ", ")))")
    }
    if let condition { terms.append(condition.sql) }
    return terms.isEmpty ? "" : " WHERE \(terms.joined(separator: " AND "))"
  }

  func select<T>(
    _ plan: FetchPlan<T>, columns: String, limit: Int?, offset: Int?
  ) -> (sql: String, values: [SQLValue]) {
    let table = plans[plan.entity.index].table
    var sql =
      "SELECT \(columns) FROM \(table) AS t0\(conditions(plan.entity, plan.query.condition))"
    var values = plan.query.condition?.bindings ?? []
    if let order = plan.query.order, plan.query.orderIsExact {
      sql += " ORDER BY \(order.sql)"
      values += order.bindings
    }
    if limit != nil || offset != nil {
      sql += " LIMIT ? OFFSET ?"
      values += [.integer(Int64(limit ?? -1)), .integer(Int64(offset ?? 0))]
    }
    return (sql, values)
  }

  /// The fetch that SQL can do alone.
  private func run<T>(_ plan: FetchPlan<T>) throws -> [T] {
    try run(plan, limit: plan.descriptor.fetchLimit, offset: plan.descriptor.fetchOffset)
  }

  private func run<T>(_ plan: FetchPlan<T>, limit: Int?, offset: Int?) throws -> [T] {
    let entityPlan = plans[plan.entity.index]
    let partial = PartialColumns(plan.descriptor.propertiesToFetch, entityPlan)
    let (sql, values) = select(
      plan, columns: partial?.columnList ?? entityPlan.columnList, limit: limit, offset: offset)
    return try stores[plan.entity.index].read { connection in
      let statement = try connection.statement(sql)
      statement.reset()
      statement.bind(values)
      defer { statement.reset() }
      if let partial { return try collect(statement, entityPlan, partial) }
      if plan.entity.discriminator != nil { return try collectFamily(statement, entityPlan) }
      return try collect(statement, entityPlan)
    }
  }

  /// The hot path: rows of one class, straight into its typed storage.
  private func collect<T: PersistentModel>(
    _ statement: Statement, _ plan: EntityPlan
  ) throws -> [T] {
    let entity = plan.entity
    let context = rowContexts[entity.index]
    let reader = plan.reader(statement, context)
    let isFirst = registry.beginLoading(root: entity.rootIndex)
    defer { registry.endLoading() }
    // Arrays of class references have one layout; that of `AnyObject` is known to the compiler here.
    var result: [AnyObject] = []
    var loaded: [UnsafeMutablePointer<_ModelState>] = []
    while try statement.step() {
      let row = statement.integer(0)
      if !isFirst, let object = registry.object(root: entity.rootIndex, row: row) {
        assert(object is T)
        let model = unsafeDowncast(object, to: T.self)
        if model.has(_ModelFlags.fault | _ModelFlags.stale | _ModelFlags.partial) {
          refresh(model, from: statement)
        }
        result.append(object)
        continue
      }
      context.row = row
      let model = T(_row: reader)
      if context.error != nil { try context.throwIfRejected() }
      loaded.append(adopt(model, entity: entity, row: row))
      result.append(model)
      if loaded.count == Self.registrationSize { registerLoaded(&loaded, entity, &result) }
    }
    registerLoaded(&loaded, entity, &result)
    return unsafeBitCast(result, to: [T].self)
  }

  /// How many objects of a fetch are registered under one lock.
  private static let registrationSize = 256

  private func registerLoaded(
    _ loaded: inout [UnsafeMutablePointer<_ModelState>], _ entity: EntityLayout,
    _ result: inout [AnyObject]
  ) {
    let conflicts = registry.registerLoaded(loaded, root: entity.rootIndex)
    // Only where a row came twice, or a model's initializer fetched it: the first object stays.
    for state in conflicts.map({ loaded[$0] }) {
      guard let object = state.pointee.object,
        let place = result.lastIndex(where: { $0 === object.takeUnretainedValue() })
      else { continue }
      if let winner = registry.object(root: entity.rootIndex, row: state.pointee.rowID) {
        result[place] = winner
      } else {
        registry.register(state, root: entity.rootIndex, row: state.pointee.rowID)
      }
    }
    loaded.removeAll(keepingCapacity: true)
  }

  private func collectFamily<T: PersistentModel>(
    _ statement: Statement, _ plan: EntityPlan
  ) throws -> [T] {
    var result: [T] = []
    while try statement.step() {
      if let model = try makeObject(plan, statement) as? T { result.append(model) }
    }
    return result
  }

  private func collect<T: PersistentModel>(
    _ statement: Statement, _ plan: EntityPlan, _ partial: PartialColumns
  ) throws -> [T] {
    let context = rowContexts[plan.entity.index]
    var result: [T] = []
    while try statement.step() {
      let row = statement.integer(0)
      if let model = registered(plan.entity, row: row) as? T {
        result.append(model)
        continue
      }
      context.row = row
      let model = T(
        _row: _RowReader(
          statement: statement.pointer, columns: partial.map, context: .passUnretained(context)))
      try context.throwIfRejected()
      register(model, entity: plan.entity, row: row)
      model._$statePointer.pointee.makeExtra().loaded = partial.loaded
      model._$statePointer.pointee.set(_ModelFlags.partial)
      result.append(model)
    }
    return result
  }

  // MARK: Memory

  /// A fetch whose result depends on unsaved changes, or on what SQL cannot express.
  private func fetchMerging<T>(_ plan: FetchPlan<T>) throws -> [T] {
    let descriptor = plan.descriptor
    if !descriptor.includePendingChanges, !pendingRoots.isEmpty {
      return try fetchStored(descriptor)
    }
    let pendingCount = plan.mergesPending ? changed.count + deleted.count : 0
    let canLimit = plan.query.isExact && plan.query.orderIsExact
    let limit = descriptor.fetchLimit.map { $0 + (descriptor.fetchOffset ?? 0) + pendingCount }
    var models: [T] = try run(plan, limit: canLimit ? limit : nil, offset: nil)
    if plan.mergesPending {
      let dirty = _ModelFlags.changed | _ModelFlags.deleted
      models.removeAll { $0.has(dirty) }
    }
    if !plan.query.isExact, let predicate = descriptor.predicate {
      models = try models.filter { try predicate.evaluate($0) }
    }
    if plan.mergesPending { models += try pending(matching: descriptor.predicate) }
    if !descriptor.sortBy.isEmpty { models = models.sorted(using: descriptor.sortBy) }
    let rest = models.dropFirst(descriptor.fetchOffset ?? 0)
    return Array(descriptor.fetchLimit.map { rest.prefix($0) } ?? rest)
  }

  /// What matches in the store, asked of another context: the objects of this one have unsaved values.
  private func fetchStored<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
    let identifiers = try ModelContext(container).fetchIdentifiers(descriptor)
    return try models(identifiers).compactMap { $0 as? T }
  }

  func pending<T>(matching predicate: Predicate<T>?) throws -> [T] {
    var result: [T] = []
    for (list, flag) in [(changed, _ModelFlags.changed), (inserted, _ModelFlags.inserted)] {
      for model in list where model.has(flag) && !model.has(_ModelFlags.deleted) {
        guard let model = model as? T else { continue }
        if let predicate, try !predicate.evaluate(model) { continue }
        result.append(model)
      }
    }
    return result
  }

  // MARK: Counts and identifiers

  func fetchCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> Int {
    receiveRemoteChanges()
    digestDeletions()
    var unordered = descriptor
    unordered.sortBy = []
    let plan = try makePlan(unordered)
    if plan.mergesPending || !plan.isExact { return try fetchMerging(plan).count }
    let isLimited = descriptor.fetchLimit != nil || descriptor.fetchOffset != nil
    let inner = select(
      plan, columns: isLimited ? "1" : "count(*)", limit: descriptor.fetchLimit,
      offset: descriptor.fetchOffset)
    let sql = isLimited ? "SELECT count(*) FROM (\(inner.sql))" : inner.sql
    return try stores[plan.entity.index].read { connection in
      Int(try connection.integer(sql, inner.values) ?? 0)
    }
  }

  func fetchIdentifiers<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>
  ) throws -> [PersistentIdentifier] {
    receiveRemoteChanges()
    digestDeletions()
    let plan = try makePlan(descriptor)
    if plan.mergesPending || !plan.isExact {
      return try fetchMerging(plan).map(\.persistentModelID)
    }
    let entity = plan.entity
    let columns = entity.discriminator == nil ? "t0.\"_id\"" : "t0.\"_id\", t0.\"_entity\""
    let (sql, values) = select(
      plan, columns: columns, limit: descriptor.fetchLimit, offset: descriptor.fetchOffset)
    return try stores[entity.index].read { connection in
      let statement = try connection.statement(sql)
      statement.reset()
      statement.bind(values)
      defer { statement.reset() }
      var result: [PersistentIdentifier] = []
      while try statement.step() {
        let concrete = concretePlan(plans[entity.index], statement) ?? plans[entity.index]
        result.append(
          PersistentIdentifier(reference: concrete.reference, row: statement.integer(0)))
      }
      return result
    }
  }

  // MARK: Prefetching

  private func prefetch<T: PersistentModel>(
    _ keyPaths: [PartialKeyPath<T>], _ models: [T], _ entity: EntityLayout
  ) {
    for keyPath in keyPaths {
      guard let index = entity.propertyIndex(of: keyPath) else { continue }
      for model in models where self.entity(of: model).properties.indices.contains(index) {
        switch model.content(at: index) {
        case .toOne(.row(let row)):
          if let target = resolve(row, model, index) as? any PersistentModel {
            model.setContent(.toOne(.model(target)), at: index)
          }
        case .toMany(let targets) where targets.loaded == nil: _ = loadToMany(model, index)
        default: break
        }
      }
    }
  }
}

/// The columns of a fetch that reads some properties only.
final class PartialColumns {
  let columnList: String
  let map: UnsafeMutablePointer<Int32>
  let loaded: UInt64

  /// nil when all columns are wanted, or when the rows may be of several classes.
  init?<T: PersistentModel>(_ keyPaths: [PartialKeyPath<T>], _ plan: EntityPlan) {
    guard !keyPaths.isEmpty, plan.entity.discriminator == nil else { return nil }
    let wanted = Set(keyPaths.compactMap { plan.entity.propertyIndex(of: $0) })
    var names = ["t0.\"_id\""]
    map = UnsafeMutablePointer<Int32>.allocate(capacity: max(plan.entity.properties.count, 1))
    map.initialize(repeating: -1, count: max(plan.entity.properties.count, 1))
    var loaded: UInt64 = 0
    for property in plan.entity.properties {
      guard let column = property.column else {
        loaded |= ModelExtra.bit(property.index)
        continue
      }
      // Properties behind the last bit share it, so they are always read.
      guard wanted.contains(property.index) || property.index >= 63 else { continue }
      map[property.index] = Int32(names.count)
      names.append("t0.\(quoted(column))")
      loaded |= ModelExtra.bit(property.index)
    }
    self.loaded = loaded
    columnList = names.joined(separator: ", ")
  }

  deinit { map.deallocate() }
}
