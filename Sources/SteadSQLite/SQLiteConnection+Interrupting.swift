import CSteadSQLite

extension SQLiteConnection {
  /// After how many of SQLite's own steps a statement that runs is asked whether to go on: some milliseconds.
  package static let stepsPerQuestion: Int32 = 100_000

  /// Runs a body whose statements go on only as long as a question does not throw; what it throws is thrown on.
  ///
  /// A statement that is ended so has no effect. The body may not use this function itself.
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

/// Asks whether to go on, and keeps why not.
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
