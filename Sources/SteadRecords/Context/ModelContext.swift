public import Foundation

/// Fetches model objects, tracks changes to them, and saves the changes together.
///
/// A context and its objects belong to one thread or actor. Clean objects are held weakly, changed ones strongly until
/// they are saved. A container can have any number of contexts.
///
/// A context applies other contexts' and processes' commits at a fetch, a ``save()``, a ``rollback()``,
/// ``processPendingChanges()``, at the start of ``transaction(block:)``, and between turns of the main actor or of a
/// model actor. Its objects never change on their own at other times. Unsaved changes stay, property by property.
///
/// ```swift
/// let context = ModelContext(container)
/// context.insert(Trip(name: "Lakes"))
/// try context.save()
/// let trips = try context.fetch(FetchDescriptor<Trip>())
/// ```
///
/// Neither a context nor its objects are Sendable: hand a ``PersistentIdentifier`` to another task, and look the object
/// up there with ``model(for:)``. Changes that are still unsaved when the context is released are lost.
public class ModelContext: Equatable {
  /// Posted before a save that has something to write; the object is the context.
  ///
  /// Posted on the thread that saves. What an observer changes in the context is part of the save. An observer must not
  /// call ``save()``, which throws ``SwiftDataError/saveInProgress``.
  ///
  /// Notifications of saves are posted once the program has read their names here, so that a program without observers
  /// does not pay for them. An observer that makes the name from its string misses them.
  public static var willSave: Notification.Name { SaveNotification.willSave.nameForObservers }
  /// Posted after a save that wrote something; `userInfo` has sets of identifiers under the raw values of
  /// ``NotificationKey``.
  ///
  /// Posted on the thread that saved, once the save, the autosave or the transaction has ended: an observer may save
  /// the context again. A ``save()`` in the block of ``transaction(block:)`` posts it while the block runs. An inserted
  /// object that updated the row with its unique values is among the updated ones.
  public static var didSave: Notification.Name { SaveNotification.didSave.nameForObservers }

  /// The keys of a save notification's `userInfo`, by their raw values.
  ///
  /// `insertedIdentifiers`, `updatedIdentifiers` and `deletedIdentifiers` each have a `Set<PersistentIdentifier>`,
  /// which may be empty. `invalidatedAllIdentifiers` and `queryGeneration` exist for source compatibility and have no
  /// value.
  ///
  /// The value for `historyTokens` is a dictionary `[String: any HistoryToken]`, keyed by store identifier: the place
  /// of the save in the history of each written store that has one.
  public enum NotificationKey: String, Sendable {
    case insertedIdentifiers, updatedIdentifiers, deletedIdentifiers, invalidatedAllIdentifiers,
      queryGeneration, historyTokens
  }

  private let engine: ObjectGraph

  /// The engine, after the links were made that initializers gave to objects of this context.
  ///
  /// An initializer that sets a relationship runs before its object is complete, so the link is only queued there.
  /// Every use of the context goes through here; otherwise a fetch or a save would miss objects that are linked
  /// already.
  func linkedGraph() -> ObjectGraph {
    engine.editor.makeFirstLinks()
    return engine
  }

  /// The container that the context belongs to, whose stores it keeps open.
  public var container: ModelContainer { engine.container }

  /// Whether changes are saved at the end of a turn of the context's executor; false for contexts you
  /// make.
  ///
  /// The main context's executor is the main actor; a model actor's context has the actor's executor. A context that
  /// you make takes turns on the main actor if this is set on the main actor; elsewhere it has no turns, and
  /// ``processPendingChanges()`` saves.
  ///
  /// A turn is what the executor runs without a pause: up to the next `await` or the end of a function. A program that
  /// ends before the end of a turn loses what it has not saved, so a command-line tool should call ``save()``.
  ///
  /// An autosave cannot throw. If it fails, nothing was written, the changes stay pending, and `Stead.onProblem` gets
  /// the problem `autosaveFailed`; each later change and each turn tries again. Call ``save()`` to get the error.
  public var autosaveEnabled: Bool {
    get { linkedGraph().saver.autosaves }
    set {
      linkedGraph().saver.autosaves = newValue
      guard newValue else { return }
      // A context that the program has made has turns only if it is set on the main actor.
      takeTurnsOfMainActor()
      // What is pending already waits for a turn, too.
      linkedGraph().didChangePending()
    }
  }

  /// Records changes so that they can be undone; nil, the default, records nothing.
  ///
  /// Insertions, deletions, values and relationships are recorded, a deletion together with its cascade. A step can be
  /// undone after a save, too: the undo is a change like any other, which the next save writes. What a save itself
  /// changes is no step, such as a link to a deleted object that a delete rule clears. Undo or redo of a step from
  /// before that save takes it back. What ``delete(model:where:includeSubclasses:)`` removes from the store cannot be
  /// undone.
  ///
  /// Recording holds the changed objects strongly for as long as the manager has the step. ``rollback()`` empties the
  /// manager's stacks, of the program's own actions, too. ``processPendingChanges()`` closes the open group.
  public var undoManager: UndoManager? {
    get { linkedGraph().undo.manager }
    set { linkedGraph().undo.manager = newValue }
  }

  /// Who makes the changes.
  ///
  /// Part of ``editingState``, and of each transaction that the context saves: the file records the author, and
  /// ``fetchHistory(_:)`` finds transactions by it. The author that is set when a save runs counts for all of its
  /// changes; nil, the default, records none.
  public var author: String? {
    get { linkedGraph().author }
    set { linkedGraph().author = newValue }
  }

  /// Identifies the context and its author, as custom stores get them with each request.
  public var editingState: EditingState { linkedGraph().editingState }

  /// Creates a context of a container, for use on this thread or actor.
  ///
  /// Cheap: it reads nothing from the disk. A custom store is called once (``DataStore/initializeState(for:)``). Make a
  /// context for each task instead of sharing one.
  ///
  /// The context does not save automatically (``autosaveEnabled``). It applies other contexts' commits only at the
  /// calls that ``ModelContext`` lists.
  public convenience init(_ container: ModelContainer) {
    self.init(ObjectGraph(container: container))
  }

  /// Creates the context of the main actor, which the container is to hold.
  @MainActor convenience init(mainOf container: ModelContainer) {
    self.init(ObjectGraph(container: container, isMain: true))
    becomeMain()
  }

  private init(_ engine: ObjectGraph) {
    self.engine = engine
    engine.context = self
    for case let store? in engine.customStores { store.initializeState(for: engine.editingState) }
  }

  deinit {
    // Unsaved objects and those that hold each other would keep the engine, and it them.
    engine.abandon()
    for case let store? in engine.customStores { store.invalidateState(for: engine.editingState) }
  }

  // MARK: Changes

  /// Adds an object to the context, and to the store at the next save.
  ///
  /// Objects that its relationships reach, in either direction, are inserted with it. Both sides of each relationship
  /// are set before this returns. Costs time in proportion to these objects and reads no disk, except where an inverse
  /// has to be loaded.
  ///
  /// ```swift
  /// let trip = Trip(name: "Lakes")
  /// trip.stops = [Stop(place: "Como")]
  /// context.insert(trip)  // the stop, too
  /// try context.save()
  /// ```
  ///
  /// - An object that is here already stays as it is. If it was to be deleted, the deletion is cancelled; relationships
  ///   that the deletion cleared stay cleared.
  /// - If a row has the object's unique values, the save updates that row instead of adding one, also with the object's
  ///   default values. The object then stands for the row's object.
  /// - An object of another context is not inserted, nor is one of a class outside the container's schema. The call has
  ///   no effect then, and the next ``save()`` throws ``SwiftDataError/foreignModel`` or
  ///   ``SwiftDataError/unknownModel``, once.
  ///
  /// The object's ``PersistentModel/persistentModelID`` is temporary until the save, which replaces it. The context
  /// holds the object strongly until then.
  public func insert<T: PersistentModel>(_ model: T) { linkedGraph().editor.insert(model) }

  /// Deletes an object: its row at the next save, and its links to other objects now, by its relationships' delete
  /// rules. Relationships without an inverse lead to it until that save.
  ///
  /// `cascade` deletes the destinations, and theirs, before this returns; `nullify` clears their references. Both load
  /// destinations from the store that are not loaded yet. `deny` is checked by the save, which throws
  /// ``SwiftDataError/deletionDenied``. The save applies all rules again, to what this context or another one has
  /// linked to the object since.
  ///
  /// An object that was never saved leaves the context at once, unless a `deny` rule forbids it. Deleting an object
  /// twice has no effect, nor has deleting one that is in no context. For an object of another context the next
  /// ``save()`` throws ``SwiftDataError/foreignModel``, once.
  ///
  /// Until the save ``PersistentModel/isDeleted`` is true, and ``insert(_:)`` or ``rollback()`` takes the deletion
  /// back. Fetches that include pending changes no longer return the object. After the save its `modelContext` is nil,
  /// and it keeps its attributes.
  ///
  /// To delete many objects, ``delete(model:where:includeSubclasses:)`` may need a single statement.
  public func delete<T: PersistentModel>(_ model: T) { DeleteRules(linkedGraph()).delete(model) }

  /// Deletes all objects that match, by their relationships' delete rules, and commits immediately.
  ///
  /// ```swift
  /// try context.delete(model: Entry.self, where: #Predicate { $0.date < limit })
  /// ```
  ///
  /// Works on the store, in a transaction of its own: this context's other unsaved changes are neither saved nor
  /// discarded. Pending values of this context do not count for stored objects. New objects of this context that match
  /// are deleted, too. Other contexts see a commit like any other. Inside ``transaction(block:)`` it is part of that
  /// transaction, and stays even if the block throws.
  ///
  /// Costs one statement if no relationship leads to or from the model, it is in no class hierarchy, has no external
  /// storage and no unsaved changes here, and the predicate has SQL. Otherwise the objects are fetched and deleted one
  /// by one in another context, which needs memory for all of them. No ``undoManager`` records it.
  ///
  /// - Parameters:
  ///   - model: The class whose objects are deleted.
  ///   - predicate: Which objects; nil for all.
  ///   - includeSubclasses: Whether objects of subclasses are deleted, too.
  /// - Throws: ``SwiftDataError/deletionDenied`` if a `deny` rule forbids a deletion, ``SwiftDataError/unknownSchema``
  ///   if the container lacks the model, and what ``fetch(_:)`` and ``save()`` throw.
  public func delete<T: PersistentModel>(
    model: T.Type, where predicate: Predicate<T>? = nil, includeSubclasses: Bool = true
  ) throws {
    try BatchDeletion(linkedGraph()).delete(
      type: model, matching: predicate, includeSubclasses: includeSubclasses)
  }

  /// Whether there is anything to save, or an error that the next ``save()`` throws for a call without effect.
  ///
  /// Stops at the first changed object; reads no disk. Setting a property to an equal value is a change.
  public var hasChanges: Bool { linkedGraph().pending.hasChanges }

  /// The objects that the next save inserts, in the order of their insertion.
  public var insertedModelsArray: [any PersistentModel] {
    linkedGraph().pending.models(.inserted)
  }
  /// The objects that the next save updates, in the order of their first change.
  ///
  /// A change of a to-many relationship alone has both sides here.
  public var changedModelsArray: [any PersistentModel] {
    linkedGraph().pending.models(.changed).filter { !$0.has(_ModelFlags.deleted) }
  }
  /// The objects that the next save deletes, those of a cascade included.
  public var deletedModelsArray: [any PersistentModel] {
    linkedGraph().pending.models(.deleted)
  }

  /// Writes all changes in one transaction per store.
  ///
  /// Applies other contexts' commits first, and the delete rules again to what these have linked. Then checks
  /// relationships and unique values, writes, and commits. Without changes it only applies other contexts' commits, and
  /// does not take the write lock.
  ///
  /// ```swift
  /// do {
  ///   try context.save()
  /// } catch let error as SwiftDataError where error.code == .storageFull {
  ///   // All changes are still pending: make room, and save again.
  /// }
  /// ```
  ///
  /// Blocks: it waits for other writers, those of other containers and processes at most 60 seconds, and for a save of
  /// this context on another thread. Only a checkpoint syncs the disk: a commit survives the end of the process at
  /// once, and a loss of power from the next checkpoint on. Costs time in proportion to the changed objects.
  ///
  /// When it throws, nothing was written and all changes are still pending: mend the cause and save again, or call
  /// ``rollback()``. With several stores there is one exception: they commit one after the other, custom ones first. If
  /// one fails, those before it keep what they have, and saving again would insert their new objects twice: call
  /// ``rollback()``, and make the changes of the other stores again.
  ///
  /// - Throws: ``SwiftDataError``, whose message names entity and property, never a value:
  ///   - ``SwiftDataError/modelValidationFailure`` for a required relationship without an object, a number of members
  ///     outside its limits, a value that cannot be encoded, or a changed object with another one's unique values.
  ///   - ``SwiftDataError/deletionDenied`` for a deletion that a `deny` rule forbids.
  ///   - ``SwiftDataError/foreignModel`` and ``SwiftDataError/unknownModel``, once, for an earlier ``insert(_:)`` or
  ///     ``delete(_:)`` that had no effect; again and again as long as a relationship leads to such an object.
  ///   - ``SwiftDataError/storeLocked`` if another process holds the write lock for 60 seconds.
  ///   - ``SwiftDataError/storageFull``, ``SwiftDataError/storageFailure`` and ``SwiftDataError/readOnlyStore`` for
  ///     what the disk or the configuration refuses.
  ///   - ``SwiftDataError/unknownSchema`` if another process has migrated the store to other models.
  ///   - ``SwiftDataError/unreadableStore`` if the file was damaged, removed or moved away.
  ///   - ``SwiftDataError/unreadableValue`` if a delete rule concerns a row that cannot be read.
  ///   - ``SwiftDataError/saveInProgress`` in an observer of ``willSave``, and in a transaction's block while another
  ///     thread saves this context.
  ///   - Whatever a custom store throws.
  public func save() throws { try linkedGraph().saver.save() }

  /// Discards all unsaved changes: new objects leave the context, and all others get back their stored values and
  /// relationships.
  ///
  /// Changed objects are read again at once, in the state of the newest commit. New objects keep their attributes and
  /// lose their relationships, except required ones; they can be inserted again. Deletions are taken back. The stacks
  /// of ``undoManager`` are emptied. Errors that the next ``save()`` owed for calls without effect are dropped.
  ///
  /// What was saved stays, also what a block of ``transaction(block:)`` has saved so far. A row that cannot be read is
  /// reported to `Stead.onProblem`, and its object keeps its values.
  public func rollback() { linkedGraph().rollback() }

  /// Applies other contexts' and processes' commits, updates live results, and closes the group of
  /// undoable changes.
  ///
  /// A context without turns also saves first if ``autosaveEnabled`` is set.
  ///
  /// Call it in a context of your own that lives long and seldom fetches or saves, such as a loop's, so that its
  /// objects show what others have saved. Reads the store once, and each registered object that has changed. An error
  /// of reading or of an autosave is reported to `Stead.onProblem`, since this cannot throw.
  public func processPendingChanges() {
    linkedGraph().undo.closeGroup()
    // The turns of the context's executor save, and this must not do so in between.
    if linkedGraph().commits.listener.hasTurns {
      linkedGraph().commits.applyCommitsOfOthers()
    } else {
      linkedGraph().saver.turn()
    }
  }

  /// Runs a block with the stores' write lock and the newest rows, then saves; if the block throws, nothing is saved
  /// and the changes stay pending.
  ///
  /// Nobody else can change what the block reads until its changes are saved, so counters and balances are right
  /// however many threads and processes count:
  ///
  /// ```swift
  /// try context.transaction { counter.value += 1 }
  /// ```
  ///
  /// Without it, a context that reads, computes and saves can overwrite what another one saved in between (a lost
  /// update): a save merges property by property, and does not compare what was read.
  ///
  /// A ``save()`` in the block commits what it saves, and the rest of the block is another transaction. What the block
  /// commits by another route, such as ``delete(model:where:includeSubclasses:)`` or another context's save, is
  /// committed at the end of the transaction, even if the block throws.
  ///
  /// The lock is that of all stores of the container that may be written. Other threads and processes wait to write
  /// while the block runs, processes at most 60 seconds, so keep it short, and don't wait for another writer in it.
  /// Readers of a file do not wait. A transaction within another one of this context runs its block and saves.
  ///
  /// - Throws: What the block throws; its changes are then unsaved and still pending, so call ``rollback()`` to drop
  ///   them. What ``save()`` throws. ``SwiftDataError/storeLocked`` if another process holds the lock for 60 seconds;
  ///   the block has not run then.
  public func transaction(block: () throws -> Void) throws {
    try linkedGraph().saver.transaction(block)
  }

  // MARK: Fetching

  /// The objects that match, one object per row in this context.
  ///
  /// ```swift
  /// var descriptor = FetchDescriptor<Trip>(
  ///   predicate: #Predicate { $0.start > today }, sortBy: [SortDescriptor(\.start)])
  /// descriptor.fetchLimit = 20
  /// let trips = try context.fetch(descriptor)
  /// ```
  ///
  /// Reads the store on this thread, without the write lock: it sees every commit made before the call, and does not
  /// wait for writers, unless the store is in memory. Other contexts' commits are applied to this context's objects
  /// first. A row whose object is here gives that object, with its unsaved changes; any other row becomes a new object,
  /// which the caller and relationships hold.
  ///
  /// Unsaved changes of the class are matched in memory and merged, unless
  /// ``FetchDescriptor/includePendingChanges`` is false. All objects are made before this returns: for more than some
  /// ten thousand use ``enumerate(_:batchSize:allowEscapingMutations:block:)`` or ``fetch(_:batchSize:)``, and for
  /// their number ``fetchCount(_:)``.
  ///
  /// - Throws: ``SwiftDataError/unknownSchema`` if the container lacks the class, or another program has changed the
  ///   tables; ``SwiftDataError/unreadableValue`` if a row that matches holds a value that its property's type does not
  ///   read; ``SwiftDataError/unreadableStore`` and ``SwiftDataError/storageFailure`` if the file cannot be read;
  ///   ``SwiftDataError/storeFailure`` for SQL beyond SQLite's limits. Never for a predicate or an order without SQL,
  ///   which is evaluated in memory.
  public func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
    try FetchRunner(linkedGraph()).fetch(descriptor)
  }

  /// The objects that match, loaded in batches as they are used.
  ///
  /// The identifiers of all matches are read now, and the objects of a batch when one of its elements is first used.
  /// The result is as of now, the values of the objects as of when they are read. A row that was deleted meanwhile
  /// reads as an object with empty values.
  ///
  /// - Parameters:
  ///   - descriptor: What to fetch, from the store alone.
  ///   - batchSize: How many objects are read together and kept; at least 1.
  /// - Throws: ``SwiftDataError/includePendingChangesWithBatchSize`` if the context has unsaved changes and the
  ///   descriptor includes them; save first, or set ``FetchDescriptor/includePendingChanges`` to false. Otherwise what
  ///   ``fetchIdentifiers(_:)`` throws. A batch that cannot be read later is reported to `Stead.onProblem`.
  public func fetch<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, batchSize: Int
  ) throws -> FetchResultsCollection<T> {
    try requireStored(descriptor)
    return FetchResultsCollection(
      try FetchRunner(linkedGraph()).fetchIdentifiers(descriptor), batchSize: batchSize,
      graph: linkedGraph())
  }

  /// The number of objects that match, within the descriptor's limit and offset.
  ///
  /// Costs one `SELECT count(*)`, and makes no objects. If the class has unsaved changes, or the predicate has a part
  /// without SQL, it costs as much as ``fetch(_:)``. The order does not matter.
  ///
  /// - Throws: What ``fetch(_:)`` throws.
  public func fetchCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> Int {
    try FetchRunner(linkedGraph()).fetchCount(descriptor)
  }

  /// The identifiers of the objects that match, in the descriptor's order.
  ///
  /// Makes no objects, unless the class has unsaved changes or the predicate or the order has a part without SQL. New
  /// objects have temporary identifiers. The result is Sendable, unlike the objects:
  ///
  /// ```swift
  /// let ids = try context.fetchIdentifiers(FetchDescriptor<Trip>())
  /// Task { await exporter.export(ids) }
  /// ```
  ///
  /// - Throws: What ``fetch(_:)`` throws.
  public func fetchIdentifiers<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>
  ) throws -> [PersistentIdentifier] {
    try FetchRunner(linkedGraph()).fetchIdentifiers(descriptor)
  }

  /// The identifiers of the objects that match, as a collection.
  ///
  /// All of them are read now, whatever `batchSize` is; the parameter is SwiftData's.
  ///
  /// - Throws: ``SwiftDataError/includePendingChangesWithBatchSize`` if the context has unsaved changes and the
  ///   descriptor includes them; otherwise what ``fetch(_:)`` throws.
  public func fetchIdentifiers<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, batchSize: Int
  ) throws -> FetchResultsCollection<PersistentIdentifier> {
    try requireStored(descriptor)
    return FetchResultsCollection(try FetchRunner(linkedGraph()).fetchIdentifiers(descriptor))
  }

  private func requireStored<T>(_ descriptor: FetchDescriptor<T>) throws {
    if descriptor.includePendingChanges, hasChanges {
      throw SwiftDataError(
        .includePendingChangesWithBatchSize,
        "A fetch in batches only reads the store. Save first, or set includePendingChanges to "
          + "false.")
    }
  }

  /// Runs a block for each object that matches; objects are released after each batch.
  ///
  /// ```swift
  /// var size = 0
  /// try context.enumerate(FetchDescriptor<Photo>(), batchSize: 1_000) { size += $0.byteCount }
  /// ```
  ///
  /// Memory holds the identifiers of all matches and the objects of one or two batches. After each batch the context
  /// drops the loaded relationships of all its clean objects, since objects that refer to each other would not be
  /// released. Objects whose rows are deleted before their batch are left out. An error ends the run; what the block
  /// saved stays.
  ///
  /// - Parameters:
  ///   - fetch: What to fetch; unsaved changes count unless it excludes them.
  ///   - batchSize: How many objects are read by one statement; at least 1.
  ///   - allowEscapingMutations: Whether changes may be unsaved at the end of a batch. Changed objects stay in memory
  ///     until they are saved.
  ///   - block: Called on this thread, in the descriptor's order.
  /// - Throws: ``SwiftDataError/invalidTransactionFetchRequest`` if changes are unsaved at the end of a batch, unless
  ///   `allowEscapingMutations` is true or the context had unsaved changes before the call; the changes stay pending.
  ///   What the block and ``fetch(_:)`` throw.
  public func enumerate<T: PersistentModel>(
    _ fetch: FetchDescriptor<T>, batchSize: Int = 5000, allowEscapingMutations: Bool = false,
    block: (T) throws -> Void
  ) throws {
    try FetchRunner(linkedGraph()).enumerate(
      fetch, batchSize: batchSize, allowsMutations: allowEscapingMutations, block)
  }

  // MARK: Objects by identifier

  /// The object with an identifier; if the row does not exist, an object that reads as empty.
  ///
  /// ```swift
  /// guard let trip = context.model(for: id) as? Trip, trip.modelContext != nil else { return }
  /// ```
  ///
  /// An object that is here costs a look-up in a table; any other is read from the store, which is a query by primary
  /// key. Of an identifier without a row, the result's `modelContext` is nil; reading a property whose type has no
  /// empty value, such as an enum with associated values, ends the program. ``registeredModel(for:)`` returns nil
  /// instead, and so does a model actor's subscript. If the row cannot be read, or the class is not in the container's
  /// schema, `Stead.onProblem` gets a problem, and the result reads as empty.
  public func model(for identifier: PersistentIdentifier) -> any PersistentModel {
    FetchRunner(linkedGraph()).model(for: identifier)
  }

  /// The object with an identifier, if this context has loaded it and something still holds it.
  ///
  /// Never reads the store. A clean object that neither the program nor a relationship holds is no longer registered.
  /// The result is nil, too, if the object is not a `T`. The search for a temporary identifier takes time in proportion
  /// to the new objects.
  public func registeredModel<T: PersistentModel>(for identifier: PersistentIdentifier) -> T? {
    FetchRunner(linkedGraph()).registeredModel(for: identifier) as? T
  }

  public static func == (left: ModelContext, right: ModelContext) -> Bool { left === right }
}
