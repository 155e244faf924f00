import SteadFiles
import Synchronization

/// The domains in which a value is looked up, in order, and the one that `set` writes.
///
/// Immutable, so that readers need no lock. ``LiveSearchList`` replaces it when domains appear or
/// disappear.
final class SearchList: Sendable {
  let layers: [DomainStore]
  /// The layers without reference counting; `layers` retains them.
  private let uncounted: [Unmanaged<DomainStore>]
  let target: DomainStore
  /// Why the target is a replacement in memory; nil when it is not.
  let problem: PreferencesError?

  init(layers: [DomainStore], target: DomainStore, problem: PreferencesError?) {
    self.layers = layers
    uncounted = layers.map(Unmanaged.passUnretained)
    self.target = target
    self.problem = problem
  }

  /// The value of the first domain that has the key.
  @inline(__always)
  func value(forKey key: String) -> PropertyList? {
    // Retaining and releasing a layer costs more than a look-up in it.
    for layer in uncounted {
      if let value = layer._withUnsafeGuaranteedRef({ layer in layer.value(forKey: key) }) {
        return value
      }
    }
    return nil
  }

  /// Passes the target to `body` without reference counting.
  @inline(__always)
  func withTarget(_ body: (DomainStore) throws -> Void) rethrows {
    try Unmanaged.passUnretained(target)._withUnsafeGuaranteedRef(body)
  }

  /// Whether both lists have the same domains.
  func isInterchangeable(with other: SearchList) -> Bool {
    target === other.target && (problem == nil) == (other.problem == nil)
      && layers.count == other.layers.count && zip(layers, other.layers).allSatisfy { $0 === $1 }
  }
}

// MARK: - The current list

/// The current search list of one `Preferences`, replaced when domains appear or disappear.
///
/// A read costs one atomic load, with no lock and no reference counting. So a replaced list can
/// never be released: a reader may be using it at any moment (read-copy-update without a grace
/// period). All lists are retained until this object is released, and an equal one is reused. Their
/// number is that of different combinations of domains so far, not of changes.
final class LiveSearchList: Sendable {
  typealias Report = (PreferencesError) -> Void

  /// What the lock protects.
  private struct State: Sendable {
    var suites: [String] = []
    /// The number of the last request for a new list. A list that was built for an earlier request
    /// is discarded.
    var requests = 0
    var lists: [SearchList]
    /// The sources of the newest one.
    var sources: SearchPlan.Sources
    var observers: [@Sendable (_ isOwn: Bool) -> Void] = []
  }

  let plan: SearchPlan
  private let newest: Atomic<Unmanaged<SearchList>>
  private let state: ForkSafeLock<State>

  init(plan: SearchPlan, report: Report) {
    self.plan = plan
    let (list, sources) = plan.list(suites: [], previous: nil, report: report)
    newest = Atomic(Unmanaged.passUnretained(list))
    state = ForkSafeLock(State(lists: [list], sources: sources))
    // Last: from here on other threads may renew this list.
    plan.environment.shared.add(self)
  }

  /// The current list. It lives as long as this object, which retains all of its lists.
  @inline(__always)
  var current: Unmanaged<SearchList> { newest.load(ordering: .acquiring) }

  /// The effective value of a key.
  @inline(__always)
  func value(forKey key: String) -> PropertyList? {
    current._withUnsafeGuaranteedRef { list in list.value(forKey: key) }
  }

  var list: SearchList { current.takeUnretainedValue() }

  /// Calls `observer` after each replacement, with whether this process caused it.
  func addObserver(_ observer: @escaping @Sendable (_ isOwn: Bool) -> Void) {
    state.withLock { $0.observers.append(observer) }
  }

  /// Rebuilds the list if domains have appeared or disappeared without a notification.
  func renewIfChanged(report: Report) {
    let sources = state.withLock { $0.sources }
    if !sources.areUnchanged { renew(report: report, isOwn: false) }
  }

  /// Rebuilds the list, after `change` has edited the suites.
  ///
  /// Opens domains, so it works without the lock: a request that comes in between makes it start
  /// again with the newer suites.
  func renew(
    report: Report, isOwn: Bool = true, change: (inout [String]) -> Void = { _ in }
  ) {
    // Domains have locks of their own, and locks do not nest.
    var (suites, request) = state.withLock { state in
      change(&state.suites)
      state.requests += 1
      return (state.suites, state.requests)
    }
    while true {
      // Domains have locks of their own, and locks do not nest.
      var (made, sources) = plan.list(suites: suites, previous: list, report: report)
      let observers: [@Sendable (Bool) -> Void]?
      (suites, request, observers) = state.withLock { state in
        // Another thread has requested a list meanwhile. This one may lack what that request is
        // about.
        guard state.requests == request else { return (state.suites, state.requests, nil) }
        // The old ones have their own locks, and are released once this one is free.
        swap(&state.sources, &sources)
        return (suites, request, install(made, &state) ? state.observers : [])
      }
      guard let observers else { continue }
      // Without the lock: observers read the new list's domains.
      for observer in observers { observer(isOwn) }
      return
    }
  }

  /// Makes a list, or an equal earlier one, the current one, and returns whether that is another
  /// than before.
  private func install(_ made: SearchList, _ state: inout State) -> Bool {
    // An equal list is used again, so that domains that come and go do not accumulate lists.
    let known = state.lists.first { $0.isInterchangeable(with: made) }
    if known == nil { state.lists.append(made) }
    let next = known ?? made
    // Release: a reader that loads the new list must see its contents.
    let last = newest.exchange(Unmanaged.passUnretained(next), ordering: .acquiringAndReleasing)
    return last.toOpaque() != Unmanaged.passUnretained(next).toOpaque()
  }
}
