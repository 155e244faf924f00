import Foundation

/// Carries a context to the executor where it lives, for a turn there.
struct ContextTurn: @unchecked Sendable {
  // Sendable: made where the context is used, and opened on that context's own executor alone.
  private weak var context: ModelContext?

  init(_ context: ModelContext) { self.context = context }

  @MainActor func runOnMain() { context?.graph.turn() }

  func run(on actor: isolated any Actor) { context?.graph.turn() }

  /// To be called on the context's own queue.
  func runHere() { context?.graph.turn() }
}

extension ObjectGraph {
  /// The context's turn on its executor: autosaves, and applies other contexts' commits.
  func turn() {
    inbox.listener.turnBegins()
    guard saveLock.lockForTurn() else { return }
    let summary = autosave()
    endExclusive()
    tellOfSave(summary)
    guard saveLock.lockForTurn() else { return }
    defer { endExclusive() }
    applyCommitsOfOthers()
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
    guard !graph.inbox.listener.hasTurns, MainQueue.isCurrent else { return }
    setTurn { turn in Task { @MainActor in turn.runOnMain() } }
  }

  /// Sets how the context gets a turn on its own executor.
  func setTurn(_ run: @escaping @Sendable (ContextTurn) -> Void) {
    let turn = ContextTurn(self)
    graph.inbox.listener.setTurn { run(turn) }
    graph.listen()
  }
}

/// The queue of the main actor.
private enum MainQueue {
  private static let key: DispatchSpecificKey<Void> = {
    let key = DispatchSpecificKey<Void>()
    DispatchQueue.main.setSpecific(key: key, value: ())
    return key
  }()

  // Asking for the thread isn't enough: off Apple, a program whose `main` is asynchronous gives its first thread to
  // Dispatch, and the main actor then runs on other threads.
  static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil || Thread.isMainThread }
}
