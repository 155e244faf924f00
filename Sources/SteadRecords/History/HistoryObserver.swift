import Dispatch
public import Observation
import Synchronization

/// Counts what is written to a container's stores: by other contexts, other containers and other processes, too.
///
/// ```swift
/// let observer = HistoryObserver(
///   historyTokens: tokens, observedModels: [Trip.self], authors: ["sync"], modelContainer: container)
/// withObservationTracking { _ = observer.eventCounter } onChange: { fetchHistoryAgain() }
/// ```
///
/// The counter rises after a commit that has a change of an observed model by one of the authors; several commits that
/// follow each other closely may be one step. It rises on a queue of the observer's own, so ``eventCounter`` may be
/// read on any thread. Nothing is polled: commits of this process call the observer, and those of others are
/// noticed as they come. A look costs a reading of the transactions since the last one. A store whose history is
/// off has none, and is not observed; nor is a custom one.
public final class HistoryObserver: Observable, Sendable {
  /// The models whose changes count; empty for all.
  public let observedModels: [any PersistentModel.Type]
  /// The authors whose transactions count; empty for all, those without an author among them.
  public let authors: [String]

  private let registrar = ObservationRegistrar()
  private let count = Mutex(0)
  private let places: Mutex<[Int64]>
  private let stores: [RecordStore]
  private let names: Set<String>
  private let listener = CommitListener()
  let queue = DispatchQueue(label: "stead.history-observer", qos: .utility)

  /// How often there was something new since the tokens; it only rises, and is observable.
  public var eventCounter: Int {
    registrar.access(self, keyPath: \.eventCounter)
    return count.withLock { $0 }
  }

  /// Observes the history of a container's stores.
  ///
  /// - Parameters:
  ///   - historyTokens: What you have handled of each store, by the store's identifier. A store without one
  ///     is observed from now on. Transactions after a token count as one event soon after this call, as do those
  ///     that were deleted.
  ///   - observedModels: The models whose changes count, with their subclasses; empty for all.
  ///   - authors: The authors whose transactions count; empty for all.
  ///   - modelContainer: The container, which the observer does not keep open for more than its stores.
  public init(
    historyTokens: [String: any HistoryToken] = [:],
    observedModels: [any PersistentModel.Type] = [], authors: [String] = [],
    modelContainer: ModelContainer
  ) {
    self.observedModels = observedModels
    self.authors = authors
    stores = modelContainer.ownStores
    names = Self.names(of: observedModels, in: modelContainer.layout)
    places = Mutex(
      modelContainer.ownStores.map { store in
        let name = store.identity.identifier
        let token = historyTokens[name] as? DefaultHistoryToken
        // As the file has it: this process may not know of another one's last commits.
        return token?.number(in: name) ?? (try? store.read(.newest) { $1 })
          ?? store.log.newestNumber
      })
    listener.setTurn { [weak self] in
      guard let self else { return }
      queue.async { [weak self] in self?.look() }
    }
    for store in stores {
      store.log.addContext()
      store.log.listen(listener)
      store.watch()
    }
    listener.schedule()
  }

  deinit {
    for store in stores { store.log.removeContext() }
  }

  /// The names of the models' entities and of those of their subclasses; empty for all.
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

  // MARK: Looking

  /// Looks for transactions since the last look; on the queue alone.
  func look() {
    listener.turnBegins()
    var isEvent = false
    for (index, store) in stores.enumerated() {
      do {
        let seen = places.withLock { $0[index] }
        let scan = HistoryScan(after: seen, authors: authors, entities: names)
        let result = try store.read(.newest) { connection, number in
          (hasEvent: try scan.run(on: connection), number: number)
        }
        places.withLock { $0[index] = max($0[index], result.number) }
        if result.hasEvent { isEvent = true }
      } catch {
        Report.problem("The store's history cannot be observed: \(error)")
      }
    }
    guard isEvent else { return }
    // Raised before Observation is told: who begins to track on another thread meanwhile reads the new count, or
    // is told of it.
    count.withLock { $0 += 1 }
    registrar.withMutation(of: self, keyPath: \.eventCounter) {}
  }
}

/// Looks whether there is a transaction of some authors that changes some entities.
private struct HistoryScan {
  let after: Int64
  let authors: [String]
  let entities: Set<String>

  func run(on connection: StoreConnection) throws -> Bool {
    guard try connection.hasHistory() else { return false }
    // What was deleted may have been an event.
    if try connection.lastDeletedTransaction() > after { return true }
    let statement = try connection.statement(
      "SELECT author, changes FROM stead_history WHERE changes IS NOT NULL AND number > ?1 "
        + "ORDER BY number")
    statement.reset()
    defer { statement.reset() }
    statement.bind(after, at: 1)
    while try statement.step() {
      if !authors.isEmpty {
        guard !statement.isNull(0) else { continue }
        let author = statement.withText(0) { String(decoding: $0, as: UTF8.self) }
        guard authors.contains(author) else { continue }
      }
      if entities.isEmpty { return true }
      // A damaged row may be of anything; fetchHistory says what is wrong.
      if statement.withText(1, hasWanted) { return true }
    }
    return false
  }

  private func hasWanted(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let found = try? names(text) else { return true }
    return !entities.isDisjoint(with: found)
  }

  private func names(_ text: UnsafeBufferPointer<UInt8>) throws -> Set<String> {
    var names: Set<String> = []
    var parser = ChangeParser(text)
    try parser.forEach { names.insert(try $0.entityName()) }
    return names
  }
}

extension ChangeParser {
  /// The name of a group's entity; the group is then behind.
  fileprivate mutating func entityName() throws -> String {
    try expect("[")
    _ = try number()
    try expect(",")
    let name = try string()
    try expect(",")
    _ = try runs()
    try expect(",")
    _ = try runs()
    if takes(",") { _ = try rawStrings() }
    if takes(",") { try forEach { _ = try $0.rawStrings() } }
    try expect("]")
    return name
  }
}
