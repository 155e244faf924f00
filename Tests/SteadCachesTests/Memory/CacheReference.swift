import SteadTestSupport

@testable import SteadCaches

/// What a memory cache may do, with plain dictionaries: which values it holds follows from what its handler was
/// called with, and each of these calls has to be allowed.
struct CacheReference {
  struct Difference: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  private struct Held {
    let value: Int
    let cost: Int
    let lastDeadline: Duration?
    var lastUse: Duration
    let timeToIdle: Duration?

    var deadline: Duration? {
      let idle = timeToIdle.map { lastUse + $0 }
      guard let lastDeadline else { return idle }
      return idle.map { min($0, lastDeadline) } ?? lastDeadline
    }
  }

  /// How long a value lives after its last use; nil for ever.
  let timeToIdle: Duration?

  init(timeToIdle: Duration? = nil) { self.timeToIdle = timeToIdle }

  private var held: [Int: Held] = [:]
  private var countLimit = Int.max
  private var costLimit = Int.max

  var count: Int { held.count }
  var cost: Int { held.values.reduce(0) { $0 + $1.cost } }

  /// The value that the cache has to return, which counts as a use.
  mutating func value(_ key: Int, at now: Duration) -> Int? {
    guard let found = held[key], !isOver(found, now) else { return nil }
    held[key]?.lastUse = now
    return found.value
  }

  private func isOver(_ held: Held, _ now: Duration) -> Bool {
    held.deadline.map { $0 <= now } ?? false
  }

  /// - Parameters:
  ///   - value: What a call that sets has set.
  ///   - events: What the handler was called with, in order.
  mutating func apply(
    _ operation: CacheOperation, value: Int, at now: Duration, _ events: [RemovalLog.Entry]
  ) throws {
    var demand = (count: 0, cost: 0)
    var new: (key: Int, held: Held)?
    switch operation {
    case .set(let key, let cost, let timeToLive):
      let old = held[key]
      demand = (old == nil ? 1 : 0, cost - (old?.cost ?? 0))
      new = (
        key,
        Held(
          value: value, cost: cost, lastDeadline: timeToLive.map { now + $0 }, lastUse: now,
          timeToIdle: timeToIdle)
      )
    case .countLimit(let limit): countLimit = limit
    case .totalCostLimit(let limit): costLimit = limit
    default: break
    }
    // What a share is taken of: the values that have not expired.
    var start = (count: count, cost: cost)
    for event in events {
      if let (key, candidate) = new, event.key == key, event.value == value {
        try checkRefusal(event, candidate, now)
        new = nil
        continue
      }
      guard let gone = held[event.key], gone.value == event.value else {
        throw Difference("\(event) was not held")
      }
      try check(event, gone, operation, demand, now, start)
      held[event.key] = nil
      if event.reason == .expired { start = (count, cost) }
    }
    if let (key, candidate) = new {
      // The older value's event comes before.
      if held[key] != nil { throw Difference("the older value of \(key) was not handed over") }
      held[key] = candidate
    }
    if count > countLimit || cost > costLimit { throw Difference("a limit is exceeded") }
  }

  private func checkRefusal(_ event: RemovalLog.Entry, _ new: Held, _ now: Duration) throws {
    switch event.reason {
    case .evicted where new.cost > costLimit || countLimit == 0: break
    case .expired where isOver(new, now): break
    default: throw Difference("\(event) was refused")
    }
  }

  private func check(
    _ event: RemovalLog.Entry, _ gone: Held, _ operation: CacheOperation,
    _ demand: (count: Int, cost: Int), _ now: Duration, _ start: (count: Int, cost: Int)
  ) throws {
    let isAllowed =
      switch (event.reason, operation) {
      case (.expired, _): isOver(gone, now)
      case (.replaced, .set(let key, _, _)), (.removed, .remove(let key)): event.key == key
      case (.removed, .removeAll): true
      case (.evicted, .set), (.evicted, .countLimit), (.evicted, .totalCostLimit):
        (count + demand.count > countLimit || cost + demand.cost > costLimit) && !hasOverdue(now)
      case (.pressure, .pressure(let isCritical)):
        !hasOverdue(now) && (isCritical || count > start.count / 2 || cost > start.cost / 2)
      default: false
      }
    if !isAllowed { throw Difference("\(event) was not allowed") }
  }

  /// Whether a value is held that has to go before others.
  private func hasOverdue(_ now: Duration) -> Bool {
    held.values.contains { ($0.deadline ?? now) <= now - ExpiryWheel.resolution }
  }
}

/// One call of a random sequence. Keys are few, so that calls meet.
enum CacheOperation {
  case set(key: Int, cost: Int, timeToLive: Duration?)
  case get(key: Int)
  case remove(key: Int)
  case removeAll
  case removeExpired
  case advance(Duration)
  case countLimit(Int)
  case totalCostLimit(Int)
  case pressure(isCritical: Bool)

  static let keyCount = 12

  static func random(using random: inout SplitMix) -> CacheOperation {
    let key = Int.random(in: 0..<keyCount, using: &random)
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<45:
      let isMortal = Int.random(in: 0..<3, using: &random) == 0
      let cost = Int.random(in: 0..<20, using: &random) == 0 ? 60 : key % 5
      return .set(
        key: key, cost: cost,
        timeToLive: isMortal ? .milliseconds(Int.random(in: 0...2_000, using: &random)) : nil)
    case 45..<70: return .get(key: key)
    case 70..<77: return .remove(key: key)
    case 77..<78: return .removeAll
    case 78..<82: return .removeExpired
    case 82..<92: return .advance(.milliseconds(Int.random(in: 0...900, using: &random)))
    case 92..<95:
      return .countLimit([0, 1, 2, 5, 10, .max].randomElement(using: &random) ?? 1)
    case 95..<98:
      return .totalCostLimit([0, 1, 8, 20, 40, .max].randomElement(using: &random) ?? 1)
    default: return .pressure(isCritical: Bool.random(using: &random))
    }
  }
}
