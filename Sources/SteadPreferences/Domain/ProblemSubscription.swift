import SteadFiles

/// Tells of a domain's problems until it is released.
final class ProblemSubscription: Sendable {
  private struct Place: Sendable {
    var store: DomainStore
    var token: UInt64
  }

  private let place = ForkSafeLock<Place?>(nil)
  private let handler: @Sendable (PreferencesError) -> Void

  init(_ handler: @escaping @Sendable (PreferencesError) -> Void) {
    self.handler = handler
  }

  deinit { end(place.withLock { $0 }) }

  /// Goes over to a domain, with the problems that wait there already.
  func follow(_ store: DomainStore) {
    guard place.withLock({ $0?.store }) !== store else { return }
    var place: Place? = Place(store: store, token: store.addProblemHandler(handler))
    self.place.withLock { swap(&$0, &place) }
    end(place)
  }

  private func end(_ place: Place?) {
    if let place { place.store.removeProblemHandler(place.token) }
  }
}
