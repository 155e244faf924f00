public import Foundation

/// A workplace for model objects: fetches them, tracks their changes, and saves these at once.
///
/// A context and its objects belong to one thread or actor. Clean objects are held weakly, changed
/// ones strongly until they are saved. Make as many contexts of a container as you like; a commit of
/// one is merged into the clean objects of the others.
public class ModelContext: Equatable {
  /// Posted before a save; the object is the context.
  public static let willSave = Notification.Name("SwiftData.ModelContext.willSave")
  /// Posted after a save; `userInfo` has sets of identifiers under ``NotificationKey``'s raw values.
  public static let didSave = Notification.Name("SwiftData.ModelContext.didSave")

  /// The keys of a save notification's `userInfo`.
  public enum NotificationKey: String, Sendable {
    case insertedIdentifiers, updatedIdentifiers, deletedIdentifiers, invalidatedAllIdentifiers,
      queryGeneration
  }

  let graph: ObjectGraph

  /// The container that the context works on.
  public var container: ModelContainer { graph.container }

  /// Whether changes are saved at the end of a turn of the main actor; false for contexts you make.
  public var autosaveEnabled: Bool {
    get { graph.autosaves }
    set {
      graph.autosaves = newValue
      if newValue { graph.didChangePending() }
    }
  }

  /// Records changes so that they can be undone; nil, the default, records none.
  public var undoManager: UndoManager? {
    get { graph.undoManager }
    set { graph.undoManager = newValue }
  }

  /// Who makes the changes; goes into the history of the store.
  public var author: String? {
    get { graph.author }
    set { graph.author = newValue }
  }

  private let editingID = UUID()

  /// Identifies the context and its author.
  public var editingState: EditingState { EditingState(id: editingID, author: author) }

  /// Creates a context of a container.
  public init(_ container: ModelContainer) {
    graph = ObjectGraph(container: container)
    graph.context = self
    graph.setUpInbox()
  }

  deinit {
    // Unsaved objects and those that hold each other would keep the engine, and it them.
    graph.abandon()
  }

  // MARK: Changes

  /// Adds an object, and all that its relationships reach, with the next save.
  public func insert<T: PersistentModel>(_ model: T) { graph.insert(model) }

  /// Deletes an object with the next save, by the rules of its relationships.
  public func delete<T: PersistentModel>(_ model: T) { graph.delete(model) }

  /// Deletes all objects that match, in the store and at once, by the rules of their relationships.
  ///
  /// Costs one statement when no relationship leads to or from the model, otherwise as much as
  /// deleting the objects one by one. Throws what ``save()`` throws.
  public func delete<T: PersistentModel>(
    model: T.Type, where predicate: Predicate<T>? = nil, includeSubclasses: Bool = true
  ) throws {
    try graph.delete(type: model, matching: predicate, includesSubclasses: includeSubclasses)
  }

  /// Whether there is anything to save.
  public var hasChanges: Bool { graph.hasChanges }

  /// The objects that the next save inserts.
  public var insertedModelsArray: [any PersistentModel] {
    graph.inserted.filter { $0.has(_ModelFlags.inserted) }
  }
  /// The objects that the next save updates.
  public var changedModelsArray: [any PersistentModel] {
    graph.changed.filter { $0.has(_ModelFlags.changed) && !$0.has(_ModelFlags.deleted) }
  }
  /// The objects that the next save deletes.
  public var deletedModelsArray: [any PersistentModel] {
    graph.digestDeletions()
    return graph.deleted.filter { $0.has(_ModelFlags.deleted) }
  }

  /// Writes all changes in one transaction per store.
  ///
  /// Throws `SwiftDataError`; then nothing was written and all changes are still pending.
  public func save() throws { try graph.save() }

  /// Forgets all unsaved changes: new objects leave the context, the others get their stored values.
  public func rollback() { graph.rollback() }

  /// Applies delete rules, merges other contexts' commits, and closes the group of undoable changes.
  public func processPendingChanges() {
    graph.digestDeletions()
    graph.receiveRemoteChanges()
    graph.closeUndoGroup()
    graph.contextDidChange()
  }

  /// Runs a block and saves; when the block throws, nothing is saved.
  public func transaction(block: () throws -> Void) throws {
    try block()
    try save()
  }

  // MARK: Fetching

  /// The objects that match, as one object per row in this context.
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
        "A fetch in batches reads the store alone. Save first, or set includePendingChanges to "
          + "false.")
    }
  }

  /// Runs a block for each object that matches; objects are let go of after each batch.
  ///
  /// Throws what the block throws, and an error when the block leaves unsaved changes behind while
  /// `allowEscapingMutations` is false.
  public func enumerate<T: PersistentModel>(
    _ fetch: FetchDescriptor<T>, batchSize: Int = 5000, allowEscapingMutations: Bool = false,
    block: (T) throws -> Void
  ) throws {
    try graph.enumerate(
      fetch, batchSize: batchSize, allowsMutations: allowEscapingMutations, block)
  }

  // MARK: Objects by identifier

  /// The object with an identifier; one that reads as empty when there is no such row.
  public func model(for identifier: PersistentIdentifier) -> any PersistentModel {
    graph.model(for: identifier)
  }

  /// The object with an identifier, when this context has loaded it.
  public func registeredModel<T: PersistentModel>(for identifier: PersistentIdentifier) -> T? {
    graph.registeredModel(for: identifier) as? T
  }

  public static func == (left: ModelContext, right: ModelContext) -> Bool { left === right }
}

/// Who edits, in which context.
public struct EditingState: Hashable, Sendable {
  public let id: UUID
  public let author: String?
}
