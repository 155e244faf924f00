import SteadFiles

/// Reports a domain's problems until it is released.
final class ProblemSubscription: Sendable {
  private struct Followed: Sendable {
    var store: DomainStore
    var token: UInt64
  }

  private let followed = ForkSafeLock<Followed?>(nil)
  private let handler: @Sendable (PreferencesError) -> Void

  init(_ handler: @escaping @Sendable (PreferencesError) -> Void) {
    self.handler = handler
  }

  deinit { end(followed.withLock { $0 }) }

  /// Switches to a domain, including the problems already waiting there.
  func follow(_ store: DomainStore) {
    guard followed.withLock({ $0?.store }) !== store else { return }
    var followed: Followed? = Followed(store: store, token: store.addProblemHandler(handler))
    self.followed.withLock { swap(&$0, &followed) }
    end(followed)
  }

  private func end(_ followed: Followed?) {
    if let followed { followed.store.removeProblemHandler(followed.token) }
  }
}
