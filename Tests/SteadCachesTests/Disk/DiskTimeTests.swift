import CachesTestSupport
import Foundation
import SteadSQLite
import SteadTestSupport
import Synchronization
import Testing

@testable import SteadCaches

/// Entries that live as long as they are used, and values that are loaded again while the old one is returned.
@Suite(.hangLimit) struct DiskTimeTests {
  private struct Failure: Error {}
  /// How a value is read.
  enum Reader: CaseIterable { case data, entry, value, load, layered, layeredLoad }

  private let fixture: CacheFixture

  init() throws { fixture = try CacheFixture() }

  private func advance(_ seconds: Double) { fixture.now.addTimeInterval(seconds) }

  private func isFound(
    _ key: String, _ cache: DiskCache, _ layered: LayeredCache<String>, by reader: Reader
  ) async -> Bool {
    switch reader {
    case .data: cache.data(for: key) != nil
    case .entry: cache.entry(for: key) != nil
    case .value: cache.value(String.self, for: key) != nil
    case .load:
      (try? await cache.value(String.self, for: key) { throw Failure() }) != nil
    case .layered: layered.value(for: key) != nil
    case .layeredLoad: (try? await layered.value(for: key) { throw Failure() }) != nil
    }
  }

  // A value expired however much it was used, or stayed however little.
  @Test(arguments: Reader.allCases, [false, true])
  func `an entry that is used lives on until its time to live`(
    reader: Reader, isReopened: Bool
  ) async throws {
    let limits = DiskCache.Limits(timeToLive: .seconds(100), timeToIdle: .seconds(16))
    var cache = fixture.cache(limits)
    var layered = LayeredCache<String>(over: cache)
    for key in ["used", "unused", "own"] {
      layered.setValue(key, for: key, timeToLive: key == "own" ? .seconds(50) : nil)
    }
    for second in stride(from: 7, to: 100, by: 7) {
      advance(7)
      if isReopened {
        cache = fixture.cache(limits)
        layered = LayeredCache(over: cache)
      }
      #expect(await isFound("used", cache, layered, by: reader), "\(second)")
      // Only looked at, in the file: a look through the cache would be a use.
      let (unused, own) = (try expiry(of: "unused"), try expiry(of: "own"))
      #expect(unused == 16_000 || unused == nil && isReopened && second > 16, "\(second)")
      #expect(own == 50_000 || own == nil && isReopened && second > 50, "\(second)")
    }
    #expect(await !isFound("unused", cache, layered, by: reader))
    advance(2)
    #expect(await !isFound("used", cache, layered, by: reader))
  }

  /// In milliseconds after the start; nil once the entry was removed, as the next opening does with what has expired.
  private func expiry(of key: String) throws -> Int64? {
    let connection = try SQLiteConnection(SQLiteOptions(.file(fixture.database.filePath)))
    let expires = try connection.integer(
      "SELECT expires FROM contents WHERE key = ?", [.blob(Data(key.utf8))])
    return expires.map { $0 - 1_000_000_000_000 }
  }

  /// Random uses: an entry is never found when it has been unused for its time, and always when it was used seven
  /// eighths of it ago or less.
  @Test func `random uses let entries live as they should`() async throws {
    var random = SplitMix(seed: Effort.seed)
    for _ in 0..<Effort.times(20) {
      let fixture = try CacheFixture()
      let idle = Double(Int.random(in: 1...100, using: &random))
      let limits = DiskCache.Limits(
        timeToLive: Bool.random(using: &random) ? .seconds(150) : nil, timeToIdle: .seconds(idle))
      var cache = fixture.cache(limits)
      var uses: [Int: (stored: Date, used: Date)] = [:]
      for _ in 0..<40 {
        let key = Int.random(in: 0..<4, using: &random)
        if uses[key] == nil || Int.random(in: 0..<10, using: &random) == 0 {
          #expect(cache.setData(Data([1]), for: "\(key)"))
          uses[key] = (fixture.now, fixture.now)
        } else if let use = uses[key] {
          let age = fixture.now.timeIntervalSince(use.used)
          let life = fixture.now.timeIntervalSince(use.stored)
          let limit = limits.timeToLive == nil ? Double.infinity : 150
          let isFound = cache.data(for: "\(key)") != nil
          if age >= idle || life >= limit { #expect(!isFound) }
          // What the last written use may be behind the last one.
          if age <= idle * 7 / 8, life <= limit - idle / 8 { #expect(isFound) }
          uses[key] = isFound ? (use.stored, fixture.now) : nil
        }
        if Int.random(in: 0..<8, using: &random) == 0 { cache = fixture.cache(limits) }
        fixture.now.addTimeInterval(Double(Int.random(in: 0...20, using: &random)))
      }
      await Task.yield()
    }
  }

  private final class Source: Sendable {
    private let state = Mutex((count: 0, fails: false))
    var count: Int { state.withLock { $0.count } }
    func fail(_ fails: Bool) { state.withLock { $0.fails = fails } }
    func next() throws -> String {
      try state.withLock { state in
        state.count += 1
        if state.fails { throw Failure() }
        return "\(state.count)"
      }
    }
  }

  /// What a request is made of.
  enum Loader: CaseIterable { case data, value, layered }

  private typealias Get = @Sendable () async throws -> String

  /// A request, and what returns once the load has ended that a request has begun in the background.
  private func requests(
    _ loader: Loader, _ source: Source
  ) -> (get: Get, load: @Sendable () async -> Void) {
    let cache = fixture.cache(DiskCache.Limits(refreshAfter: .seconds(8)))
    return (request(loader, source, cache), { await cache.loads.waitForLoads() })
  }

  private func request(_ loader: Loader, _ source: Source, _ cache: DiskCache) -> Get {
    let layered = LayeredCache<String>(over: cache)
    switch loader {
    case .data:
      return {
        String(
          decoding: try await cache.data(for: "a") { Data(try source.next().utf8) }, as: UTF8.self)
      }
    case .value: return { try await cache.value(for: "a") { try source.next() } }
    case .layered: return { try await layered.value(for: "a") { try source.next() } }
    }
  }

  @Test(arguments: Loader.allCases)
  func `an old value is returned and loaded again`(loader: Loader) async throws {
    let source = Source()
    let (get, load) = requests(loader, source)
    #expect(try await get() == "1")
    advance(7.999)
    #expect(try await get() == "1")
    #expect(source.count == 1)
    advance(0.001)
    #expect(try await get() == "1")
    await load()
    for _ in 0..<50 { #expect(try await get() == "2") }
    #expect(source.count == 2)
    // The old value stays if the load fails, and the load is tried again after a while.
    source.fail(true)
    advance(8)
    #expect(try await get() == "2")
    await load()
    for _ in 0..<50 { #expect(try await get() == "2") }
    #expect(source.count == 3)
    source.fail(false)
    advance(1)
    #expect(try await get() == "2")
    await load()
    #expect(try await get() == "4")
    #expect(source.count == 4)
  }

  // A load that had failed was put off to a moment that was far away once the clock was set back.
  @Test(arguments: Loader.allCases)
  func `a clock that is set back doesn't end the loading of old values`(
    loader: Loader
  ) async throws {
    let source = Source()
    let (get, load) = requests(loader, source)
    #expect(try await get() == "1")
    source.fail(true)
    advance(8)
    #expect(try await get() == "1")
    await load()
    for _ in 0..<50 { #expect(try await get() == "1") }
    #expect(source.count == 2)
    source.fail(false)
    advance(-86_400)
    // What was stored later than now is a miss.
    #expect(try await get() == "3")
    advance(8)
    #expect(try await get() == "3")
    await load()
    #expect(try await get() == "4")
  }

  @Test(arguments: Loader.allCases, [false, true])
  func `a value that was set or removed meanwhile stays so`(
    loader: Loader, isSet: Bool
  ) async throws {
    let cache = fixture.cache(DiskCache.Limits(refreshAfter: .seconds(8)))
    let (gate, end) = (Gate(), Gate())
    cache.setValue("1", for: "a")
    let layered = LayeredCache<String>(over: cache)
    // In memory, too.
    _ = try await layered.value(for: "a") { "none" }
    advance(9)
    let load: @Sendable () async -> String = {
      await gate.wait()
      defer { end.open() }
      return "loaded"
    }
    switch loader {
    case .data: _ = try await cache.data(for: "a") { Data(await load().utf8) }
    case .value: _ = try await cache.value(for: "a") { await load() }
    case .layered: _ = try await layered.value(for: "a") { await load() }
    }
    // Another program's changes count like this one's.
    let other = fixture.cache()
    if isSet { other.setValue("set", for: "a") } else { cache.removeValue(for: "a") }
    gate.open()
    await end.wait()
    await cache.loads.waitForLoads()
    #expect(fixture.cache().value(String.self, for: "a") == (isSet ? "set" : nil))
  }

  // A request that had found the old value before the new one was stored, and went on afterwards, loaded once more.
  @Test(arguments: [Reader.load, .layeredLoad])
  func `an old value is loaded again once, however many request it`(reader: Reader) async throws {
    let cache = fixture.cache(DiskCache.Limits(refreshAfter: .seconds(8)))
    let layered = LayeredCache<Int>(over: cache)
    let loads = LoadCount()
    let load: @Sendable () async throws -> Int = {
      loads.add()
      return loads.count
    }
    @Sendable func get() async throws -> Int {
      reader == .load
        ? try await cache.value(for: "a", orLoad: load)
        : try await layered.value(for: "a", orLoad: load)
    }
    for round in 1...Effort.times(40) {
      await withThrowingTaskGroup { group in
        for _ in 0..<4 {
          group.addTask { while try await get() < round { await Task.yield() } }
        }
      }
      #expect(loads.count == round)
      advance(9)
    }
  }

  // The disk was changed by a use of another value, and the object took that for another's change.
  @Test func `a use does not make an object drop what the disk has not taken`() {
    let cache = LayeredCache<String>(
      over: fixture.cache(.init(entrySizeLimit: 100, timeToIdle: .seconds(16))))
    // Not through the object, so that it is on the disk alone.
    #expect(cache.disk.setValue("b", for: "b"))
    let large = String(repeating: "-", count: 200)
    #expect(!cache.setValue(large, for: "a"))
    for number in 0..<9 {
      advance(3)
      #expect(cache.value(for: "b") == "b")
      #expect(cache.value(for: "a") == large, "\(number)")
    }
  }
}
