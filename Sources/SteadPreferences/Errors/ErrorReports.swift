import SteadFiles
import Synchronization

/// Passes the errors of one `Preferences` to its handler.
///
/// An object of its own, so that domains can report without a weak reference to the preferences. An
/// object with a weak reference keeps its count in a side table for the rest of its life, which
/// makes each retain and release slower: 40 ns a pair.
final class ErrorReports: Sendable {
  typealias Handler = @Sendable (PreferencesError) -> Void

  private struct State: Sendable {
    var handler: Handler?
    var last: PreferencesError?
    /// The codes that were reported to the handler.
    var reported: Set<PreferencesError.Code> = []
  }

  private let state = ForkSafeLock(State())

  var last: PreferencesError? { state.withLock { $0.last } }

  /// The handler; a new one gets each kind of error again.
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

  /// Calls the handler, unless the error repeats one that it was called with.
  func report(_ error: PreferencesError) {
    var last: PreferencesError? = error
    let (handler, isNew) = state.withLock { state in
      // The old error may hold the last reference to something; it is released without the lock.
      swap(&state.last, &last)
      let isFirst = state.reported.insert(error.code).inserted
      return (state.handler, isFirst || !error.isRepetition)
    }
    if isNew { (handler ?? Self.sharedHandler)(error) }
  }
}

extension ErrorReports {
  /// The handler of objects without their own.
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

  /// Reports one error of each kind: a program that cannot save would otherwise fill its log with
  /// one sentence.
  private static let reportFirstOfKind: Handler = { error in
    guard reportedCodes.withLock({ $0.insert(error.code).inserted }) else { return }
    Stead.report(Stead.Problem(error))
  }
}
