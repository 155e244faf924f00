import SteadFiles
import Synchronization

/// The search list of one `Preferences`, which is made anew when domains come or go.
///
/// A reader costs one atomic load. Lists that were replaced are kept, since readers may still be
/// using them, and are used again when the same domains come back: their number is that of different
/// lists there have been, not of changes.
final class LiveSearchList: Sendable {
  typealias Report = (PreferencesError) -> Void

  private struct State: Sendable {
    var suites: [String] = []
    /// Grows with each request for a new list: a list that was made for an older one is thrown away.
    var requests = 0
    var lists: [SearchList]
    /// What the newest one is made of.
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

  /// The list as it is. It lives as long as this object, which holds all that it has had.
  @inline(__always)
  var current: Unmanaged<SearchList> { newest.load(ordering: .acquiring) }

  /// The value that counts for a key.
  @inline(__always)
  func value(forKey key: String) -> PropertyList? {
    current._withUnsafeGuaranteedRef { list in list.value(forKey: key) }
  }

  var list: SearchList { current.takeUnretainedValue() }

  /// Calls `observer` whenever the list has become another one, and says whether this process did that.
  func addObserver(_ observer: @escaping @Sendable (_ isOwn: Bool) -> Void) {
    state.withLock { $0.observers.append(observer) }
  }

  /// Makes the list anew, with the suites that `change` leaves.
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
        // The old ones have locks of their own, and go when this one is free again.
        swap(&state.sources, &sources)
        return (suites, request, use(made, &state) ? state.observers : [])
      }
      guard let observers else { continue }
      for observer in observers { observer(isOwn) }
      return
    }
  }

  private func use(_ made: SearchList, _ state: inout State) -> Bool {
    let known = state.lists.first { $0.isInterchangeable(with: made) }
    if known == nil { state.lists.append(made) }
    let next = known ?? made
    let last = newest.exchange(Unmanaged.passUnretained(next), ordering: .acquiringAndReleasing)
    return last.toOpaque() != Unmanaged.passUnretained(next).toOpaque()
  }
}
