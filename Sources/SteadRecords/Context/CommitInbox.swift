import Foundation

/// How far a context has followed other contexts' commits, and how they ask it for a turn.
///
/// Invariant: a store's number only moves when the context's objects have the commits up to it: as they are applied,
/// with the context's own commit, and at the first read, before which there are no objects.
struct CommitInbox {
  private let listener: CommitListener
  /// The number of the last commit that the context's objects know, by the store's place; nil before
  /// anything was read.
  private var seen: [Int64?]
  private var seenOutsiders: [UInt64]
  private let logs: [CommitLog]

  init(_ stores: [RecordStore], _ listener: CommitListener) {
    self.listener = listener
    logs = stores.map(\.log)
    seen = Array(repeating: nil, count: stores.count)
    seenOutsiders = logs.map(\.outsiderCount)
    for log in logs { log.addContext() }
  }

  /// Ends the context's part in the logs, which then need not name rows for it.
  func leave() { for log in logs { log.removeContext() } }

  /// Asks for a turn after each commit of another context from now on.
  func listen() { for log in logs { log.listen(listener) } }

  /// The number of the last commit that the context's objects have; 0 before anything was read.
  func number(of store: Int) -> Int64 { seen[store] ?? 0 }

  /// What other contexts have committed up to a number since the last call, which the caller has to apply: the same
  /// commits are not returned again.
  mutating func news(of store: Int, upTo number: Int64) -> CommitLog.News {
    // Read once: a change that is noted between two reads would be taken for applied.
    let outsiderCount = logs[store].outsiderCount
    defer {
      seen[store] = number
      seenOutsiders[store] = outsiderCount
    }
    if outsiderCount != seenOutsiders[store] { return .everything }
    // Nothing was read yet, so no object can be outdated.
    guard let last = seen[store] else { return .nothing }
    return logs[store].news(after: last, upTo: number, for: listener.reader)
  }

  /// Records what the first objects were read from.
  mutating func didRead(_ number: Int64, of store: Int) {
    if seen[store] == nil { seen[store] = number }
  }

  /// Records a commit of the context's own.
  mutating func didCommit(_ number: Int64, to store: Int) { seen[store] = number }
}

// MARK: - Turns

/// Carries a context to the executor where it lives, for a turn there.
struct ContextTurn: @unchecked Sendable {
  // Sendable: made where the context is used, and opened on that context's own executor alone.
  private weak var context: ModelContext?

  init(_ context: ModelContext) { self.context = context }

  @MainActor func runOnMain() { runHere() }

  func run(on actor: isolated any Actor) { runHere() }

  /// To be called on the context's own queue.
  func runHere() {
    // The turn may release what holds the context otherwise.
    guard let context else { return }
    withExtendedLifetime(context) { context.linkedGraph().saver.turn() }
  }
}

extension Saver {
  /// The context's turn on its executor: autosaves, and applies other contexts' commits.
  func turn() {
    // First: a commit during the turn may come too late for it, and then has to schedule another.
    graph.commits.listener.turnBegins()
    guard lock.lockForTurn() else { return }
    // The lock is taken twice, since observers of the save are called in between.
    let summary = autosave()
    graph.notePendingTables()
    // Within the lock, since another thread's save does the same. The caller holds the context for the turn.
    graph.releaseContext()
    endExclusive()
    tellOfSave(summary)
    guard lock.lockForTurn() else { return }
    defer { endExclusive() }
    graph.commits.applyCommitsOfOthers()
  }
}

extension ModelContext {
  /// Turns on autosave, and starts taking turns on the main actor, which apply other contexts' commits.
  @MainActor func becomeMain() {
    setTurn { turn in Task { @MainActor in turn.runOnMain() } }
    autosaveEnabled = true
  }

  /// Starts taking turns on the main actor if this is called on it and the context has no turns yet.
  func takeTurnsOfMainActor() {
    guard !linkedGraph().commits.listener.hasTurns, MainQueue.isCurrent else { return }
    setTurn { turn in Task { @MainActor in turn.runOnMain() } }
  }

  /// Sets how the context gets a turn on its own executor.
  func setTurn(_ run: @escaping @Sendable (ContextTurn) -> Void) {
    // The turn holds the context weakly: the context itself holds the listener, through its engine.
    let turn = ContextTurn(self)
    linkedGraph().commits.listener.setTurn { run(turn) }
    linkedGraph().listen()
  }
}

/// The queue of the main actor.
enum MainQueue {
  private static let key: DispatchSpecificKey<Void> = {
    let key = DispatchSpecificKey<Void>()
    DispatchQueue.main.setSpecific(key: key, value: ())
    return key
  }()

  // Asking for the thread isn't enough: off Apple, a program whose `main` is asynchronous gives its first thread to
  // Dispatch, and the main actor then runs on other threads.
  static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil || Thread.isMainThread }
}
