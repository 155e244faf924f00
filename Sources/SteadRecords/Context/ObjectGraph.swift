import Foundation
import SteadSQLite

/// The engine of one context: owns its parts, and orders their calls.
///
/// Objects hold the engine, not the context, so that an object that outlives its context can still load its
/// destinations. Used by one thread at a time, as its context is.
///
/// Invariants, between two calls of the program:
///
/// - Both sides of a relationship agree, for all objects that are registered here or new. The exception is a pair of
///   which this context and another one have each changed one side: it lasts until the next save, and `hasNews` is
///   true as long as one may exist.
/// - An object's flags say in which lists of `pending` it is.
/// - A row has at most one object here.
/// - Each object has at least the commit of its store whose number `inbox` has. Other contexts' commits are applied
///   at a fetch, a save, a deletion by predicate, `rollback()`, `processPendingChanges()`, the start of a
///   `transaction`, and in a turn, and at no other moment: an object does not change between two statements of the
///   program.
final class ObjectGraph: ModelHome {
  private let storeSet: StoreSet
  /// The container; nil for the main context, which the container holds.
  private let heldContainer: ModelContainer?
  var container: ModelContainer { heldContainer ?? storeSet.container }
  let layout: StoreLayout
  let stores: [RecordStore]
  /// The place in `stores` of each entity's store.
  let storeIndex: [Int]
  let plans: EntityPlans
  let traits: [EntityTraits]
  /// Whether a class of the hierarchy has relationships, by its root.
  private let rootsWithRelationships: Set<Int>
  private(set) var loader: ObjectLoader!
  var pending = PendingChanges()
  var inbox: CommitInbox
  // Looked at several times in each change of a property, which a check of exclusive access would double.
  @exclusivity(unchecked) var undo = UndoRecorder() {
    didSet { recordsUndo = undo.manager != nil || autosaveFailed }
  }
  /// The members of the list that was last added to, so that n additions cost n look-ups in a set.
  ///
  /// It has addresses, which are reused once an object is freed. So it is dropped when a side changes in another way
  /// than by one addition, when commits are applied, and where the owner is not pending, since only a pending owner
  /// keeps its members alive.
  @exclusivity(unchecked) var membership: Membership?
  /// The relationship that was last set to the value it held.
  @exclusivity(unchecked) var unchanged = Unchanged()
  weak var context: ModelContext?
  /// The main context while it has unsaved changes, so that its turn still saves them when nobody else holds it.
  private var heldContext: ModelContext?
  var author: String?
  var autosaves = false
  var isSaving = false
  let saveLock = SaveLock()
  /// Whether the last autosave failed, so that each change may have mended the cause.
  var autosaveFailed = false {
    // A change of a property that is marked as changed already is reported by `valueWillChange` alone, which is only
    // called while `recordsUndo` is true.
    didSet { recordsUndo = undo.manager != nil || autosaveFailed }
  }
  /// The stores whose write lock a `transaction(block:)` holds; nil outside.
  var heldStores: [Int]?
  /// Whether the block is done, so that the next save ends the transaction.
  var isLastSave = false
  /// The connection that reads while other contexts' commits are applied, and its store's place.
  var reading: (store: Int, connection: StoreConnection)?
  /// Whether a save leaves existing rows unchanged that have the unique values of new objects; the new objects then
  /// stand for these rows.
  var keepsUniqueRows = false
  /// Whether other contexts have committed since the last save.
  var hasNews = false
  var incompleteLists = IncompleteLists()
  let followers = Followers()
  /// The new objects that were merged into others with their unique keys since the last save, each with the other one.
  var merged: [DuplicateFinder.Pair] = []
  /// Whether any object stands for another one. Most contexts have none, and need not look at each destination.
  var hasStandIns = false
  /// The state before the merges of the save under way, which a failure restores; nil if nothing was merged.
  var mergeRecord: MergeRecord?
  /// Parallel to `stores`: nil where the store is SQLite. Empty if the container has no custom store.
  let customStores: [CustomStore?]
  /// The temporary numbers that a save's new objects have in their context, by the rows that it has written for them
  /// so far; nil except in an engine that reads these rows for a custom store (`CustomSave`).
  var temporaryRows: [Int64: Int64]?
  /// Identifies the context to custom stores. Made when one asks: a UUID costs a read of `/dev/urandom`.
  private lazy var editingID = UUID()
  /// Stamps the edits: later than all commits that this context has applied.
  var clock = EditClock()
  /// Links that initializers gave to objects of this context, and whose owners are not inserted yet.
  private var firstLinks = FirstLinks()
  /// The results of the last look-up of an entity by type and by identifier. Most look-ups are for the class of the
  /// one before.
  private var lastInserted: EntityLayout?
  private var lastIdentified: EntityPlan?
  /// The number of registered objects at which the next fetch drops relationship caches.
  private var cacheLimit = ObjectGraph.smallestCacheLimit
  /// Below this number of objects relationship caches are never dropped.
  static let smallestCacheLimit = 20_000

  init(container: ModelContainer, isMain: Bool = false) {
    storeSet = container.storeSet
    heldContainer = isMain ? nil : container
    layout = container.layout
    stores = container.stores
    customStores = container.customStores
    plans = container.planByEntity
    storeIndex = container.storeByEntity.map { store in
      container.stores.firstIndex { $0 === store } ?? 0
    }
    let layout = container.layout
    traits = layout.entities.map { EntityTraits($0, in: layout) }
    rootsWithRelationships = Set(traits.filter(\.hasRelationships).map(\.root))
    inbox = CommitInbox(container.stores)
    super.init()
    loader = ObjectLoader(layout, plans, container.storeByEntity, home: self)
  }

  deinit { inbox.leave() }

  func store(of entity: EntityLayout) -> RecordStore { stores[storeIndex[entity.index]] }

  /// The custom store that holds an entity; nil for a store of this library.
  func customStore(of entity: EntityLayout) -> CustomStore? {
    customStores.isEmpty ? nil : customStores[storeIndex[entity.index]]
  }

  var editingState: EditingState { EditingState(id: editingID, author: author) }

  // MARK: Entities

  func entity(of model: any PersistentModel) -> EntityLayout {
    layout.entities[Int(model._$statePointer.pointee.entity)]
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

  override func identifier(entity: Int, row: Int64) -> PersistentIdentifier? {
    guard entity >= 0, row > 0 else { return nil }
    // A custom store must see the identifier that the program's object has until the save ends: by it, it returns the
    // permanent one.
    if let temporaryRows, let temporary = temporaryRows[row] {
      return PersistentIdentifier(
        reference: .temporary(layout.entities[entity].name), row: temporary)
    }
    return PersistentIdentifier(reference: plans[entity].reference, row: row)
  }

  override func forget(_ object: Unmanaged<AnyObject>, entity: Int, row: Int64) {
    loader.registry.forget(object, root: traits[entity].root, row: row)
  }

  // What objects ask for; a class can override in its own body only.

  override func didUse(_ model: any PersistentModel, at index: Int, isRead: Bool) {
    let entity = entity(of: model)
    if isRead { entity.reads?.record(index) }
    guard entity.properties[index].isForeign else { return }
    let error = Misuses.use(ofForeign: entity.properties[index], of: entity, layout)
    Report.problem(.unknownModel, subject: entity.name, message: error.message)
    pending.misuses.append(.init(error: error))
  }

  override func valueWillChange(of model: any PersistentModel, at index: Int) {
    // The turn comes after the change.
    if autosaveFailed { didChangePending() }
    willChange(model, at: index)
  }

  override func renew(_ model: any PersistentModel) { reload(model) }

  override func destination(
    _ row: Int64, of owner: any PersistentModel, _ index: Int
  ) -> AnyObject? { resolve(row, owner, index) }

  override func destinations(of owner: any PersistentModel, _ index: Int) -> [AnyObject] {
    loadToMany(owner, index)
  }

  override func referenceDidChange(
    of owner: any PersistentModel, _ index: Int, _ old: _Target, _ new: (any PersistentModel)?
  ) { didSetToOne(owner, index, old, new) }

  override func membersDidChange(
    of owner: any PersistentModel, _ index: Int, _ old: _Targets
  ) { didSetToMany(owner, index, old) }

  override func membersDidModify(
    of owner: any PersistentModel, _ index: Int, _ targets: UnsafeMutablePointer<_Targets>,
    _ new: [AnyObject]
  ) -> Bool { didModifyToMany(owner, index, targets, new) }

  override func adoptOwner(
    _ model: any PersistentModel, of index: Int, _ old: _SlotContent
  ) { adopt(model, becauseOf: index, old) }

  override func newestColumn(of owner: any PersistentModel, _ index: Int) throws -> SQLValue? {
    let entity = entity(of: owner)
    guard let column = entity.properties[index].column else { return nil }
    return try stores[storeIndex[entity.index]].read(.newest) { connection, _ in
      try connection.rows(
        "SELECT \(column.sqlName) FROM \(entity.table.sqlName) WHERE \"_id\" = ?1",
        [.integer(owner._$statePointer.pointee.rowID)]
      ).first?.first
    }
  }

  override func keep(_ link: FirstLink) {
    firstLinks.append(link)
    didChangePending()
  }

  /// Makes the links that initializers gave to objects of this context, which inserts the links' owners.
  ///
  /// Called before anything that asks for the context's objects or changes: an owner that is not inserted yet would
  /// be missing there.
  func makeFirstLinks() {
    if firstLinks.isEmpty { return }
    for link in firstLinks.takeAll() { link.make() }
  }

  func registered(_ entity: EntityLayout, row: Int64) -> (any PersistentModel)? {
    loader.registered(entity, row: row)
  }

  // MARK: Pending changes

  /// Whether an object is in this context: new, registered, or deleted and not saved.
  func isHere(_ model: any PersistentModel) -> Bool {
    model._$statePointer.pointee.home === self
  }

  override func didChange(_ model: any PersistentModel, at index: Int) {
    if !unchanged.takes(model, index) { markChanged(model, at: index) }
  }

  /// Whether an object with pending changes may have relationships, which a save then examines.
  var concernsRelationships: Bool { !pending.roots.isDisjoint(with: rootsWithRelationships) }

  /// Records a change of one property for the next save.
  ///
  /// Invariant: a stored object is in `pending`'s list of changed objects if, and only if, a property that a save
  /// writes was changed. A change of ephemeral properties alone makes no object pending.
  func markChanged(_ model: any PersistentModel, at index: Int) {
    let state = model._$statePointer
    guard state.pointee.markChanged(index) || !state.pointee.has(_ModelFlags.changed) else {
      if autosaveFailed { didChangePending() }
      return
    }
    let traits = traits[Int(state.pointee.entity)]
    if !state.pointee.has(_ModelFlags.inserted | _ModelFlags.changed) {
      if traits.ephemeral.contains(index) { return }
      pending.add(model, to: .changed, root: traits.root, at: clock.next())
    } else {
      pending.note(traits.root)
    }
    didChangePending()
  }

  /// Called after each change: plans an autosave.
  func didChangePending() {
    guard autosaves else { return }
    inbox.listener.schedule()
    if heldContainer == nil, heldContext == nil, pending.hasChanges || !firstLinks.isEmpty {
      heldContext = context
    }
  }

  /// Lets the main context go: its changes are saved or taken back, or its turn was taken. By a save and a turn with the
  /// save lock.
  func releaseContext() { heldContext = nil }

  // MARK: Memory

  /// Drops the references of clean objects to each other, so that only what the program holds stays.
  ///
  /// Two objects that refer to each other are never freed otherwise. Pending objects are left alone: what they refer
  /// to is not in the store yet, and their members must stay alive until they are saved.
  ///
  /// Costs a look at each relationship of each registered object. `dropCachesWhenMany` thus doubles the limit each
  /// time, which makes that constant for each object that is loaded.
  func dropCaches() {
    for root in rootsWithRelationships {
      let entity = layout.entities[root]
      for object in loader.registry.all(root: root) {
        let model = entity.model(object)
        guard !model.has(_ModelFlags.pending) else { continue }
        for index in self.entity(of: model).relationships { dropCache(of: model, at: index) }
      }
    }
    cacheLimit = max(Self.smallestCacheLimit, loader.registry.count * 2)
  }

  /// Replaces a loaded destination by its row's number, and forgets a loaded list. Keeps what could not be loaded
  /// again: a destination without a row, and a list with changes for the next save.
  func dropCache(of model: any PersistentModel, at index: Int) {
    switch model.content(at: index) {
    case .toOne(.model(let target)):
      let row = target._$statePointer.pointee.rowID
      if row > 0 { model.setContent(.toOne(.row(row)), at: index) }
    case .toMany(let targets):
      if targets.delta == nil { model.setContent(.toMany(_Targets()), at: index) }
    default: break
    }
  }

  /// Drops relationship caches if the number of registered objects has doubled since the last time.
  func dropCachesWhenMany() {
    if loader.registry.count > cacheLimit { dropCaches() }
  }

  /// Drops everything when the context ends; objects still held keep their values.
  ///
  /// New objects leave. Changed and deleted ones lose their pending changes only: they keep their home, through which
  /// they still load relationships.
  func abandon() {
    firstLinks = FirstLinks()
    membership = nil
    merged = []
    for model in pending.models(.inserted) { leave(model) }
    for kind in [PendingChanges.Kind.changed, .deleted] {
      for model in pending.models(kind) { settle(model) }
    }
    pending.removeAll()
    dropCaches()
    loader.forgetBatches()
    undo = UndoRecorder()
  }

  /// Makes a changed object a clean one whose relationships keep no changes.
  ///
  /// Loaded lists stay loaded without their deltas: a later load would apply a delta to rows that have its changes
  /// already, or, after a rollback, must not get them.
  func settle(_ model: any PersistentModel) {
    pending.remove(model)
    guard traits[Int(model._$statePointer.pointee.entity)].hasRelationships else { return }
    for index in entity(of: model).relationships {
      if case .toMany(let targets) = model.content(at: index), targets.delta != nil {
        model.setContent(.toMany(_Targets(loaded: targets.loaded)), at: index)
      }
    }
  }

  /// Takes an object that was never saved out of the context; it keeps its attributes.
  func leave(_ model: any PersistentModel) {
    // First: settling looks the object's entity up in its context, and drops the changes of its relationships.
    settle(model)
    let state = model._$statePointer
    state.pointee.set(_ModelFlags.missing)
    state.pointee.home = nil
  }
}

extension _ModelState {
  /// The context's engine; nil before insertion and after deletion.
  var graph: ObjectGraph? {
    // The engine is the only subclass, and the class itself is never made.
    home.map { unsafeDowncast($0, to: ObjectGraph.self) }
  }
}

extension PersistentModel {
  /// The context that the object belongs to; nil before insertion, after the deletion was saved, and if the context was
  /// released.
  ///
  /// An object that outlives its context keeps its values and can still load its relationships, but nothing saves its
  /// changes.
  public var modelContext: ModelContext? {
    if let successor { return successor.modelContext }
    return _$statePointer.pointee.graph?.context
  }
}

/// A relationship that was set to the value it held, which isn't a change.
struct Unchanged {
  private var place: (model: ObjectIdentifier, index: Int)?

  mutating func note(_ model: any PersistentModel, _ index: Int) {
    place = (ObjectIdentifier(model), index)
  }

  /// Whether the next change is that of the noted relationship.
  mutating func takes(_ model: any PersistentModel, _ index: Int) -> Bool {
    guard let place else { return false }
    self.place = nil
    return place.model == ObjectIdentifier(model) && place.index == index
  }
}
