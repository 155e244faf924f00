import SteadFiles

/// Tells of a domain's problems until it is released.
final class ProblemSubscription: Sendable {
  private let store: DomainStore
  private let token = ForkSafeLock<UInt64?>(nil)

  init(to store: DomainStore) {
    self.store = store
  }

  deinit {
    if let token = token.withLock({ $0 }) { store.removeProblemHandler(token) }
  }

  /// Begins, with the problems that wait already.
  func start(_ handler: @escaping @Sendable (PreferencesError) -> Void) {
    let new = store.addProblemHandler(handler)
    token.withLock { $0 = new }
  }
}
