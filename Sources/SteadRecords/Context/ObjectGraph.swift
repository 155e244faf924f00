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
///   which this context and another one have each changed one side: it lasts until the next save, and `commits.hasNews` is
///   true as long as one may exist.
/// - An object's flags say in which lists of `pending` it is.
/// - A row has at most one object here.
/// - Each object has at least the commit of its store whose number `commits.inbox` has. Other contexts' commits are applied
///   at a fetch, a save, a deletion by predicate, `rollback()`, `processPendingChanges()`, the start of a
///   `transaction`, and in a turn, and at no other moment: an object does not change between two statements of the
///   program.
final class ObjectGraph: ModelHome {
  let layout: StoreLayout
  /// The entities by their index, which the state of each object has.
  let entities: [ContextEntity]
  /// The container's stores, in the order of their locks.
  let stores: [RecordStore]
  /// Parallel to `stores`: nil where the store is SQLite. Empty if the container has no custom store.
  let customStores: [CustomStore?]
  private var owners: Owners
  private var lookup = EntityLookup()
  var pending = PendingChanges()
  // Implicitly unwrapped: each refers to this object, and so is made at the end of its initializer.
  private(set) var loader: ObjectLoader!
  private(set) var reader: RelationshipReader!
  private(set) var editor: RelationshipEditor!
  private(set) var undo: UndoRecorder!
  private(set) var merger: DuplicateMerger!
  private(set) var commits: CommitApplier!
  private(set) var saver: Saver!

  init(container: ModelContainer, isMain: Bool = false) {
    let storeSet = container.storeSet
    (layout, stores, customStores) = (storeSet.layout, storeSet.stores, storeSet.customStores)
    entities = storeSet.contextEntities()
    owners = Owners(container, isMain: isMain)
    super.init()
    loader = ObjectLoader(layout, entities, home: self)
    (undo, editor, reader) = (
      UndoRecorder(self), RelationshipEditor(self), RelationshipReader(self)
    )
    (merger, commits, saver) = (DuplicateMerger(self), CommitApplier(self), Saver(self))
  }

  // The logs count their contexts: as long as there is one alone, commits need not name their rows.
  deinit { commits.inbox.leave() }

  /// The store that holds an entity; the mirror if that is a custom store.
  func store(of entity: EntityLayout) -> RecordStore { stores[entities[entity.index].storeIndex] }

  /// The custom store that holds an entity; nil for a store of this library.
  func customStore(of entity: EntityLayout) -> CustomStore? {
    customStores.isEmpty ? nil : customStores[entities[entity.index].storeIndex]
  }

  // MARK: Context and container

  /// The container. The main context does not hold it, and gets another one with the same open stores once the program
  /// has released it.
  var container: ModelContainer { owners.container }
  /// The context; nil once it was released, while objects still hold this engine.
  var context: ModelContext? {
    get { owners.context }
    set { owners.context = newValue }
  }
  /// Who makes the changes, for custom stores and the history.
  var author: String? {
    get { owners.author }
    set { owners.author = newValue }
  }
  var editingState: EditingState { owners.editingState }

  // MARK: Entities

  /// The entity of an object of this context. Costs an access to an array: the object's state has the index.
  func entity(of model: any PersistentModel) -> EntityLayout {
    entities[Int(model._$statePointer.pointee.entity)].layout
  }

  /// The entity of a class; nil when it is not in the schema.
  func entity(for type: any PersistentModel.Type) -> EntityLayout? {
    lookup.entity(for: type, in: layout)
  }

  /// The entity of an identifier of this container's stores, by the identity of its names.
  func entity(of identifier: PersistentIdentifier) -> EntityLayout? {
    lookup.entity(of: identifier, in: layout, entities)
  }

  override func identifier(entity: Int, row: Int64) -> PersistentIdentifier? {
    guard entity >= 0, row > 0 else { return nil }
    // A custom store must see the identifier that the program's object has until the save ends: by it, it returns the
    // permanent one.
    if let temporary = reader.temporaryRows?[row] {
      return PersistentIdentifier(
        reference: .temporary(layout.entities[entity].name), row: temporary)
    }
    return PersistentIdentifier(reference: entities[entity].lazyPlan.plan.reference, row: row)
  }

  override func forget(_ object: Unmanaged<AnyObject>, entity: Int, row: Int64) {
    loader.registry.forget(object, root: entities[entity].layout.rootIndex, row: row)
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
    if saver.autosaveFailed { didChangePending() }
    undo.willChange(model, at: index)
  }

  override func renew(_ model: any PersistentModel) { reader.reload(model) }

  override func destination(
    _ row: Int64, of owner: any PersistentModel, _ index: Int
  ) -> AnyObject? { reader.resolve(row, owner, index) }

  override func destinations(of owner: any PersistentModel, _ index: Int) -> [AnyObject] {
    reader.loadToMany(owner, index)
  }

  override func referenceDidChange(
    of owner: any PersistentModel, _ index: Int, _ old: _Target, _ new: (any PersistentModel)?
  ) { editor.didSetToOne(owner, index, old, new) }

  override func membersDidChange(
    of owner: any PersistentModel, _ index: Int, _ old: _Targets
  ) { editor.didSetToMany(owner, index, old) }

  override func membersDidModify(
    of owner: any PersistentModel, _ index: Int, _ targets: UnsafeMutablePointer<_Targets>,
    _ new: [AnyObject]
  ) -> Bool { editor.didModifyToMany(owner, index, targets, new) }

  override func adoptOwner(
    _ model: any PersistentModel, of index: Int, _ old: _SlotContent
  ) { editor.adopt(model, becauseOf: index, old) }

  override func newestColumn(of owner: any PersistentModel, _ index: Int) throws -> SQLValue? {
    let entity = entity(of: owner)
    guard let column = entity.properties[index].column else { return nil }
    // Not the shared snapshot, which may be older than the replacement that the caller asks about.
    return try stores[entities[entity.index].storeIndex].read(.newest) { connection, _ in
      try connection.rows(
        "SELECT \(column.sqlName) FROM \(entity.table.sqlName) WHERE \"_id\" = ?1",
        [.integer(owner._$statePointer.pointee.rowID)]
      ).first?.first
    }
  }

  override func title(of index: Int, of owner: any PersistentModel) -> String {
    let entity = entity(of: owner)
    let row = EntityReference.title(of: owner._$statePointer.pointee.rowID)
    return "\(entity.name).\(entity.properties[index].name) of \(row)"
  }

  override func keep(_ link: FirstLink) {
    editor.firstLinks.append(link)
    // The link inserts its owner, which an autosave must not miss.
    didChangePending()
  }

  func inverse(of property: PropertyLayout, list: Int? = nil) -> Inverses.Inverse? {
    layout.inverse(of: property, list: list)
  }

  /// The object of a row if it is in memory; reads nothing.
  func registered(_ entity: EntityLayout, row: Int64) -> (any PersistentModel)? {
    loader.registered(entity, row: row)
  }

  // MARK: Pending changes

  /// Whether an object is in this context: new, registered, or deleted and not saved.
  func isHere(_ model: any PersistentModel) -> Bool {
    model._$statePointer.pointee.home === self
  }

  /// Marks a property as changed, unless it is the relationship that was just set to the value it held.
  override func didChange(_ model: any PersistentModel, at index: Int) {
    if !editor.unchanged.takes(model, index) { markChanged(model, at: index) }
  }

  /// Whether an object with pending changes may have relationships, which a save then examines.
  var concernsRelationships: Bool {
    !pending.roots.isDisjoint(with: layout.rootsWithRelationships)
  }

  /// Whether an object with pending changes may have unique keys, by which a save looks for duplicates.
  var concernsKeys: Bool { !pending.roots.isDisjoint(with: layout.rootsWithKeys) }

  /// Records a change of one property for the next save.
  ///
  /// Invariant: a stored object is in `pending`'s list of changed objects if, and only if, a property that a save
  /// writes was changed. A change of ephemeral properties alone makes no object pending.
  func markChanged(_ model: any PersistentModel, at index: Int) {
    let state = model._$statePointer
    guard state.pointee.markChanged(index) || !state.pointee.has(_ModelFlags.changed) else {
      // Any change may have mended what the autosave failed for.
      if saver.autosaveFailed { didChangePending() }
      return
    }
    let entity = Int(state.pointee.entity)
    if !state.pointee.has(_ModelFlags.inserted | _ModelFlags.changed) {
      if entities[entity].layout.ephemeral.contains(index) { return }
      pending.add(
        model, to: .changed, root: entities[entity].layout.rootIndex, at: commits.clock.next())
    } else {
      // Another property of an object that is pending already: live results have to learn of it.
      pending.note(entities[entity].layout.rootIndex)
    }
    didChangePending()
  }

  /// Called after each change: plans an autosave.
  func didChangePending() {
    // What a save clears and then restores is no change of the program's: an autosave that fails would follow itself.
    guard saver.autosaves, !editor.isCutting else { return }
    commits.listener.schedule()
    if owners.mayHoldContext, pending.hasChanges || !editor.firstLinks.isEmpty {
      owners.holdContext()
    }
  }

  /// Lets the main context go: its changes are saved or discarded, or its turn was taken.
  ///
  /// A save and a turn call it with the save lock, since several threads may save one context.
  func releaseContext() {
    // Released after the access to what holds it has ended.
    _ = owners.takeHeldContext()
  }

  /// Tells the objects whether changes of properties are to be reported that are marked as changed already: for undo, and
  /// after an autosave that failed.
  func updateRecordsUndo() { recordsUndo = undo.manager != nil || saver.autosaveFailed }

  // MARK: Memory

  /// Drops the references of clean objects to each other, so that only what the program holds stays.
  ///
  /// Two objects that refer to each other are never freed otherwise. Pending objects are left alone: what they refer
  /// to is not in the store yet, and their members must stay alive until they are saved.
  ///
  /// Costs a look at each relationship of each registered object. `dropCachesWhenMany` thus doubles the limit each
  /// time, which makes that constant for each object that is loaded.
  func dropCaches() {
    for root in layout.rootsWithRelationships {
      let entity = layout.entities[root]
      for object in loader.registry.all(root: root) {
        let model = entity.model(object)
        guard !model.has(_ModelFlags.pending) else { continue }
        for index in self.entity(of: model).relationships { dropCache(of: model, at: index) }
      }
    }
    loader.cacheLimit = max(ObjectLoader.smallestCacheLimit, loader.registry.count * 2)
  }

  /// Replaces a loaded destination by its row's number, and forgets a loaded list. Keeps what could not be loaded
  /// again: a destination without a row, and a list with changes for the next save.
  func dropCache(of model: any PersistentModel, at index: Int) {
    switch model.content(at: index) {
    case .toOne(.model(let target)):
      // A new destination has a negative number, by which it could not be found again.
      let row = target._$statePointer.pointee.rowID
      if row > 0 { model.setContent(.toOne(.row(row)), at: index) }
    case .toMany(let targets):
      if targets.delta == nil { model.setContent(.toMany(_Targets()), at: index) }
    default: break
    }
  }

  /// Drops relationship caches if the number of registered objects has doubled since the last time.
  func dropCachesWhenMany() {
    if loader.registry.count > loader.cacheLimit { dropCaches() }
  }

  // MARK: Leaving

  /// Makes a changed object a clean one whose relationships keep no changes.
  ///
  /// Loaded lists stay loaded without their deltas: a later load would apply a delta to rows that have its changes
  /// already, or, after a rollback, must not get them.
  func settle(_ model: any PersistentModel) {
    pending.remove(model)
    guard entities[Int(model._$statePointer.pointee.entity)].layout.hasRelationships else { return }
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

  // MARK: Rollback

  /// Discards all pending changes: new objects leave, and all others get the values of their rows.
  ///
  /// Invariant: afterwards nothing is pending, no stored object shows a value that was never saved, and nothing can
  /// be undone.
  func rollback() {
    editor.membership = nil
    for model in pending.models(.inserted) {
      // The objects that it leads to get the values of their rows, and no longer lead back. A required reference
      // stays: without it, the property would read as an object without a row.
      for index in entity(of: model).relationships where !isRequired(model, index) {
        if case .toMany = model.content(at: index) {
          model.setContent(.toMany(_Targets(loaded: [])), at: index)
        } else {
          model.setContent(.toOne(.none), at: index)
        }
      }
      leave(model)
    }
    // Also of what they have been told before.
    pending.noteAll()
    let changed = pending.models(.changed)
    for model in pending.models(.deleted) { pending.remove(model, from: .deleted) }
    for model in changed where model.has(_ModelFlags.changed) {
      let changes = model._$statePointer.pointee.changes
      notifying(model, changes) {
        settle(model)
        // Empty until the row is read, which the flag below has the next access do.
        for index in entity(of: model).relationships where changes.contains(index) {
          if case .toMany = model.content(at: index) {
            model.setContent(.toMany(_Targets()), at: index)
          } else {
            model.setContent(.toOne(.none), at: index)
          }
        }
        model._$statePointer.pointee.set(_ModelFlags.stale)
        // Within the notification: an observer that is called by its end reads the values of the row.
        if model._$statePointer.pointee.extra?.isObserved == true { reader.reload(model) }
      }
    }
    pending.removeAll()
    // Lists that were made while members led elsewhere differ from those of the rows.
    dropCaches()
    commits.readAgain(changed.filter { $0.has(_ModelFlags.stale) && isHere($0) })
    // The recorded steps lead between states that are gone.
    undo.removeAllActions()
    releaseContext()
    notifyFollowers()
  }

  /// Whether a property is a to-one relationship without nil.
  func isRequired(_ model: any PersistentModel, _ index: Int) -> Bool {
    let property = entity(of: model).properties[index]
    return !property.isToMany && !property.isOptional
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

/// Who holds whom: the context, its container, and who edits.
private struct Owners {
  weak var context: ModelContext?
  /// The main context while it has unsaved changes, so that its turn still saves them when nobody else holds it.
  private var heldContext: ModelContext?
  private let storeSet: StoreSet
  /// Nil for the main context, which the container holds.
  private let heldContainer: ModelContainer?
  var author: String?
  /// Identifies the context to custom stores. Made when one asks: a UUID costs a read of `/dev/urandom`.
  private lazy var editingID = UUID()

  init(_ container: ModelContainer, isMain: Bool) {
    storeSet = container.storeSet
    heldContainer = isMain ? nil : container
  }

  var container: ModelContainer { heldContainer ?? storeSet.container }

  var editingState: EditingState {
    mutating get { EditingState(id: editingID, author: author) }
  }

  /// Whether it is a main context that nothing holds yet.
  var mayHoldContext: Bool { heldContainer == nil && heldContext == nil }

  mutating func holdContext() { heldContext = context }

  mutating func takeHeldContext() -> ModelContext? {
    defer { heldContext = nil }
    return heldContext
  }
}

/// The results of the last look-up of an entity by type and by identifier. Most look-ups are for the class of the one
/// before.
private struct EntityLookup {
  private var byType: EntityLayout?
  private var byIdentifier: EntityPlan?

  mutating func entity(
    for type: any PersistentModel.Type, in layout: StoreLayout
  ) -> EntityLayout? {
    if let byType, byType.type == type { return byType }
    byType = layout.entity(for: type)
    return byType
  }

  mutating func entity(
    of identifier: PersistentIdentifier, in layout: StoreLayout, _ entities: [ContextEntity]
  ) -> EntityLayout? {
    if let byIdentifier, byIdentifier.reference === identifier.id.reference {
      return byIdentifier.entity
    }
    guard let entity = layout.entity(named: identifier.entityName),
      entities[entity.index].lazyPlan.plan.reference === identifier.id.reference
    else { return nil }
    byIdentifier = entities[entity.index].lazyPlan.plan
    return entity
  }
}
