import SteadFiles
import Synchronization

/// The domains in which a value is looked up, the first that has it winning; and the one that `set` writes.
///
/// Immutable, so that readers need no lock.
final class SearchList: Sendable {
  let layers: [DomainStore]
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

  @inline(__always)
  func value(forKey key: String) -> PropertyList? {
    // Without counting references, which costs more than a look-up: `layers` retains them all.
    for layer in uncounted {
      if let value = layer._withUnsafeGuaranteedRef({ layer in layer.value(forKey: key) }) {
        return value
      }
    }
    return nil
  }

  /// Writes to the target, without counting references.
  @inline(__always)
  func withTarget(_ body: (DomainStore) throws -> Void) rethrows {
    try Unmanaged.passUnretained(target)._withUnsafeGuaranteedRef(body)
  }

  func isInterchangeable(with other: SearchList) -> Bool {
    target === other.target && (problem == nil) == (other.problem == nil)
      && layers.count == other.layers.count && zip(layers, other.layers).allSatisfy { $0 === $1 }
  }
}

// MARK: - The current list

/// The search list of one `Preferences`, which is rebuilt when domains appear or disappear.
///
/// A read costs one atomic load. Replaced lists are kept, since readers may still be using them, and are
/// reused when the same domains reappear: their number is that of distinct lists so far, not of changes.
final class LiveSearchList: Sendable {
  typealias Report = (PreferencesError) -> Void

  private struct State: Sendable {
    var suites: [String] = []
    /// Grows with each request for a new list: a list built for an older one is discarded.
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

  /// Calls `observer` whenever the list has been replaced, with whether this process caused it.
  func addObserver(_ observer: @escaping @Sendable (_ isOwn: Bool) -> Void) {
    state.withLock { $0.observers.append(observer) }
  }

  /// Rebuilds the list if domains have appeared or disappeared that nobody has reported.
  func renewIfChanged(report: Report) {
    let sources = state.withLock { $0.sources }
    if !sources.areUnchanged { renew(report: report, isOwn: false) }
  }

  /// Rebuilds the list, with suites as modified by `change`.
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
      var (made, sources) = plan.list(suites: suites, previous: list, report: report)
      let observers: [@Sendable (Bool) -> Void]?
      (suites, request, observers) = state.withLock { state in
        guard state.requests == request else { return (state.suites, state.requests, nil) }
        // The old ones have their own locks, and are released once this one is free.
        swap(&state.sources, &sources)
        return (suites, request, install(made, &state) ? state.observers : [])
      }
      guard let observers else { continue }
      for observer in observers { observer(isOwn) }
      return
    }
  }

  private func install(_ made: SearchList, _ state: inout State) -> Bool {
    let known = state.lists.first { $0.isInterchangeable(with: made) }
    if known == nil { state.lists.append(made) }
    let next = known ?? made
    let last = newest.exchange(Unmanaged.passUnretained(next), ordering: .acquiringAndReleasing)
    return last.toOpaque() != Unmanaged.passUnretained(next).toOpaque()
  }
}
