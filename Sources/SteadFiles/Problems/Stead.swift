/// The package as a whole: what all of its products share.
public enum Stead {
  /// A function that is called with each problem.
  public typealias ProblemHandler = @Sendable (Problem) -> Void

  private static let handler = ForkSafeLock<ProblemHandler> { $0.writeToLog() }

  /// Whether this task is inside the handler.
  @TaskLocal private static var isHandling = false

  /// Called with every problem that no method can throw: a row that could not be read during a property
  /// access, an autosave that failed, a preference that was not stored.
  ///
  /// ```swift
  /// Stead.onProblem = { problem in
  ///   logger.error("\(problem)")
  ///   if problem.code == .autosaveFailed { metrics.increment("autosave-failures") }
  /// }
  /// ```
  ///
  /// By default problems go to the unified log on Apple's systems, and to standard error elsewhere, one line
  /// each. Set it before the package is first used, or problems may be missed.
  ///
  /// The handler runs on the thread on which the problem occurred, before the failing call returns, so it
  /// must be quick. A problem that arises inside the handler goes to the default log, not to the handler
  /// again.
  public static var onProblem: ProblemHandler {
    get { handler.withLock { $0 } }
    set {
      // The old handler may hold the last reference to an object whose deinit takes a lock.
      var new = newValue
      handler.withLock { swap(&$0, &new) }
    }
  }

  /// Passes a problem to the handler. Call it without holding a lock: the handler may use the package.
  package static func report(_ problem: Problem) {
    guard !isHandling else { return problem.writeToLog() }
    $isHandling.withValue(true) { onProblem(problem) }
  }
}
