import Synchronization

/// Notifies caches when the system is short of memory.
///
/// A process has one that observes the system, ``shared``. It begins with the first subscription
/// and never ends; while nothing happens it only costs a waiting thread. If the system does not
/// report, no subscriber is ever called.
final class MemoryPressure: Sendable {
  /// How short the system is of memory.
  enum Level: Int, Sendable {
    /// Programs wait for memory at times.
    case warning
    /// Programs wait for memory most of the time.
    case critical

    /// How much of a number of entries, or of their cost, remains: half of it, and nothing when the
    /// level is critical.
    func keptPart(of number: Int) -> Int {
      switch self {
      case .warning: number / 2
      case .critical: 0
      }
    }
  }

  /// A subscription, which ends with the last reference to it.
  final class Subscription: Sendable {
    private let pressure: MemoryPressure
    private let number: Int

    fileprivate init(_ pressure: MemoryPressure, number: Int) {
      (self.pressure, self.number) = (pressure, number)
    }

    deinit { pressure.state.withLock { $0.handlers[number] = nil } }
  }

  private struct State {
    var handlers: [Int: @Sendable (Level) -> Void] = [:]
    var nextNumber = 0
    var isObserved = false
  }

  /// The one that observes the system.
  static let shared = MemoryPressure(begin: { $0.observe() })

  private let state = Mutex(State())
  private let ignoresSystem = Atomic(false)
  private let begin: @Sendable (MemoryPressure) -> Void

  /// - Parameter begin: Called with the first subscription.
  init(begin: @escaping @Sendable (MemoryPressure) -> Void = { _ in }) { self.begin = begin }

  /// Has `handler` called, on a thread of this type's own, whenever memory is short: at most every
  /// two seconds for each level.
  func subscribe(_ handler: @escaping @Sendable (Level) -> Void) -> Subscription {
    let (subscription, isFirst) = state.withLock { state in
      let number = state.nextNumber
      state.nextNumber += 1
      state.handlers[number] = handler
      defer { state.isObserved = true }
      // With the first subscription alone, however many end and follow.
      return (Subscription(self, number: number), !state.isObserved)
    }
    if isFirst { begin(self) }
    return subscription
  }

  /// Stops delivering the system's reports from now on: for tests, which would otherwise depend on
  /// how much memory other programs use.
  func ignoreSystem() { ignoresSystem.store(true, ordering: .relaxed) }

  /// Receives a report of the system.
  func report(_ level: Level) {
    if !ignoresSystem.load(ordering: .relaxed) { announce(level) }
  }

  /// Calls all subscribers, one after the other.
  func announce(_ level: Level) {
    let handlers = state.withLock { $0.handlers }
    // Without the lock: a handler that drops values runs their `deinit`, which may end a
    // subscription.
    for (_, handler) in handlers.sorted(by: { $0.key < $1.key }) { handler(level) }
  }
}
