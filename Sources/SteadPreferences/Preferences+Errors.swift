extension Preferences {
  /// A function that is called with an error in a method that does not throw.
  public typealias ErrorHandler = @Sendable (PreferencesError) -> Void

  /// Called for errors of preferences that have no handler of their own, and when ``init(suiteName:)`` returns nil.
  ///
  /// By default it passes the first error of each kind to `Stead.onProblem`.
  public static var onError: ErrorHandler {
    get { ErrorReports.sharedHandler }
    set { ErrorReports.sharedHandler = newValue }
  }

  /// Called for errors in methods of this object that do not throw; nil passes them to the type's handler.
  ///
  /// It runs on the thread of the call that failed, and may use the preferences.
  public var onError: ErrorHandler? {
    get { errors.handler }
    set { errors.handler = newValue }
  }

  /// The last error in a method of this object that does not throw; nil if none occurred.
  public var lastError: PreferencesError? { errors.last }

  /// Runs code that may fail, and passes errors to the handlers; nil when it failed.
  @discardableResult
  package func reporting<Value>(key: String? = nil, _ body: () throws -> Value) -> Value? {
    do {
      return try body()
    } catch {
      report(PreferencesError(error, domain: domain, key: key))
      return nil
    }
  }

  func report(_ error: PreferencesError) { errors.report(error) }
}
