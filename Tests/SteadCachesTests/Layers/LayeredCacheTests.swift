import CachesTestSupport
import Foundation
import SteadSQLite
import SteadTestSupport
import Testing

@testable import SteadCaches

@Suite(.hangLimit) struct LayeredCacheTests {
  private struct Failure: Error {}
  private let fixture: CacheFixture
  private let disk: DiskCache
  private let cache: LayeredCache<String>

  init() throws {
    MemoryPressure.shared.ignoreSystem()
    fixture = try CacheFixture()
    disk = fixture.cache()
    cache = LayeredCache(over: disk)
  }

  @Test func `goes from memory to disk to the loader`() async throws {
    #expect(try await cache.value(for: "a") { "loaded" } == "loaded")
    #expect(try await cache.value(for: "a") { throw Failure() } == "loaded")
    #expect(cache.memoryStatistics.hits == 1)
    let second = LayeredCache<String>(over: fixture.cache())
    #expect(second.value(for: "a") == "loaded")
    #expect(try await second.value(for: "a") { throw Failure() } == "loaded")
    #expect(second.memoryStatistics.hits == 0)
    #expect(try await second.value(for: "a") { throw Failure() } == "loaded")
    #expect(second.memoryStatistics.hits == 1)
    #expect(second.value(for: "b") == nil)
  }

  @Test func `loads once for many waiters`() async throws {
    let loads = LoadCount()
    try await withThrowingTaskGroup { group in
      for _ in 0..<20 {
        group.addTask {
          try await cache.value(for: "a") {
            loads.add()
            return "loaded"
          }
        }
      }
      for try await value in group { #expect(value == "loaded") }
    }
    #expect(loads.count == 1)
  }

  @Test func `reads the disk no more while nobody changes it`() throws {
    cache.setValue("1", for: "a")
    let before = disk.statistics
    for _ in 0..<100 { #expect(cache.value(for: "a") == "1") }
    // What it changes itself is known.
    cache.setValue("2", for: "b")
    cache.removeValue(for: "b")
    // A change that nobody counts shows who looks.
    try ToolRun.text([
      "python3", "-c",
      "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('DELETE FROM contents'); c.commit()",
      fixture.database.filePath,
    ])
    #expect(cache.value(for: "a") == "1")
    #expect(disk.statistics == before)
    #expect(cache.memoryStatistics.hits == 101)
  }

  @Test func `notices what others change`() {
    let other = fixture.cache()
    cache.setValue("1", for: "a")
    cache.setValue("1", for: "b")
    other.setValue("2", for: "a")
    #expect(cache.value(for: "a") == "2")
    #expect(cache.value(for: "b") == "1")
    other.removeValue(for: "b")
    #expect(cache.value(for: "b") == nil)
    cache.setValue("3", for: "b")
    disk.setValue("4", for: "b")
    #expect(cache.value(for: "b") == "4")
    other.removeAll()
    #expect(cache.value(for: "a") == nil)
    #expect(cache.value(for: "b") == nil)
  }

  @Test func `notices that the files are gone`() async throws {
    cache.setValue("1", for: "a")
    try FileManager.default.removeItem(at: fixture.url)
    cache.setValue("2", for: "b")
    #expect(cache.value(for: "a") == nil)
    #expect(cache.value(for: "b") == "2")
    #expect(try await cache.value(for: "a") { "3" } == "3")
  }

  @Test(arguments: ["set", "remove", "remove all"])
  func `does not keep what was loaded before a change`(change: String) async throws {
    let loaded = try await cache.value(for: "a") {
      switch change {
      case "set": cache.setValue("newer", for: "a")
      case "remove": cache.removeValue(for: "a")
      default: cache.removeAll()
      }
      return "older"
    }
    #expect(loaded == "older")
    #expect(cache.value(for: "a") == (change == "set" ? "newer" : nil))
    #expect(disk.value(String.self, for: "a") == (change == "set" ? "newer" : nil))
  }

  @Test func `removes by tag and moment`() {
    cache.setValue("1", for: "a", tags: ["t"])
    cache.setValue("2", for: "b")
    cache.removeValues(taggedWith: "t")
    #expect(cache.value(for: "a") == nil)
    #expect(cache.value(for: "b") == "2")
    cache.removeValues(storedSince: fixture.now)
    #expect(cache.value(for: "b") == nil)
  }

  @Test func `expires in memory as on disk`() async throws {
    cache.setValue("1", for: "a", timeToLive: .seconds(5))
    _ = try await cache.value(for: "b", timeToLive: .seconds(7)) { "2" }
    fixture.now += 5
    #expect(cache.value(for: "a") == nil)
    #expect(cache.value(for: "b") == "2")
    fixture.now += 2
    #expect(cache.value(for: "b") == nil)
  }

  @Test func `keeps in memory what the disk refuses`() {
    let small = LayeredCache<String>(over: fixture.cache(.init(totalSizeLimit: 20)))
    small.setValue("old", for: "a")
    #expect(!small.setValue("a string that is too long", for: "a"))
    #expect(small.value(for: "a") == "a string that is too long")
    // The value before it doesn't come back.
    #expect(fixture.cache(.init(totalSizeLimit: 20)).value(String.self, for: "a") == nil)
  }

  /// Keeps others from writing to the cache's file while the body runs.
  private func whileLocked(_ body: () throws -> Void) throws {
    let holder = try SQLiteConnection(SQLiteOptions(.file(fixture.database.filePath)))
    try holder.run("BEGIN IMMEDIATE")
    try body()
    try holder.run("ROLLBACK")
  }

  @Test func `what the disk did not remove is not found again`() throws {
    cache.setValue("old", for: "a")
    cache.setValue("kept", for: "b")
    try whileLocked {
      #expect(!cache.removeValue(for: "a"))
      #expect(cache.value(for: "a") == nil)
      #expect(cache.value(for: "b") == "kept")
    }
    // It is removed when it is met again.
    #expect(disk.value(String.self, for: "a") == "old")
    #expect(cache.value(for: "a") == nil)
    #expect(disk.value(String.self, for: "a") == nil)
    cache.setValue("new", for: "a")
    #expect(LayeredCache<String>(over: disk).value(for: "a") == "new")
    #expect(cache.removeValue(for: "a"))
  }

  @Test func `an old value does not come back when the disk refuses the new one`() throws {
    let cache = LayeredCache<String>(over: disk, memorySizeLimit: 0)
    cache.setValue("old", for: "a")
    try whileLocked { #expect(!cache.setValue("new", for: "a")) }
    #expect(cache.value(for: "a") == nil)
  }

  @Test func `finds nothing on a disk that did not remove all`() throws {
    let cache = LayeredCache<String>(over: disk, memorySizeLimit: 0)
    cache.setValue("old", for: "a")
    try whileLocked {
      #expect(!cache.removeAll())
      #expect(cache.value(for: "a") == nil)
    }
    #expect(cache.value(for: "a") == nil)
    #expect(cache.setValue("new", for: "b"))
    #expect(disk.value(String.self, for: "a") == nil)
    #expect(cache.value(for: "b") == "new")
  }

  @Test func `works without a directory`() async throws {
    let file = fixture.parent.file("file")
    try Data().write(to: file)
    let reports = Reports(for: file)
    let cache = LayeredCache<Data>(over: DiskCache(directory: file))
    #expect(!cache.setValue(Data([1]), for: "a"))
    #expect(cache.value(for: "a") == Data([1]))
    #expect(try await cache.value(for: "b") { Data([2]) } == Data([2]))
    #expect(try await cache.value(for: "b") { throw Failure() } == Data([2]))
    cache.removeAll()
    #expect(cache.value(for: "a") == nil)
    #expect(reports.codes == [.cacheUnavailable])
  }

  /// Memory and disk have the same in the end, whoever was first.
  @Test func `memory and disk agree after threads have raced`() throws {
    for round in 0..<Effort.times(100) {
      try inThreads(4) { thread in
        for number in 0..<5 {
          if thread == 3, number == 2 {
            cache.removeValue(for: "a")
          } else {
            cache.setValue("\(round) \(thread) \(number)", for: "a")
          }
        }
      }
      let inMemory = cache.value(for: "a")
      #expect(inMemory == disk.value(String.self, for: "a"))
    }
  }
}
