import CachesTestSupport
import Foundation
import SteadSQLite
import SteadTestSupport
import Testing

@testable import SteadCaches

/// How long values live, and when they are loaded again, that the disk has or doesn't have.
@Suite(.hangLimit) struct LayeredCacheTimeTests {
  /// Why a value is in memory alone.
  enum Place: CaseIterable { case disk, tooLarge, notEncodable, unwritable }
  /// Why the disk keeps an older value of the key.
  enum Refusal: CaseIterable { case locked, tooLarge, notEncodable }

  private struct NotEncodable: Error {}
  private struct Value: Codable, Sendable {
    var number = 0
    var isEncodable = true

    func encode(to encoder: any Encoder) throws {
      guard isEncodable else { throw NotEncodable() }
      var container = encoder.singleValueContainer()
      try container.encode(number)
    }

    init(_ number: Int, isEncodable: Bool) {
      (self.number, self.isEncodable) = (number, isEncodable)
    }
    init(from decoder: any Decoder) throws {
      number = try decoder.singleValueContainer().decode(Int.self)
    }
  }

  private let fixture: CacheFixture

  init() throws {
    MemoryPressure.shared.ignoreSystem()
    fixture = try CacheFixture()
  }

  private func cache(_ place: Place, _ limits: DiskCache.Limits) throws -> LayeredCache<Value> {
    var limits = limits
    if place == .tooLarge { limits.entrySizeLimit = 1 }
    // A file in the place of the directory.
    if place == .unwritable { try Data().write(to: fixture.url) }
    return LayeredCache(over: fixture.cache(limits))
  }

  private func value(_ number: Int, _ place: Place) -> Value {
    Value(number, isEncodable: place != .notEncodable)
  }

  private func get(
    _ cache: LayeredCache<Value>, _ place: Place, _ loads: LoadCount, timeToLive: Duration? = nil
  ) async throws -> Int {
    try await cache.value(for: "a", timeToLive: timeToLive) {
      loads.add()
      return Value(loads.count, isEncodable: place != .notEncodable)
    }.number
  }

  // A value that the disk didn't take was found after any time without use.
  @Test(arguments: Place.allCases, [true, false])
  func `a value lives as long as it is used`(place: Place, isLoaded: Bool) async throws {
    let cache = try cache(place, .init(timeToLive: .seconds(100), timeToIdle: .seconds(8)))
    let loads = LoadCount()
    func store() async throws {
      if isLoaded {
        _ = try await get(cache, place, loads)
      } else {
        cache.setValue(value(1, place), for: "a")
      }
    }
    try await store()
    for _ in 0..<14 {
      fixture.now += 7
      #expect(cache.value(for: "a") != nil)
    }
    // By its time to live, however much it is used.
    fixture.now += 3
    #expect(cache.value(for: "a") == nil)
    try await store()
    fixture.now += 8
    #expect(cache.value(for: "a") == nil)
    cache.setValue(value(1, place), for: "a", timeToLive: .seconds(50))
    fixture.now += 49
    #expect(cache.value(for: "a") != nil)
    fixture.now += 1
    #expect(cache.value(for: "a") == nil)
  }

  // A value that the disk didn't take was loaded once in the life of the process.
  @Test(arguments: Place.allCases)
  func `an old value is loaded again`(place: Place) async throws {
    let cache = try cache(place, .init(refreshAfter: .seconds(8)))
    let loads = LoadCount()
    for number in 1...3 {
      #expect(try await get(cache, place, loads) == number)
      fixture.now += 7
      #expect(try await get(cache, place, loads) == number)
      fixture.now += 1
      #expect(try await get(cache, place, loads) == number)
      await cache.disk.loads.waitForLoads()
      #expect(loads.count == number + 1)
    }
  }

  // While the disk kept an older value, each request loaded the value, and none of them got it.
  @Test(arguments: Refusal.allCases, [true, false])
  func `what the disk refuses while it has an older value is loaded once`(
    refusal: Refusal, isSet: Bool
  ) async throws {
    let cache = LayeredCache<Value>(
      over: fixture.cache(.init(entrySizeLimit: 300, refreshAfter: .seconds(8))))
    cache.setValue(value(0, .disk), for: "a")
    let isEncodable = refusal != .notEncodable
    let tags: Set<String> = refusal == .tooLarge ? [String(repeating: "t", count: 400)] : []
    var holder: SQLiteConnection?
    if refusal == .locked {
      holder = try SQLiteConnection(SQLiteOptions(.file(fixture.database.filePath)))
      try holder?.run("BEGIN IMMEDIATE")
    }
    if isSet {
      #expect(!cache.setValue(Value(-1, isEncodable: isEncodable), for: "a", tags: tags))
    }
    let loads = LoadCount()
    func get() async throws -> Int {
      try await cache.value(for: "a", tags: tags) {
        loads.add()
        return Value(loads.count, isEncodable: isEncodable)
      }.number
    }
    for round in 1...3 {
      fixture.now += 9
      _ = try await get()
      await cache.disk.loads.waitForLoads()
      for _ in 0..<100 {
        #expect(try await get() == round)
        await Task.yield()
      }
      #expect(loads.count == round)
    }
    try holder?.run("ROLLBACK")
  }
}
