import SteadFiles
import Synchronization

/// Delivers the errors of one `Preferences`.
///
/// A separate object, so that domains can report without a weak reference to the preferences: a weak
/// reference would move the object to the slow refcount path.
final class ErrorReports: Sendable {
  typealias Handler = @Sendable (PreferencesError) -> Void

  private struct State: Sendable {
    var handler: Handler?
    var last: PreferencesError?
    /// The recurring errors with which the handler was called.
    var reported: Set<PreferencesError.Code> = []
  }

  private let state = ForkSafeLock(State())

  var last: PreferencesError? { state.withLock { $0.last } }

  var handler: Handler? {
    get { state.withLock { $0.handler } }
    set {
      // The old one may hold the last reference to an object with its own lock.
      var handler = newValue
      state.withLock { state in
        swap(&state.handler, &handler)
        state.reported = []
      }
    }
  }

  func report(_ error: PreferencesError) {
    var last: PreferencesError? = error
    let (handler, isNew) = state.withLock { state in
      swap(&state.last, &last)
      let isFirst = state.reported.insert(error.code).inserted
      return (state.handler, isFirst || !error.isRepetition)
    }
    if isNew { (handler ?? Self.sharedHandler)(error) }
  }
}

extension ErrorReports {
  /// Receives errors that have no handler of their own.
  static var sharedHandler: Handler {
    get { shared.withLock { $0 } }
    set {
      // The old one may hold the last reference to an object with its own lock.
      var handler = newValue
      shared.withLock { swap(&$0, &handler) }
    }
  }

  private static let shared = ForkSafeLock<Handler>(reportFirstOfKind)
  private static let reportedCodes = Mutex<Set<PreferencesError.Code>>([])

  /// One report of each kind: a program that cannot save would otherwise fill its log with one sentence.
  private static let reportFirstOfKind: Handler = { error in
    guard reportedCodes.withLock({ $0.insert(error.code).inserted }) else { return }
    Stead.report(Stead.Problem(error))
  }
}
