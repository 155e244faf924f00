import Foundation

/// The engine of one context: its registered objects, its pending changes, and the way to the rows.
///
/// Objects hold the engine, not the context, so that an object outliving its context can still load
/// what it refers to. Used by one thread at a time, as its context is.
@usableFromInline final class ObjectGraph {
  let container: ModelContainer
  let layout: StoreLayout
  /// The stores by entity index.
  let stores: [RecordStore]
  /// The plans by entity index.
  let plans: [EntityPlan]
  let registry: ObjectRegistry
  let inbox: ChangeInbox
  weak var context: ModelContext?

  var observesModels = true
  var author: String?
  var undoManager: UndoManager? {
    didSet { recordsUndo = undoManager != nil }
  }
  @usableFromInline private(set) var recordsUndo = false

  // Pending changes, each in the order in which they were made. A model is in a list while it has the
  // list's flag; entries whose flag is gone are dropped by the next `pending` call.
  var inserted: [any PersistentModel] = []
  var changed: [any PersistentModel] = []
  var deleted: [any PersistentModel] = []
  /// Deletions whose delete rules were not applied yet.
  var undigested: [any PersistentModel] = []
  var pairs: [PairChange] = []
  /// To-many relationships whose order must be written: owners and property indices.
  var reordered: [(owner: any PersistentModel, index: Int)] = []
  /// Rows whose place in their old owner's order must be cleared.
  var clearedOrders: [(model: any PersistentModel, index: Int)] = []
  var membership: Membership?
  /// The hierarchies that have pending changes, by their roots; may name some that have none left.
  private(set) var pendingRoots: Set<Int> = []
  private var lastPendingRoot = -1
  /// The entity that was last asked for by type, and by identifier.
  private var lastInserted: EntityLayout?
  private var lastIdentified: EntityPlan?

  /// The hierarchies whose objects can hold others.
  private let rootsWithRelationships: Set<Int>
  /// The entities' traits by their index.
  let traits: [EntityTraits]

  /// The rows of the latest fetches, so that relationships load for all of them at once.
  var batches: [OwnerBatch] = []
  var rowContexts: [RowContext]
  /// The number of registered objects at which the next fetch lets go of relationship caches.
  var cacheLimit = ObjectGraph.smallestCacheLimit
  /// Below this number of objects relationship caches are never dropped.
  static let smallestCacheLimit = 20_000
  /// How many fetches are remembered for loading relationships together.
  static let batchLimit = 8
  var isAutosaveScheduled = false
  var autosaves = false
  var isSaving = false
  /// What is called after changes, until it returns false.
  var followers: [(Set<String>?) -> Bool] = []
  var isTellingFollowers = false

  init(container: ModelContainer) {
    self.container = container
    layout = container.layout
    stores = container.storeByEntity
    plans = container.planByEntity
    registry = ObjectRegistry(entityCount: layout.entities.count)
    traits = layout.entities.map { EntityTraits($0) }
    rootsWithRelationships = Set(
      layout.entities.filter { !$0.relationships.isEmpty }.map(\.rootIndex))
    inbox = ChangeInbox(registry: registry)
    rowContexts = zip(layout.entities, stores).map { RowContext(entity: $0, blobs: $1.blobs) }
    container.exchange.add(inbox)
  }

  var hasChanges: Bool {
    inserted.contains { $0.has(_ModelFlags.inserted) }
      || changed.contains { $0.has(_ModelFlags.changed) }
      || deleted.contains { $0.has(_ModelFlags.deleted) }
  }

  func entity(of model: any PersistentModel) -> EntityLayout {
    layout.entities[Int(model._$statePointer.pointee.entity)]
  }

  /// The names that an object's identifier carries.
  func reference<M: PersistentModel>(entity: Int, of model: M) -> EntityReference {
    let row = model._$statePointer.pointee.rowID
    guard entity >= 0, row > 0 else {
      return .temporary(Schema.entityName(for: M.self))
    }
    return plans[entity].reference
  }

  /// The entity of a class; nil when it is not in the schema.
  func entity(for type: any PersistentModel.Type) -> EntityLayout? {
    if let lastInserted, lastInserted.type == type { return lastInserted }
    lastInserted = layout.entity(for: type)
    return lastInserted
  }

  /// The entity of an identifier of this container's stores, by the identity of its names.
  func entity(of identifier: PersistentIdentifier) -> EntityLayout? {
    if let lastIdentified, lastIdentified.reference === identifier.id.reference {
      return lastIdentified.entity
    }
    guard let entity = layout.entity(named: identifier.entityName),
      plans[entity.index].reference === identifier.id.reference
    else { return nil }
    lastIdentified = plans[entity.index]
    return entity
  }

  func notePending(_ model: any PersistentModel) {
    let root = traits[Int(model._$statePointer.pointee.entity)].root
    if root == lastPendingRoot { return }
    lastPendingRoot = root
    pendingRoots.insert(root)
  }

  func forgetPendingRoots() {
    pendingRoots.removeAll()
    lastPendingRoot = -1
  }

  // MARK: Objects

  /// The registered object of a row.
  func registered(_ entity: EntityLayout, row: Int64) -> (any PersistentModel)? {
    registry.object(root: entity.rootIndex, row: row).map {
      layout.entities[entity.rootIndex].model($0)
    }
  }

  func register(_ model: any PersistentModel, entity: EntityLayout, row: Int64) {
    registry.register(adopt(model, entity: entity, row: row), root: entity.rootIndex, row: row)
  }

  /// Makes an object the context's, short of registering it.
  @inline(__always)
  func adopt<M: PersistentModel>(
    _ model: M, entity: EntityLayout, row: Int64
  ) -> UnsafeMutablePointer<_ModelState> {
    let state = model._$statePointer
    state.pointee.entity = Int32(entity.index)
    state.pointee.rowID = row
    state.pointee.graph = self
    state.pointee.object = Unmanaged.passUnretained(model)
    if !observesModels { state.pointee.clear(_ModelFlags.observed) }
    return state
  }

  /// Takes an object out of the context; it keeps its values.
  func release(_ model: any PersistentModel) {
    let state = model._$statePointer
    if let object = state.pointee.object {
      registry.forget(
        object, root: traits[Int(state.pointee.entity)].root, row: state.pointee.rowID)
    }
    state.pointee.object = nil
    state.pointee.clear(_ModelFlags.pending | _ModelFlags.slowRead)
    state.pointee.set(_ModelFlags.missing)
    state.pointee.graph = nil
  }

  /// The object of a row, loaded when it is not registered; nil when there is no such row.
  func object(_ entity: EntityLayout, row: Int64) throws -> (any PersistentModel)? {
    if let model = registered(entity, row: row) { return model }
    let plan = plans[entity.index]
    let store = stores[entity.index]
    if let model = try store.read(fresh: false, { try load(plan, row, $0) }) { return model }
    // Another process may have written the row after the snapshot was taken.
    return try store.read { try load(plan, row, $0) }
  }

  private func load(
    _ plan: EntityPlan, _ row: Int64, _ connection: Connection
  ) throws -> (any PersistentModel)? {
    let statement = try connection.selection(of: plan)
    statement.bind(row, at: 1)
    defer { statement.rewind() }
    guard try statement.step() else { return nil }
    guard let plan = concretePlan(plan, statement) else { return nil }
    return try makeNew(plan, statement, row)
  }

  /// The object of a result's current row, new or registered.
  func makeObject(_ plan: EntityPlan, _ statement: Statement) throws -> (any PersistentModel)? {
    let row = statement.integer(0)
    if let model = registered(plan.entity, row: row) {
      refresh(model, from: statement)
      return model
    }
    guard let plan = concretePlan(plan, statement) else { return nil }
    return try makeNew(plan, statement, row)
  }

  private func makeNew(
    _ plan: EntityPlan, _ statement: Statement, _ row: Int64
  ) throws -> any PersistentModel {
    let entity = plan.entity
    let context = rowContexts[entity.index]
    context.row = row
    let model = entity.type.init(_row: plan.reader(statement, context))
    if context.error != nil { try context.throwIfRejected() }
    register(model, entity: entity, row: row)
    return model
  }

  /// The plan of the row's own class.
  func concretePlan(_ plan: EntityPlan, _ statement: Statement) -> EntityPlan? {
    guard plan.entity.discriminator != nil else { return plan }
    let entity = layout.entity(
      discriminator: Int(statement.integer(1)), root: plan.entity.rootIndex)
    return entity.map { plans[$0.index] }
  }

  /// Gives an outdated or empty object the values of a row; pending changes are kept.
  func refresh(_ model: any PersistentModel, from statement: Statement) {
    let state = model._$statePointer
    guard state.pointee.has(_ModelFlags.fault | _ModelFlags.stale | _ModelFlags.partial) else {
      return
    }
    let plan = plans[Int(state.pointee.entity)]
    let context = rowContexts[plan.entity.index]
    context.row = state.pointee.rowID
    let changes =
      state.pointee.has(_ModelFlags.changed) ? state.pointee.changes : 0
    state.pointee.clear(_ModelFlags.fault | _ModelFlags.stale | _ModelFlags.partial)
    if changes == 0 {
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
      Report.problem("\(error)")
    }
  }

  /// Reads an object's row again; an object whose row is gone keeps its values.
  func reload(_ model: any PersistentModel) {
    let state = model._$statePointer
    guard state.pointee.rowID > 0 else {
      state.pointee.clear(_ModelFlags.fault | _ModelFlags.stale | _ModelFlags.partial)
      return
    }
    let plan = plans[Int(state.pointee.entity)]
    do {
      let found = try stores[plan.entity.index].read(fresh: false) { connection in
        let statement = try connection.selection(of: plan)
        statement.bind(state.pointee.rowID, at: 1)
        defer { statement.rewind() }
        guard try statement.step() else { return false }
        refresh(model, from: statement)
        return true
      }
      if !found { release(model) }
    } catch {
      Report.problem("\(model.persistentModelID) cannot be read: \(error)")
      state.pointee.clear(_ModelFlags.fault | _ModelFlags.stale | _ModelFlags.partial)
    }
  }

  // MARK: Memory

  /// Lets go of what clean objects hold of each other, so that only what the program holds stays.
  func dropCaches() {
    for root in layout.entities where rootsWithRelationships.contains(root.index) {
      for object in registry.all(root: root.index) {
        let model = root.model(object)
        guard !model.has(_ModelFlags.pending) else { continue }
        for index in entity(of: model).relationships { dropCache(of: model, at: index) }
      }
    }
    cacheLimit = max(Self.smallestCacheLimit, registry.count * 2)
  }

  func dropCache(of model: any PersistentModel, at index: Int) {
    switch model.content(at: index) {
    case .toOne(.model(let target)):
      let row = target._$statePointer.pointee.rowID
      if row > 0 { model.setContent(.toOne(.row(row)), at: index) }
    case .toMany(let targets):
      let isPending = targets.loaded?.contains {
        ($0 as? any PersistentModel)?.has(_ModelFlags.pending) ?? false
      }
      if isPending == false, targets.delta == nil {
        model.setContent(.toMany(_Targets()), at: index)
      }
    default: break
    }
  }

  func dropCachesWhenMany() {
    if registry.count > cacheLimit { dropCaches() }
  }

  func remember(_ batch: OwnerBatch) {
    if batches.count >= Self.batchLimit { batches.removeFirst() }
    batches.append(batch)
  }
}

/// The rows of one fetch.
final class OwnerBatch {
  /// How many owners' relationships are loaded at once.
  static let size = 1_000

  let root: Int
  private let rows: [Int64]
  private lazy var places: [Int64: Int] = Dictionary(
    zip(rows, rows.indices)
  ) { first, _ in first }

  init(root: Int, rows: [Int64]) {
    self.root = root
    self.rows = rows
  }

  /// The rows to load together with this one: those that follow it.
  func companions(of row: Int64) -> ArraySlice<Int64>? {
    guard let place = places[row] else { return nil }
    if rows.count <= Self.size { return rows[...] }
    return rows[place..<min(rows.count, place + Self.size)]
  }
}

/// A row of a join table to be inserted or deleted.
struct PairChange {
  let table: JoinTable
  let store: Int
  let owner: any PersistentModel
  let target: any PersistentModel
  let isAdded: Bool
}

/// The members of the to-many relationship that was last appended to, for quick repeats.
struct Membership {
  let owner: ObjectIdentifier
  let index: Int
  var members: Set<ObjectIdentifier>
}

extension PersistentModel {
  func has(_ mask: UInt32) -> Bool { _$statePointer.pointee.has(mask) }
}
