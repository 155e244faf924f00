import CSteadSQLite

extension SQLiteConnection {
  /// The number of SQLite's own steps between two checks whether a statement may go on: some milliseconds.
  package static let stepsPerQuestion: Int32 = 100_000

  /// Runs a body whose statements go on only until `question` throws; its error is rethrown.
  ///
  /// An interrupted statement has no effect. The body may not use this function itself.
  package func interruptibly<Result>(
    _ question: () throws -> Void, _ body: () throws -> Result
  ) throws -> Result {
    try withoutActuallyEscaping(question) { question in
      let interruption = Interruption(question)
      let context = Unmanaged.passUnretained(interruption).toOpaque()
      sqlite3_progress_handler(
        handle, Self.stepsPerQuestion,
        { context in
          guard let context else { return 0 }
          let interruption = Unmanaged<Interruption>.fromOpaque(context).takeUnretainedValue()
          return interruption.isWanted() ? 1 : 0
        }, context)
      defer { sqlite3_progress_handler(handle, 0, nil, nil) }
      do {
        return try withExtendedLifetime(interruption) { try body() }
      } catch {
        throw interruption.reason ?? error
      }
    }
  }
}

/// Checks whether to go on, and keeps the reason if not.
private final class Interruption {
  private let question: () throws -> Void
  private(set) var reason: (any Error)?

  init(_ question: @escaping () throws -> Void) { self.question = question }

  func isWanted() -> Bool {
    guard reason == nil else { return true }
    do {
      try question()
    } catch {
      reason = error
    }
    return reason != nil
  }
}
