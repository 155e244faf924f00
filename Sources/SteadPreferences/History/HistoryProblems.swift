import SteadFiles

/// Problems of a history that no call could throw, on their way to the preferences' handler.
///
/// The domain reports its problems while the history's lock is held, and a handler may use the history: so
/// they wait until the lock is free.
final class HistoryProblems: Sendable {
  private static let calls = SerialCalls()

  private let waiting: ForkSafeLock<[PreferencesError]>
  private let reports: ErrorReports
  private let subscription: ProblemSubscription

  init(_ reports: ErrorReports) {
    let waiting = ForkSafeLock<[PreferencesError]>([])
    (self.waiting, self.reports) = (waiting, reports)
    subscription = ProblemSubscription { problem in
      waiting.withLock { $0.append(problem) }
      // For problems that occur in the background, when nobody calls the history.
      Self.calls.call { Self.report(waiting, to: reports) }
    }
  }

  func follow(_ store: DomainStore) { subscription.follow(store) }

  func add(_ problem: PreferencesError) { waiting.withLock { $0.append(problem) } }

  /// Calls the handler with waiting problems. Never called with a lock held.
  func report() { Self.report(waiting, to: reports) }

  private static func report(
    _ waiting: ForkSafeLock<[PreferencesError]>, to reports: ErrorReports
  ) {
    var problems: [PreferencesError] = []
    waiting.withLock { swap(&$0, &problems) }
    for problem in problems { reports.report(problem) }
  }
}
