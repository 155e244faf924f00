import CachesTestSupport
import Foundation
import SteadTestSupport
import Synchronization
import Testing

@testable import SteadCaches

/// Limits of size, count and age, and who goes first.
@Suite(.hangLimit) struct DiskLimitTests {
  private let fixture: CacheFixture

  init() throws { fixture = try CacheFixture() }

  /// Sets values of 10 bytes under keys of one.
  private func set(_ keys: String, in cache: DiskCache) {
    for key in keys { #expect(cache.setData(CacheFixture.bytes(10), for: String(key))) }
  }

  private func found(_ keys: String, in cache: DiskCache) -> String {
    String(keys.filter { cache.data(for: String($0)) != nil })
  }

  @Test(arguments: [0, -1, .min])
  func `a limit of no entries keeps none`(count: Int) {
    let cache = fixture.cache(.init(countLimit: count))
    #expect(!cache.setData(CacheFixture.bytes(10), for: "a"))
    #expect(cache.count == 0)
  }

  @Test func `an entry without bytes counts`() {
    let cache = fixture.cache(.init(countLimit: 1))
    set("a", in: cache)
    #expect(cache.setData(Data(), for: ""))
    #expect(cache.count == 1)
  }

  @Test func `removes what was not used for longest`() {
    let cache = fixture.cache(.init(totalSizeLimit: 44))
    set("abcd", in: cache)
    _ = cache.data(for: "a")
    set("e", in: cache)
    #expect(found("abcde", in: cache) == "acde")
    #expect(cache.totalSize == 44)
    #expect(cache.statistics.evictions == 1)
    _ = cache.data(for: "c")
    set("fgh", in: cache)
    #expect(found("acdefgh", in: cache).contains("c"))
  }

  /// More uses than one set writes down.
  @Test func `removes nothing that was used while something was not`() {
    let cache = fixture.cache(.init(countLimit: 100))
    for number in 0..<100 { cache.setData(Data([1]), for: "\(number)") }
    for number in (1..<60).reversed() { _ = cache.data(for: "\(number)") }
    for number in 100..<103 { cache.setData(Data([1]), for: "\(number)") }
    #expect((1..<60).allSatisfy { cache.data(for: "\($0)") != nil })
    #expect(cache.data(for: "0") == nil)
    #expect(cache.count == 100)
  }

  @Test func `remembers uses of programs that only read`() {
    do {
      set("abcd", in: fixture.cache(.init(totalSizeLimit: 44)))
      _ = fixture.cache(.init(totalSizeLimit: 44)).data(for: "a")
    }
    let cache = fixture.cache(.init(totalSizeLimit: 44))
    set("e", in: cache)
    #expect(found("abcde", in: cache) == "acde")
  }

  @Test func `removes expired entries first`() {
    let cache = fixture.cache(.init(totalSizeLimit: 44))
    set("abc", in: cache)
    cache.setData(CacheFixture.bytes(10), for: "d", timeToLive: .seconds(5))
    fixture.now += 5
    set("e", in: cache)
    #expect(found("abcde", in: cache) == "abce")
  }

  @Test func `keeps the limit of count`() {
    let cache = fixture.cache(.init(countLimit: 3))
    set("abcde", in: cache)
    #expect(cache.count == 3)
    #expect(found("abcde", in: cache) == "cde")
  }

  @Test func `refuses what is larger than the limit and keeps the rest`() {
    let cache = fixture.cache(.init(totalSizeLimit: 1_000_000, entrySizeLimit: 300_000))
    #expect(cache.setData(Data("old".utf8), for: "a"))
    #expect(!cache.setData(CacheFixture.bytes(300_000), for: "a"))
    #expect(cache.setData(CacheFixture.bytes(299_999), for: "b"))
    #expect(cache.data(for: "a") == Data("old".utf8))
    let writer = cache.writer(for: "a")
    #expect(writer.append(CacheFixture.bytes(299_999)))
    #expect(!writer.append(Data([1])))
    #expect(!writer.commit())
    #expect(cache.data(for: "a") == Data("old".utf8))
    #expect(fixture.valueNames.count == 1)
  }

  @Test func `keeps narrower limits from the opening on`() {
    set("abcdefgh", in: fixture.cache())
    let cache = fixture.cache(.init(totalSizeLimit: 33))
    #expect(cache.data(for: "h") != nil)
    #expect(cache.totalSize == 33)
  }

  @Test func `expires by default and by entry`() {
    let cache = fixture.cache(.init(timeToLive: .seconds(10)))
    set("a", in: cache)
    cache.setData(Data([1]), for: "b", timeToLive: .milliseconds(1500))
    cache.setData(Data([1]), for: "c", timeToLive: .seconds(100))
    fixture.now += 1.499
    #expect(found("abc", in: cache) == "abc")
    fixture.now += 0.001
    #expect(found("abc", in: cache) == "ac")
    fixture.now += 8.5
    #expect(found("abc", in: cache) == "c")
    cache.removeExpired()
    #expect(cache.count == 1)
    #expect(cache.entry(for: "c")?.expiresAt == Date(timeIntervalSince1970: 1_000_000_100))
  }

  @Test func `finds nothing of a future that a wrong clock made`() {
    let cache = fixture.cache()
    fixture.now += 3600
    set("a", in: cache)
    fixture.now -= 3600
    #expect(cache.data(for: "a") == nil)
    set("a", in: cache)
    #expect(cache.data(for: "a") != nil)
  }

  @Test func `removes what was stored since`() {
    let cache = fixture.cache()
    set("a", in: cache)
    fixture.now += 10
    let moment = fixture.now
    set("b", in: cache)
    fixture.now += 10
    set("c", in: cache)
    cache.removeValues(storedSince: moment)
    #expect(found("abc", in: cache) == "a")
  }

  @Test func `never exceeds the limit in eight threads`() throws {
    let limit = 400_000
    let cache = fixture.cache(.init(totalSizeLimit: limit))
    let greatest = Mutex(0)
    let remaining = Atomic<Int>(8)
    try inThreads(9) { thread in
      if thread == 8 {
        while remaining.load(ordering: .acquiring) > 0 {
          let size = cache.totalSize
          greatest.withLock { $0 = max($0, size) }
        }
        return
      }
      defer { remaining.subtract(1, ordering: .releasing) }
      var random = SplitMix(seed: UInt64(thread))
      for _ in 0..<150 {
        let number = UInt64.random(in: 0..<60, using: &random)
        let size = number.isMultiple(of: 10) ? 140_000 : Int(number) * 500
        let value = CacheFixture.bytes(size, seed: number)
        if Bool.random(using: &random) {
          cache.setData(value, for: "\(number)")
        } else if let found = cache.data(for: "\(number)") {
          #expect(found == value)
        }
      }
    }
    #expect(greatest.withLock { $0 } <= limit)
    #expect(greatest.withLock { $0 } > limit / 2)
    #expect(cache.statistics.evictions > 0)
  }

  /// Documentation/DiskCacheFile.md states the bound.
  @Test(arguments: [(20, 20_000), (10_000, 3_000), (200_000, 300)])
  func `takes no more room on the disk than its bound`(size: Int, count: Int) throws {
    let limit = 2_000_000
    let cache = fixture.cache(.init(totalSizeLimit: limit))
    var random = SplitMix(seed: 7)
    for number in 0..<count {
      let size = Int.random(in: size / 2...size, using: &random)
      cache.setData(Data(count: size), for: "\(number % (count / 2))", tags: ["t"])
      if number % 1000 == 0 { cache.removeValues(storedSince: .distantPast) }
    }
    var total = 0
    for file in try FileManager.default.subpathsOfDirectory(atPath: fixture.url.filePath) {
      let path = fixture.url.file(file).filePath
      total += (try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    }
    #expect(total <= 3 * limit + 1024 * cache.count + CacheBound.fixed)
    cache.removeAll()
    let size = try FileManager.default.attributesOfItem(atPath: fixture.database.filePath)[.size]
    #expect(try #require(size as? Int) < 100_000)
  }
}

private enum CacheBound {
  /// The log, and what is beside the entries.
  static let fixed = 10 << 20
}
