public import Foundation

/// Fetches model objects, tracks changes to them, and saves the changes together.
///
/// A context and its objects belong to one thread or actor. Clean objects are held weakly, changed ones strongly until
/// they are saved. A container can have any number of contexts.
///
/// A context applies other contexts' and processes' commits at a fetch, a ``save()``, a ``rollback()``,
/// ``processPendingChanges()``, at the start of ``transaction(block:)``, and between turns of the main actor or of a
/// model actor. Its objects never change on their own at other times. Unsaved changes stay, property by property.
public class ModelContext: Equatable {
  /// Posted before a save; the object is the context.
  ///
  /// Notifications of saves are posted once the program has read their names here, so that a program without observers
  /// does not pay for them.
  public static var willSave: Notification.Name { SaveNotification.willSave.nameForObservers }
  /// Posted after a save; `userInfo` has sets of identifiers under the raw values of ``NotificationKey``.
  public static var didSave: Notification.Name { SaveNotification.didSave.nameForObservers }

  /// The keys of a save notification's `userInfo`.
  ///
  /// The value for `historyTokens` is a dictionary `[String: any HistoryToken]`, keyed by store identifier: the place
  /// of the save in the history of each written store that has one.
  public enum NotificationKey: String, Sendable {
    case insertedIdentifiers, updatedIdentifiers, deletedIdentifiers, invalidatedAllIdentifiers,
      queryGeneration, historyTokens
  }

  private let engine: ObjectGraph

  /// The engine, which knows all objects that initializers linked to its own.
  var graph: ObjectGraph {
    engine.makeFirstLinks()
    return engine
  }

  /// The container that the context belongs to.
  public var container: ModelContainer { engine.container }

  /// Whether changes are saved at the end of a turn of the context's executor; false for contexts you
  /// make.
  ///
  /// The main context's executor is the main actor; a model actor's context has the actor's executor. A context that
  /// you make takes turns on the main actor if this is set on the main actor; elsewhere it has no turns, and
  /// ``processPendingChanges()`` saves.
  public var autosaveEnabled: Bool {
    get { graph.autosaves }
    set {
      graph.autosaves = newValue
      guard newValue else { return }
      takeTurnsOfMainActor()
      graph.didChangePending()
    }
  }

  /// Records changes so that they can be undone; nil, the default, records nothing.
  public var undoManager: UndoManager? {
    get { graph.undo.manager }
    set { graph.undo.manager = newValue }
  }

  /// Who makes the changes.
  ///
  /// Part of ``editingState``, and of each transaction that the context saves: the file records the author, and
  /// ``fetchHistory(_:)`` finds transactions by it.
  public var author: String? {
    get { graph.author }
    set { graph.author = newValue }
  }

  /// Identifies the context and its author.
  public var editingState: EditingState { graph.editingState }

  /// Creates a context of a container.
  public init(_ container: ModelContainer) {
    engine = ObjectGraph(container: container)
    engine.context = self
    for case let store? in engine.customStores { store.initializeState(for: engine.editingState) }
  }

  deinit {
    // Unsaved objects and those that hold each other would keep the engine, and it them.
    engine.abandon()
    for case let store? in engine.customStores { store.invalidateState(for: engine.editingState) }
  }

  // MARK: Changes

  /// Adds an object, and all that its relationships reach, at the next save.
  public func insert<T: PersistentModel>(_ model: T) { graph.insert(model) }

  /// Deletes an object: its row at the next save, and its links to other objects now, by its relationships' delete
  /// rules. Relationships without an inverse lead to it until that save.
  public func delete<T: PersistentModel>(_ model: T) { graph.delete(model) }

  /// Deletes all objects that match, by their relationships' delete rules, and commits immediately.
  ///
  /// Costs one statement if no relationship leads to or from the model, otherwise as much as deleting the objects one
  /// by one. Throws what ``save()`` throws.
  public func delete<T: PersistentModel>(
    model: T.Type, where predicate: Predicate<T>? = nil, includeSubclasses: Bool = true
  ) throws {
    try graph.delete(type: model, matching: predicate, includeSubclasses: includeSubclasses)
  }

  /// Whether there is anything to save.
  public var hasChanges: Bool { graph.pending.hasChanges }

  /// The objects that the next save inserts.
  public var insertedModelsArray: [any PersistentModel] {
    graph.pending.models(.inserted)
  }
  /// The objects that the next save updates.
  public var changedModelsArray: [any PersistentModel] {
    graph.pending.models(.changed).filter { !$0.has(_ModelFlags.deleted) }
  }
  /// The objects that the next save deletes.
  public var deletedModelsArray: [any PersistentModel] {
    graph.pending.models(.deleted)
  }

  /// Writes all changes in one transaction per store.
  ///
  /// Applies other contexts' commits first, and waits for a save of this context on another thread. Throws
  /// `SwiftDataError`; then nothing was written and all changes are still
  /// pending. It also throws, once, if an object of another context or of a class outside the container's schema was
  /// inserted or deleted here; that call had no effect.
  public func save() throws { try graph.save() }

  /// Discards all unsaved changes: new objects leave the context, and all others get back their stored values and
  /// relationships.
  public func rollback() { graph.rollback() }

  /// Applies other contexts' and processes' commits, updates live results, and closes the group of
  /// undoable changes.
  ///
  /// A context without turns also saves first if ``autosaveEnabled`` is set.
  public func processPendingChanges() {
    graph.undo.closeGroup()
    if graph.inbox.listener.hasTurns { graph.applyCommitsOfOthers() } else { graph.turn() }
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
  /// A ``save()`` in the block commits what it saves, and the rest of the block is another transaction. What the block
  /// commits by another route, such as ``delete(model:where:includeSubclasses:)`` or another context's save, is committed
  /// at the end of the transaction, even if the block throws. Other threads
  /// and processes wait to write while the block runs, so keep it short. Throws what the block and ``save()`` throw.
  public func transaction(block: () throws -> Void) throws {
    try graph.transaction(block)
  }

  // MARK: Fetching

  /// The objects that match, one object per row in this context.
  public func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
    try graph.fetch(descriptor)
  }

  /// The objects that match, loaded in batches as they are used.
  ///
  /// Throws `includePendingChangesWithBatchSize` unless the descriptor excludes pending changes.
  public func fetch<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, batchSize: Int
  ) throws -> FetchResultsCollection<T> {
    try requireStored(descriptor)
    return FetchResultsCollection(
      try graph.fetchIdentifiers(descriptor), batchSize: batchSize, graph: graph)
  }

  /// The number of objects that match, within the descriptor's limit and offset.
  public func fetchCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> Int {
    try graph.fetchCount(descriptor)
  }

  /// The identifiers of the objects that match.
  public func fetchIdentifiers<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>
  ) throws -> [PersistentIdentifier] {
    try graph.fetchIdentifiers(descriptor)
  }

  /// The identifiers of the objects that match, as a collection.
  ///
  /// Throws `includePendingChangesWithBatchSize` unless the descriptor excludes pending changes.
  public func fetchIdentifiers<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, batchSize: Int
  ) throws -> FetchResultsCollection<PersistentIdentifier> {
    try requireStored(descriptor)
    return FetchResultsCollection(try graph.fetchIdentifiers(descriptor))
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
  /// Throws what the block throws, and an error if the block leaves unsaved changes while `allowEscapingMutations` is
  /// false.
  public func enumerate<T: PersistentModel>(
    _ fetch: FetchDescriptor<T>, batchSize: Int = 5000, allowEscapingMutations: Bool = false,
    block: (T) throws -> Void
  ) throws {
    try graph.enumerate(
      fetch, batchSize: batchSize, allowsMutations: allowEscapingMutations, block)
  }

  // MARK: Objects by identifier

  /// The object with an identifier; if the row does not exist, an object that reads as empty.
  public func model(for identifier: PersistentIdentifier) -> any PersistentModel {
    graph.model(for: identifier)
  }

  /// The object with an identifier, if this context has loaded it.
  public func registeredModel<T: PersistentModel>(for identifier: PersistentIdentifier) -> T? {
    graph.registeredModel(for: identifier) as? T
  }

  public static func == (left: ModelContext, right: ModelContext) -> Bool { left === right }
}
