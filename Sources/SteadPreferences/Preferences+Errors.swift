extension Preferences {
  /// What is called with an error that a method without `throws` met.
  public typealias ErrorHandler = @Sendable (PreferencesError) -> Void

  /// Called for errors of preferences that have no handler of their own, and when
  /// ``init(suiteName:)`` gives nil.
  ///
  /// By default it passes the first error of each kind to `Stead.onProblem`.
  public static var onError: ErrorHandler {
    get { ErrorReports.sharedHandler }
    set { ErrorReports.sharedHandler = newValue }
  }

  /// Called for errors that methods without `throws` meet here; nil leaves them to the type's
  /// handler.
  ///
  /// It runs on the thread of the call that failed, and may use the preferences.
  public var onError: ErrorHandler? {
    get { errors.handler }
    set { errors.handler = newValue }
  }

  /// The last error that a method without `throws` met here, nil when there was none.
  public var lastError: PreferencesError? { errors.last }

  /// Does what may fail, and leaves errors to the handlers; nil when it failed.
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
