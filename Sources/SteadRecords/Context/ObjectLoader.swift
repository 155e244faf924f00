import Foundation
import SteadSQLite

/// Makes objects of rows: one object for each row, and each relationship's destinations in one query for all owners
/// of a fetch.
///
/// The hot path. Used by one thread at a time, as its context is. But a model's initializer, which runs while its
/// object is made, may itself fetch: so whoever has made an object must expect that its row is registered by then.
final class ObjectLoader {
  /// The number of registered objects at which the next fetch drops relationship caches.
  var cacheLimit = ObjectLoader.smallestCacheLimit
  /// Below this number of objects relationship caches are never dropped.
  static let smallestCacheLimit = 20_000
  let layout: StoreLayout
  /// The context's entities, by their index.
  let entities: [ContextEntity]
  let registry: ObjectRegistry
  /// Whether new objects tell Observation of reads and writes.
  var observesModels = true

  /// The home of the objects, which owns this loader. Unowned without a check: it is read for each row.
  unowned(unsafe) let home: ModelHome
  /// The rows of the latest fetches, so that relationships load for all of them at once.
  private var batches: [OwnerBatch] = []
  /// How many fetches are remembered for loading relationships together.
  private static let batchLimit = 8
  /// How many objects of a fetch are registered under one lock.
  private static let registrationSize = 256

  // The home outlives the loader, which it owns.
  init(_ layout: StoreLayout, _ entities: [ContextEntity], home: ModelHome) {
    self.layout = layout
    self.entities = entities
    self.home = home
    registry = ObjectRegistry(entityCount: entities.count)
  }

  // MARK: Registered objects

  /// The entity of an object that has a context; its state holds the index.
  func entity(of model: any PersistentModel) -> EntityLayout {
    entities[Int(model._$statePointer.pointee.entity)].layout
  }

  /// The registered object of a row.
  func registered(_ entity: EntityLayout, row: Int64) -> (any PersistentModel)? {
    registry.object(root: entity.rootIndex, row: row).map {
      layout.entities[entity.rootIndex].model($0)
    }
  }

  /// Makes an object the context's, and the one of its row.
  ///
  /// Replaces the entry of any other object of the row.
  func register(_ model: any PersistentModel, entity: EntityLayout, row: Int64) {
    registry.register(adopt(model, entity: entity, row: row), root: entity.rootIndex, row: row)
  }

  /// Makes an object the context's, without registering it. From now on its `deinit` asks the registry to forget it.
  @inline(__always)
  func adopt<M: PersistentModel>(
    _ model: M, entity: EntityLayout, row: Int64
  ) -> UnsafeMutablePointer<_ModelState> {
    let state = model._$statePointer
    // What the program inserts has a home before it has a row.
    if entity.tracesReads, state.pointee.home == nil { entity.reads?.recordObject() }
    state.pointee.entity = Int32(entity.index)
    state.pointee.rowID = row
    state.pointee.home = home
    // Not retained: an object leaves the registry with its last reference, by the `deinit` of its state.
    state.pointee.object = Unmanaged.passUnretained(model)
    if !observesModels { state.pointee.clear(_ModelFlags.observed) }
    if entity.tracesReads { state.pointee.set(_ModelFlags.traced) }
    return state
  }

  /// Takes an object out of the context; it keeps its values.
  func release(_ model: any PersistentModel) {
    let state = model._$statePointer
    // Without an object in its state it was never registered, and the registry has no entry to remove.
    if let object = state.pointee.object {
      registry.forget(
        object, root: entities[Int(state.pointee.entity)].layout.rootIndex,
        row: state.pointee.rowID)
    }
    clear(state)
  }

  /// Takes objects out of the context, by their states.
  func release(_ states: [UnsafeMutablePointer<_ModelState>]) {
    registry.forget(states) { entities[Int($0.pointee.entity)].layout.rootIndex }
    for state in states { clear(state) }
  }

  /// Takes the context out of an object's state, after the registry has forgotten it.
  private func clear(_ state: UnsafeMutablePointer<_ModelState>) {
    state.pointee.object = nil
    state.pointee.clear(_ModelFlags.pending | _ModelFlags.slowRead)
    state.pointee.changes = PropertySet()
    state.pointee.set(_ModelFlags.missing)
    state.pointee.home = nil
  }

  // MARK: Single rows

  /// The object of a row without a registered object; nil if the row does not exist.
  func load(
    _ plan: EntityPlan, _ row: Int64, _ connection: StoreConnection
  ) throws -> (any PersistentModel)? {
    let statement = try connection.selection(of: plan)
    statement.bind(row, at: 1)
    defer { statement.rewind() }
    guard try statement.step() else { return nil }
    return try makeNew(plan, statement)
  }

  /// The object of a row that none is registered for.
  private func makeNew(
    _ plan: EntityPlan, _ statement: SQLiteStatement
  ) throws -> (any PersistentModel)? {
    // nil for a class that the schema lacks, of which another program has written a row.
    guard let plan = concretePlan(plan, statement) else { return nil }
    let row = statement.integer(0)
    let context = entities[plan.entity.index].rowContext
    context.row = row
    let model = plan.entity.type._$make(plan.reader(statement, context))
    if context.error != nil { try context.throwIfRejected() }
    plan.lists.read(into: model, from: statement)
    let state = adopt(model, entity: plan.entity, row: row)
    if !registry.registerNew(state, root: plan.entity.rootIndex) {
      // The model's initializer has fetched the row: the first object stays, unless it is going away.
      if let winner = registered(plan.entity, row: row) { return winner }
      registry.register(state, root: plan.entity.rootIndex, row: row)
    }
    return model
  }

  /// The object of a result's current row, new or registered.
  func makeObject(_ plan: EntityPlan, _ statement: SQLiteStatement) throws -> (any PersistentModel)?
  {
    let row = statement.integer(0)
    if let model = registered(plan.entity, row: row) {
      refresh(model, from: statement)
      return model
    }
    return try makeNew(plan, statement)
  }

  /// The plan of the row's own class.
  func concretePlan(_ plan: EntityPlan, _ statement: SQLiteStatement) -> EntityPlan? {
    guard plan.entity.discriminator != nil else { return plan }
    let entity = layout.entity(
      discriminator: Int(statement.integer(1)), root: plan.entity.rootIndex)
    return entity.map { entities[$0.index].lazyPlan.plan }
  }

  /// Gives an outdated, partial or empty object the values of a row.
  ///
  /// Invariant: a property with a pending change keeps it. Every other one gets the row's value, or keeps its own if
  /// the row's cannot be read.
  func refresh(_ model: any PersistentModel, from statement: SQLiteStatement) {
    let state = model._$statePointer
    guard state.pointee.has(_ModelFlags.fault | _ModelFlags.stale | _ModelFlags.partial) else {
      return
    }
    let plan = entities[Int(state.pointee.entity)].lazyPlan.plan
    let context = entities[plan.entity.index].rowContext
    context.row = state.pointee.rowID
    let changes =
      state.pointee.has(_ModelFlags.changed) ? state.pointee.changes : PropertySet()
    // Before reading: a value that cannot be read must not make each access read the row again.
    state.pointee.clear(_ModelFlags.fault | _ModelFlags.stale | _ModelFlags.partial)
    plan.lists.read(into: model, from: statement, excluding: changes)
    if changes.isEmpty {
      model._$reload(plan.reader(statement, context))
    } else {
      plan.withColumns(excluding: changes) { columns in
        model._$reload(
          _RowReader(
            statement: statement.pointer, columns: columns,
            context: Unmanaged.passUnretained(context)))
      }
    }
    do {
      try context.throwIfRejected()
    } catch {
      Report.problem(
        .rowUnreadable, subject: plan.entity.name,
        message: "A column does not hold a value of its property's type; the object keeps its own.",
        cause: error)
    }
  }

  // MARK: Results

  /// The objects of a result.
  func collect<T: PersistentModel>(_ statement: SQLiteStatement, _ plan: EntityPlan) throws -> [T] {
    if plan.entity.discriminator == nil {
      var result = FetchedObjects()
      try collectOneClass(T.self, statement, plan, into: &result)
      // Sound: arrays of class references have one layout, and `collectOneClass` appends objects of class `T` alone.
      return unsafeBitCast(result.objects, to: [T].self)
    }
    var result: [T] = []
    while try statement.step() {
      if let model = try makeObject(plan, statement) as? T { result.append(model) }
    }
    return result
  }

  /// Makes the objects of a result whose rows are all of one class, without a conversion or a look-up by type for
  /// each row.
  ///
  /// Invariant: each object is registered before this returns, or was replaced in the result by the registered object
  /// of its row. Registration takes a lock, and so is done for `registrationSize` objects at once. Until then
  /// `loaded` has the addresses of states that lie in objects, which the result keeps alive.
  ///
  /// If no object of the class is registered at the start, none is looked for: a row that is registered meanwhile
  /// shows as a conflict in `registerLoaded`.
  ///
  /// - Parameters:
  /// - mayRepeat: Whether a row can come twice, so that each is looked for among those registered.
  private func collectOneClass<T: PersistentModel, Result: ObjectCollector>(
    _ type: T.Type, _ statement: SQLiteStatement, _ plan: EntityPlan, mayRepeat: Bool = false,
    into result: inout Result
  ) throws {
    let entity = plan.entity
    let context = entities[entity.index].rowContext
    let reader = plan.reader(statement, context)
    // Asked once, not for each row: each look-up takes the registry's lock.
    let isFirst = !mayRepeat && registry.isEmpty(root: entity.rootIndex)
    var loaded: [UnsafeMutablePointer<_ModelState>] = []
    loaded.reserveCapacity(Self.registrationSize)
    while try statement.step() {
      result.beginRow(statement)
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
      let model = T._$make(reader)
      if let error = context.error {
        // The context is shared by all rows of the entity: the next row must not report this error.
        context.forgetRejections()
        try result.skipRow(error)
        continue
      }
      if !plan.lists.isEmpty { plan.lists.read(into: model, from: statement) }
      loaded.append(adopt(model, entity: entity, row: row))
      result.append(model)
      if loaded.count == Self.registrationSize { registerLoaded(&loaded, entity, &result) }
    }
    registerLoaded(&loaded, entity, &result)
  }

  /// Registers the objects made so far under one lock, and replaces those whose rows were registered meanwhile.
  ///
  /// A registered object may be going away, and then cannot be retained: the new one takes its entry.
  private func registerLoaded(
    _ loaded: inout [UnsafeMutablePointer<_ModelState>], _ entity: EntityLayout,
    _ result: inout some ObjectCollector
  ) {
    let conflicts = registry.registerNew(loaded) { _ in entity.rootIndex }
    // Only where a row came twice, or a model's initializer fetched it: the first object stays.
    for state in conflicts.map({ loaded[$0] }) {
      guard let object = state.pointee.object else { continue }
      if let winner = registry.object(root: entity.rootIndex, row: state.pointee.rowID) {
        // The one that was registered first, since the program may have it already.
        result.replace(object.takeUnretainedValue(), with: winner)
      } else {
        registry.register(state, root: entity.rootIndex, row: state.pointee.rowID)
      }
    }
    loaded.removeAll(keepingCapacity: true)
  }

  /// The objects of a result that has some of the columns.
  func collect<T: PersistentModel>(
    _ statement: SQLiteStatement, _ plan: EntityPlan, _ partial: PartialColumns
  ) throws -> [T] {
    let context = entities[plan.entity.index].rowContext
    var result: [T] = []
    while try statement.step() {
      let row = statement.integer(0)
      // Even if it is stale: this statement may lack columns, and a read of the object gets its whole row.
      if let model = registered(plan.entity, row: row) as? T {
        result.append(model)
        continue
      }
      context.row = row
      let model = T._$make(
        _RowReader(
          statement: statement.pointer, columns: partial.map, context: .passUnretained(context)))
      try context.throwIfRejected()
      partial.lists.read(into: model, from: statement)
      register(model, entity: plan.entity, row: row)
      model._$statePointer.pointee.makeExtra().loaded = partial.loaded
      model._$statePointer.pointee.set(_ModelFlags.partial)
      result.append(model)
    }
    return result
  }

  /// The objects of a result, in its order; the class of each is the row's own.
  ///
  /// - Parameter skipsUnreadable: Whether a row that cannot be read is left out.
  func collectAny(
    _ statement: SQLiteStatement, _ plan: EntityPlan, skipsUnreadable: Bool = false
  ) throws -> [any PersistentModel] {
    var result: [any PersistentModel] = []
    while try statement.step() {
      do {
        if let model = try makeObject(plan, statement) { result.append(model) }
      } catch let error as SwiftDataError where error == .unreadableValue && skipsUnreadable {
        continue
      }
    }
    return result
  }

  /// The destinations of to-many relationships by their owners' rows, in the relationships' order.
  func collectGroups(
    _ statement: SQLiteStatement, _ query: ToManyQuery
  ) throws -> OwnedObjects.Groups {
    let plan = query.plan
    var groups = OwnedObjects(query)
    guard plan.entity.discriminator == nil else {
      while try statement.step() {
        do {
          // The query tests the class of the rows. Typed arrays rely on that of objects, which another process's change of
          // a row, or a program's mistake, must not break.
          guard let model = try makeObject(plan, statement), plan.entity.includes(entity(of: model))
          else { continue }
          groups.beginRow(statement)
          groups.append(model)
        } catch let error as SwiftDataError where error == .unreadableValue {
          groups.beginRow(statement)
          groups.skipRow(error)
        }
      }
      return groups.finish()
    }
    func collect<T: PersistentModel>(_ type: T.Type) throws {
      try collectOneClass(type, statement, plan, mayRepeat: query.mayRepeat, into: &groups)
    }
    try collect(plan.entity.type)
    return groups.finish()
  }

  // MARK: Batches

  /// Remembers the rows of a fetch; the oldest one is forgotten.
  func remember(_ batch: OwnerBatch) {
    if batches.count >= Self.batchLimit { batches.removeFirst() }
    batches.append(batch)
  }

  /// Forgets the rows of all fetches. A relationship that is loaded afterwards is loaded for its own object alone.
  func forgetBatches() { batches = [] }

  /// The rows that were fetched together with one, and those that followed it.
  func companions(_ root: Int, _ row: Int64) -> ArraySlice<Int64>? {
    // The latest first: it is the fetch whose objects the program most likely uses now.
    for batch in batches.reversed() where batch.root == root {
      if let companions = batch.companions(of: row) { return companions }
    }
    return nil
  }
}

// MARK: - Registered objects

/// Fetches registered objects again: reads the rows' numbers first, and then only the missing rows. Reading a number
/// takes a small part of the time of reading ten columns.
extension ObjectLoader {
  /// With fewer registered objects than this, a fetch reads rows immediately.
  private static let worthwhileCount = 128
  /// How many rows are looked for under one lock.
  private static let batchSize = 256
  /// A fetch stops reading numbers, and reads rows, once one of this many is missing.
  private static let missingShare = 5

  /// Whether a fetch of all rows of a class should read their numbers first: enough objects are registered, and all
  /// rows are of one class.
  func mayCollectRegistered(_ plan: EntityPlan) -> Bool {
    plan.entity.discriminator == nil
      && registry.count(root: plan.entity.rootIndex) >= Self.worthwhileCount
  }

  /// The objects of the rows whose numbers a statement returns; nil if too many are not registered.
  ///
  /// Invariant: the result has the statement's order. The place of a missing object is held by the loader itself
  /// until `fill` has read its row.
  ///
  /// - Parameter connection: Where the missing rows are read, in the statement's snapshot.
  func collectRegistered<T: PersistentModel>(
    _ numbers: SQLiteStatement, _ plan: EntityPlan, _ connection: StoreConnection
  ) throws -> [T]? {
    let root = plan.entity.rootIndex
    var result: [AnyObject] = []
    var missing: [(place: Int, row: Int64)] = []
    var rows: [Int64] = []
    rows.reserveCapacity(Self.batchSize)
    var isDone = false
    while !isDone {
      rows.removeAll(keepingCapacity: true)
      while rows.count < Self.batchSize {
        guard try numbers.step() else {
          isDone = true
          break
        }
        rows.append(numbers.integer(0))
      }
      let start = result.count
      for place in registry.append(rows, root: root, to: &result, orElse: self) {
        missing.append((start + place, rows[place]))
      }
      if missing.count * Self.missingShare > max(result.count, Self.worthwhileCount) { return nil }
    }
    if !missing.isEmpty, try !fill(missing, in: &result, plan, connection) { return nil }
    // Sound, since `fill` has replaced the last stand-in: all elements are objects of the plan's one class.
    return unsafeBitCast(result, to: [T].self)
  }

  /// Puts the objects of missing rows in their places; returns whether all of them exist.
  private func fill(
    _ missing: [(place: Int, row: Int64)], in result: inout [AnyObject], _ plan: EntityPlan,
    _ connection: StoreConnection
  ) throws -> Bool {
    let statement = try connection.statement(plan.selectionOfRows)
    statement.reset()
    defer { statement.reset() }
    statement.bind(.text(missing.map { Int($0.row) }.jsonText), at: 1)
    var found: [Int64: AnyObject] = [:]
    while try statement.step() {
      guard let model = try makeObject(plan, statement) else { continue }
      found[statement.integer(0)] = model
    }
    for (place, row) in missing {
      // The loader must not stay in the result, which is a typed array: the caller reads the rows then.
      guard let model = found[row] else { return false }
      result[place] = model
    }
    return true
  }
}
