import SteadTestSupport
import Testing

@testable import SteadCaches

/// Random sequences of calls against a plain reference.
@Suite(.hangLimit) struct MemoryCacheModelTests {
  /// How many calls a sequence has at most.
  private static let length = 60

  @Test func `random sequences are allowed by the reference`() async throws {
    let seeds = 1...UInt64(Effort.times(5_000, long: 100_000))
    let fault = try await inOwnThread { Self.firstFault(of: seeds) }
    #expect(fault == nil, "\(fault ?? "")")
  }

  private static func firstFault(of seeds: ClosedRange<UInt64>) -> String? {
    for seed in seeds {
      let operations = Self.operations(seed)
      // A third each: no time, one that is over now and then, and one that is over all the time.
      let timeToIdle = [nil, Duration.milliseconds(2_500), .milliseconds(300)][Int(seed % 3)]
      guard let difference = Self.difference(operations, timeToIdle) else { continue }
      let shortest = Self.shrunk(operations, timeToIdle)
      let calls = shortest.map { "  \($0)" }.joined(separator: "\n")
      let again = Self.difference(shortest, timeToIdle) ?? "comes only now and then"
      return
        "Seed \(seed), idle \(timeToIdle, default: "never"): \(difference)\nThe shortest: \(again)\n\(calls)"
    }
    return nil
  }

  private static func operations(_ seed: UInt64) -> [CacheOperation] {
    var random = SplitMix(seed: seed)
    let count = Int.random(in: 1...length, using: &random)
    return (0..<count).map { _ in CacheOperation.random(using: &random) }
  }

  private static func difference(_ operations: [CacheOperation], _ timeToIdle: Duration?) -> String?
  {
    do {
      try run(operations, timeToIdle)
      return nil
    } catch {
      return "\(error)"
    }
  }

  private static func run(_ operations: [CacheOperation], _ timeToIdle: Duration?) throws {
    let (clock, log) = (TestClock(), RemovalLog())
    let cache = MemoryCache<Int, Int>(
      timeToIdle: timeToIdle, onRemoval: log.note, now: { clock.now })
    var reference = CacheReference(timeToIdle: timeToIdle)
    var seen = 0
    for (place, operation) in operations.enumerated() {
      if case .get(let key) = operation {
        let expected = reference.value(key, at: clock.now)
        guard cache.value(for: key) == expected else {
          throw CacheReference.Difference("call \(place) did not return \(expected ?? -1)")
        }
      } else {
        perform(operation, place, cache, clock)
      }
      let events = Array(log.entries[seen...])
      seen += events.count
      try reference.apply(operation, value: place, at: clock.now, events)
      guard cache.count == reference.count, cache.totalCost == reference.cost else {
        throw CacheReference.Difference("count or cost is wrong after call \(place)")
      }
    }
  }

  private static func perform(
    _ operation: CacheOperation, _ value: Int, _ cache: MemoryCache<Int, Int>, _ clock: TestClock
  ) {
    switch operation {
    case .set(let key, let cost, let timeToLive):
      cache.setValue(value, for: key, cost: cost, timeToLive: timeToLive)
    case .get: break
    case .remove(let key): cache.removeValue(for: key)
    case .removeAll: cache.removeAll()
    case .removeExpired: cache.removeExpired()
    case .advance(let time): clock.advance(by: time)
    case .countLimit(let limit): cache.countLimit = limit
    case .totalCostLimit(let limit): cache.totalCostLimit = limit
    case .pressure(let isCritical): cache.respond(to: isCritical ? .critical : .warning)
    }
  }

  /// Leaves out calls for as long as the rest still differs.
  private static func shrunk(_ operations: [CacheOperation], _ timeToIdle: Duration?)
    -> [CacheOperation]
  {
    var rest = operations
    var size = max(1, rest.count / 2)
    while true {
      var (start, isShorter) = (0, false)
      while start < rest.count {
        var fewer = rest
        fewer.removeSubrange(start..<min(start + size, rest.count))
        if difference(fewer, timeToIdle) != nil {
          (rest, isShorter) = (fewer, true)
        } else {
          start += size
        }
      }
      if size == 1, !isShorter { return rest }
      size = max(1, size / 2)
    }
  }
}
