import SteadTestSupport
import Testing

@testable import SteadCaches

@Suite(.hangLimit) struct MemoryCacheExpiryTests {
  private let clock = TestClock()
  private let log = RemovalLog()

  private func cache(countLimit: Int = .max, timeToLive: Duration? = nil) -> MemoryCache<Int, Int> {
    MemoryCache(
      countLimit: countLimit, timeToLive: timeToLive, onRemoval: log.note,
      now: { [clock] in clock.now })
  }

  @Test func `is returned until its time is over`() {
    let cache = cache(timeToLive: .seconds(10))
    cache.setValue(1, for: 1)
    cache.setValue(2, for: 2, timeToLive: .seconds(20))
    clock.advance(by: .seconds(10) - .nanoseconds(1))
    #expect(cache.value(for: 1) == 1)
    clock.advance(by: .nanoseconds(1))
    #expect(cache.value(for: 1) == nil)
    #expect(cache.value(for: 2) == 2)
    #expect(cache.count == 1)
    #expect(log.entries == [.init(key: 1, value: 1, reason: .expired)])
    #expect(cache.statistics.misses == 1)
  }

  // A value expired however much it was used, or stayed however little.
  @Test func `a value that is used lives on until its time to live`() {
    let clock = clock
    let cache = MemoryCache<Int, Int>(
      timeToLive: .seconds(20), timeToIdle: .seconds(5), onRemoval: log.note,
      now: { clock.now })
    for key in 1...3 { cache.setValue(key, for: key) }
    for second in 1..<20 {
      clock.advance(by: .seconds(1))
      #expect(cache.value(for: 1) == 1, "\(second)")
      if second == 4 { #expect(cache.value(for: 2) == 2) }
      if second == 8 { #expect(cache.value(for: 2) == 2) }
      if second == 13 { #expect(cache.value(for: 2) == nil) }
      cache.removeExpired()
      #expect(cache.count == (second <= 5 ? 3 : second < 13 ? 2 : 1), "\(second)")
    }
    clock.advance(by: .seconds(1))
    #expect(cache.value(for: 1) == nil)
    #expect(log.entries.map(\.reason) == [.expired, .expired, .expired])
  }

  @Test func `a new value has a new time`() {
    let cache = cache()
    cache.setValue(1, for: 1, timeToLive: .seconds(1))
    cache.setValue(2, for: 1)
    clock.advance(by: .seconds(100))
    cache.removeExpired()
    #expect(cache.value(for: 1) == 2)
  }

  @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)])
  func `a time that is over keeps nothing`(timeToLive: Duration) {
    let cache = cache()
    clock.advance(by: .seconds(5))
    cache.setValue(1, for: 1)
    #expect(!cache.setValue(2, for: 1, timeToLive: timeToLive))
    #expect(cache.count == 0)
    #expect(log.entries.map(\.reason) == [.replaced, .expired])
  }

  @Test func `a time beyond all clocks is for ever`() {
    let cache = cache(timeToLive: .seconds(1))
    clock.advance(by: .seconds(5))
    cache.setValue(1, for: 1, timeToLive: .seconds(Int64.max))
    clock.advance(by: .seconds(10_000_000_000))
    #expect(cache.value(for: 1) == 1)
  }

  @Test func `what has expired makes room first`() {
    let cache = cache(countLimit: 10)
    for number in 0..<5 { cache.setValue(number, for: number, timeToLive: .seconds(1)) }
    for number in 5..<10 { cache.setValue(number, for: number) }
    clock.advance(by: .seconds(1) + ExpiryWheel.resolution)
    cache.setValue(10, for: 10)
    #expect(cache.count == 6)
    #expect(Set(log.entries.map(\.key)) == Set(0..<5))
    #expect(log.entries.allSatisfy { $0.reason == .expired })
  }

  @Test func `an expired value is removed without an answer`() {
    let cache = cache()
    cache.setValue(1, for: 1, timeToLive: .seconds(1))
    clock.advance(by: .seconds(1))
    #expect(cache.removeValue(for: 1) == nil)
    #expect(log.entries == [.init(key: 1, value: 1, reason: .expired)])
  }

  /// All deadlines from nanoseconds to decades, with steps of time of all sizes.
  @Test func `every deadline is found in time`() {
    for seed in 0..<UInt64(Effort.times(200)) {
      var random = SplitMix(seed: seed)
      let clock = TestClock()
      let cache = MemoryCache<Int, Int>(now: { clock.now })
      var deadlines: [Int: Duration] = [:]
      for step in 0..<60 {
        let bits = Int64.random(in: 1...62, using: &random)
        let time = Duration.nanoseconds(
          Int64.random(in: 1...(Int64(1) << bits - 1), using: &random))
        if Bool.random(using: &random) {
          cache.setValue(step, for: step, timeToLive: time)
          deadlines[step] = clock.now + time
        } else {
          clock.advance(by: time / 64)
        }
        cache.removeExpired()
        let found = deadlines.filter { $0.value > clock.now }
        let late = deadlines.filter { $0.value > clock.now - ExpiryWheel.resolution }
        #expect(
          cache.count >= found.count && cache.count <= late.count, "seed \(seed), step \(step)")
        deadlines = late
      }
      let expected = deadlines.filter { $0.value > clock.now }
      #expect(expected.allSatisfy { cache.value(for: $0.key) == $0.key }, "seed \(seed)")
    }
  }
}
