import SteadFiles

/// Where the errors of one `Preferences` go.
///
/// An object of its own, so that domains can report without a weak reference to the preferences, which
/// would make each further reference to them slow.
final class ErrorReports: Sendable {
  private struct State: Sendable {
    var handler: Preferences.ErrorHandler?
    var last: PreferencesError?
  }

  private let state = ForkSafeLock(State())

  var last: PreferencesError? { state.withLock { $0.last } }

  var handler: Preferences.ErrorHandler? {
    get { state.withLock { $0.handler } }
    set {
      // The old one may be the last to hold something with a lock of its own.
      var handler = newValue
      state.withLock { swap(&$0.handler, &handler) }
    }
  }

  func report(_ error: PreferencesError) {
    var last: PreferencesError? = error
    let handler = state.withLock { state in
      swap(&state.last, &last)
      return state.handler
    }
    (handler ?? Preferences.onError)(error)
  }
}
