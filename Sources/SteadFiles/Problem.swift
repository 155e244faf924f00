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
      // The old handler is released after the lock: it may hold the last reference to an object whose deinit takes one.
      var new = newValue
      handler.withLock { swap(&$0, &new) }
    }
  }

  /// Passes a problem to the handler. Call it without holding a lock: the handler may use the package.
  package static func report(_ problem: Problem) {
    // A handler that meets the same problem again would call itself forever.
    guard !isHandling else { return problem.writeToLog() }
    // Task-local, so that a handler on one thread does not silence problems on others.
    $isHandling.withValue(true) { onProblem(problem) }
  }
}

extension Stead {
  /// A failure that could not be thrown.
  ///
  /// Compare ``code``, show ``message``, and see ``cause`` for the underlying error. No string in it contains
  /// a stored value or a secret.
  public struct Problem: Sendable {
    /// What went wrong, for comparison.
    ///
    /// Each product adds its own codes, and later versions add more.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
      private let name: String

      package init(_ name: String) { self.name = name }

      /// The code's name, for logs and metrics.
      public var description: String { name }
    }

    /// One of the package's products.
    public struct Product: Hashable, Sendable, CustomStringConvertible {
      private let name: String
      private init(_ name: String) { self.name = name }

      /// SteadFiles.
      public static let files = Product("files")
      /// SteadPreferences.
      public static let preferences = Product("preferences")
      /// SteadRecords, which is `import SwiftData`.
      public static let records = Product("records")
      /// SteadSecrets.
      public static let secrets = Product("secrets")
      /// SteadCaches.
      public static let caches = Product("caches")
      /// SteadTransfer.
      public static let transfer = Product("transfer")
      /// SteadSync.
      public static let sync = Product("sync")

      /// The product's name in a log's category.
      public var description: String { name }
    }

    /// What went wrong, for comparison.
    public var code: Code
    /// The product that reported the problem.
    public var product: Product
    /// What the problem concerns, such as `Author.books`, a path or a key; empty when ``message`` says everything.
    public var subject: String
    /// What went wrong and what to do about it, in a sentence or two for a person.
    public var message: String
    /// The underlying error, if any.
    public var cause: (any Error)?

    /// Makes a problem; the package does this, and the test of a handler may, too.
    public init(
      code: Code, product: Product, subject: String = "", message: String,
      cause: (any Error)? = nil
    ) {
      self.code = code
      self.product = product
      self.subject = subject
      self.message = message
      self.cause = cause
    }
  }
}

extension Stead.Problem: CustomStringConvertible {
  /// The subject, the message, and the details of the cause.
  public var description: String {
    let text = subject.isEmpty ? message : "\(subject): \(message)"
    guard let cause else { return text }
    let reason = "\(cause)"
    return reason.contains(message) ? text : "\(text) Cause: \(reason)"
  }
}

extension Stead.Problem.Code {
  /// The system has no watch left for a file, which is polled instead.
  public static let watchLimit = Self("watchLimit")
}
