import Dispatch
public import Observation
import Synchronization

/// Counts changes to a container's stores, including those by other contexts, containers and processes.
///
/// ```swift
/// let observer = try HistoryObserver(
///   historyTokens: tokens, observedModels: [Trip.self], authors: ["sync"], modelContainer: container)
/// withObservationTracking { _ = observer.eventCounter } onChange: { fetchHistoryAgain() }
/// ```
///
/// The counter rises after a commit that changes an observed model and is by one of the authors. Several commits in
/// close succession may count once. It also rises where that can't be known: transactions after a token were deleted, a
/// token is newer than the store, or a row of the history is damaged.
///
/// It rises on the observer's own queue, and `onChange` of `withObservationTracking` is called there; ``eventCounter``
/// may be read on any thread. A commit of this process calls the observer. For those of other processes the store's
/// write-ahead log is watched; where the system refuses another watch, they count when a context next fetches. Each
/// check reads the transactions since the last one. A store whose history is off isn't observed; nor is a custom store.
///
/// The observer keeps its container alive.
public final class HistoryObserver: Observable, Sendable {
  /// The models whose changes count; empty for all.
  public let observedModels: [any PersistentModel.Type]
  /// The authors whose transactions count; empty for all, including transactions without an author.
  public let authors: Set<String>
  /// The container whose stores are observed.
  public let modelContainer: ModelContainer

  /// Observation's part: the counter is observable although the class is not isolated.
  private let registrar = ObservationRegistrar()
  /// The value of ``eventCounter``.
  private let count = Mutex(0)
  /// The number of the last transaction that was checked, for each of ``stores``.
  private let lastSeen: Mutex<[Int64]>
  /// The SQLite stores of the container.
  private let stores: [RecordStore]
  /// The names of the entities whose changes count; empty for all.
  private let names: Set<String>
  /// Gets a turn after each commit to one of the stores, by whatever process.
  private let listener = CommitListener()
  /// All checks run here, one after the other.
  let queue = DispatchQueue(label: "stead.history-observer", qos: .utility)

  /// How often changes that count were found since the tokens; it only rises, and is observable.
  ///
  /// Compare it with the value that you have read last: the number itself is no number of transactions.
  public var eventCounter: Int {
    registrar.access(self, keyPath: \.eventCounter)
    return count.withLock { $0 }
  }

  /// Observes the history of a container's stores.
  ///
  /// - Parameters:
  ///   - historyTokens: What you have handled of each store, by the store's identifier. A store without a token, or
  ///     with one of another store or type, is observed from now on; all stores are if this is nil. Transactions after
  ///     a token count once, soon after this call.
  ///   - observedModels: The models whose changes count, with their subclasses; empty for all.
  ///   - authors: The authors whose transactions count; empty for all.
  ///   - modelContainer: The container.
  ///   - isolation: Has no effect: the counter rises on the observer's own queue. It is here because Apple's has it.
  /// - Throws: ``SwiftDataError`` if a store without a token can't be read. What can't be read later is reported as a
  ///   problem.
  public init(
    historyTokens: [String: any HistoryToken]? = nil,
    observedModels: [any PersistentModel.Type] = [], authors: Set<String> = [],
    modelContainer: ModelContainer, isolation: isolated (any Actor)? = #isolation
  ) throws {
    self.observedModels = observedModels
    self.authors = authors
    self.modelContainer = modelContainer
    // A custom store has no log of commits to listen to.
    stores = modelContainer.ownStores
    names = Self.names(of: observedModels, in: modelContainer.layout)
    lastSeen = Mutex(
      try modelContainer.ownStores.map { store in
        let name = store.identity.identifier
        let token = historyTokens?[name] as? DefaultHistoryToken
        // From the file: this process may not have noticed another one's last commits yet.
        return try token?.number(in: name) ?? store.read(.newest) { $1 }
      })
    // Weak: being listened to must not keep the observer alive.
    listener.setTurn { [weak self] in
      guard let self else { return }
      queue.async { [weak self] in self?.checkForCommits() }
    }
    for store in stores {
      // A commit notifies nobody as long as the log knows of one context alone.
      store.log.addContext()
      store.log.listen(listener)
      store.watch()
    }
    // Once at the start: transactions after a token may exist already.
    listener.schedule()
  }

  deinit {
    for store in stores { store.log.removeContext() }
  }

  /// The names of the models' entities and of their subclasses; empty for all.
  private static func names(
    of models: [any PersistentModel.Type], in layout: StoreLayout
  ) -> Set<String> {
    var names: Set<String> = []
    for model in models {
      guard let entity = layout.entity(for: model) else {
        // A class that the container lacks has no changes here.
        names.insert(ModelMetadata.name(of: model))
        continue
      }
      names.insert(entity.name)
      for discriminator in entity.familyDiscriminators {
        let member = layout.entity(discriminator: discriminator, root: entity.rootIndex)
        if let member { names.insert(member.name) }
      }
    }
    return names
  }

  // MARK: - Looking

  /// Checks the transactions since the last check; on the queue alone.
  func checkForCommits() {
    // First: a commit from here on schedules another check, and so is not lost while this one
    // reads.
    listener.turnBegins()
    var isEvent = false
    for (index, store) in stores.enumerated() {
      do {
        // The lock is not held while the store is read: `lastSeen` is only changed on this queue.
        let after = lastSeen.withLock { $0[index] }
        let scan = HistoryScan(after: after, authors: authors, entities: names)
        let result = try store.read(.newest) { connection, number in
          (hasEvent: try scan.run(on: connection, newest: number), number: number)
        }
        // Less than before if the store was restored from an older copy.
        lastSeen.withLock { $0[index] = result.number }
        if result.hasEvent { isEvent = true }
      } catch {
        Report.problem("The store's history cannot be observed: \(error)")
      }
    }
    guard isEvent else { return }
    // Raised before Observation is notified: an observer that starts tracking on another thread meanwhile either reads
    // the new count or is notified.
    count.withLock { $0 += 1 }
    registrar.withMutation(of: self, keyPath: \.eventCounter) {}
  }
}

// MARK: - Scanning

/// Searches a store's history for a transaction by some authors that changes some entities.
///
/// It decodes names of entities at most, and no changes.
private struct HistoryScan {
  let after: Int64
  let authors: Set<String>
  let entities: Set<String>

  /// Whether there is such a transaction, or whether that cannot be known.
  ///
  /// - Parameter newest: The number of the store's last transaction.
  func run(on connection: StoreConnection, newest: Int64) throws -> Bool {
    guard try connection.hasHistory() else { return false }
    // A token of a newer copy of the store: what changed since isn't known.
    if after > newest { return true }
    // A deleted transaction may have been an event.
    if try connection.lastDeletedTransaction() > after { return true }
    let statement = try connection.statement(
      "SELECT author, changes FROM stead_history WHERE changes IS NOT NULL AND number > ?1 "
        + "ORDER BY number")
    statement.reset()
    defer { statement.reset() }
    statement.bind(after, at: 1)
    // Ends at the first match; which transaction it is does not matter.
    while try statement.step() {
      if !authors.isEmpty {
        guard !statement.isNull(0) else { continue }
        let author = statement.withText(0) { String(decoding: $0, as: UTF8.self) }
        guard authors.contains(author) else { continue }
      }
      if entities.isEmpty { return true }
      // A damaged row may be of any entity; fetchHistory reports the damage.
      if statement.withText(1, hasWanted) { return true }
    }
    return false
  }

  /// Whether a transaction changes one of the entities; true for a damaged row.
  private func hasWanted(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let found = try? names(text) else { return true }
    return !entities.isDisjoint(with: found)
  }

  /// The names of the entities that a transaction changes.
  private func names(_ text: UnsafeBufferPointer<UInt8>) throws -> Set<String> {
    var names: Set<String> = []
    try HistoryFormat.forEachGroup(in: text) { names.insert(try $0.entity()) }
    return names
  }
}
