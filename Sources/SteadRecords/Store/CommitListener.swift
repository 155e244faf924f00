import Synchronization

/// What other threads hold of a context: its identity, and how to give it a turn.
final class CommitListener: Sendable {
  private struct Content {
    var turn: (@Sendable () -> Void)?
    var isScheduled = false
  }

  private let content = Mutex(Content())

  var reader: ObjectIdentifier { ObjectIdentifier(self) }

  var hasTurns: Bool { content.withLock { $0.turn != nil } }

  /// Sets the function that runs a turn on the context's executor; any thread may call it.
  func setTurn(_ turn: @escaping @Sendable () -> Void) {
    content.withLock { $0.turn = turn }
  }

  /// Asks for a turn, unless one is scheduled already; returns whether the context has turns.
  @discardableResult
  func schedule() -> Bool {
    let turn = content.withLock { content -> (isKnown: Bool, turn: (@Sendable () -> Void)?) in
      guard let turn = content.turn else { return (false, nil) }
      if content.isScheduled { return (true, nil) }
      content.isScheduled = true
      return (true, turn)
    }
    turn.turn?()
    return turn.isKnown
  }

  func turnBegins() { content.withLock { $0.isScheduled = false } }
}
