import SteadFiles
import Synchronization

/// Where the errors of one `Preferences` go.
///
/// An object of its own, so that domains can report without a weak reference to the preferences, which
/// would make each further reference to them slow.
final class ErrorReports: Sendable {
  typealias Handler = @Sendable (PreferencesError) -> Void

  private struct State: Sendable {
    var handler: Handler?
    var last: PreferencesError?
    /// What the handler was told of, as far as it can come again and again.
    var told: Set<PreferencesError.Code> = []
  }

  private let state = ForkSafeLock(State())

  var last: PreferencesError? { state.withLock { $0.last } }

  var handler: Handler? {
    get { state.withLock { $0.handler } }
    set {
      // The old one may be the last to hold something with a lock of its own.
      var handler = newValue
      state.withLock { state in
        swap(&state.handler, &handler)
        state.told = []
      }
    }
  }

  func report(_ error: PreferencesError) {
    var last: PreferencesError? = error
    let (handler, isNews) = state.withLock { state in
      swap(&state.last, &last)
      let isFirst = state.told.insert(error.code).inserted
      return (state.handler, isFirst || !error.isRepetition)
    }
    if isNews { (handler ?? Self.sharedHandler)(error) }
  }
}

extension ErrorReports {
  /// Where errors go that have no handler of their own.
  static var sharedHandler: Handler {
    get { shared.withLock { $0 } }
    set {
      // The old one may be the last to hold something with a lock of its own.
      var handler = newValue
      shared.withLock { swap(&$0, &handler) }
    }
  }

  private static let shared = ForkSafeLock<Handler>(reportFirstOfKind)
  private static let reportedCodes = Mutex<Set<PreferencesError.Code>>([])

  /// One report of each kind: a program that cannot save would otherwise fill its log with one
  /// sentence.
  private static let reportFirstOfKind: Handler = { error in
    guard reportedCodes.withLock({ $0.insert(error.code).inserted }) else { return }
    Stead.report(Stead.Problem(error))
  }
}
