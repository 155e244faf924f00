import CachesTestSupport
import Foundation
import SteadTestSupport
import Synchronization
import Testing

@testable import SteadCaches

/// What others change on the disk while a layered cache uses it.
@Suite(.hangLimit) struct LayeredCacheOthersTests {
  private let fixture: CacheFixture
  private let disk: DiskCache
  private let cache: LayeredCache<String>

  init() throws {
    MemoryPressure.shared.ignoreSystem()
    fixture = try CacheFixture()
    disk = fixture.cache()
    cache = LayeredCache(over: disk)
  }

  /// The counts of own and of all changes were read one after the other, so that a change of others got lost.
  @Test func `sees a change while it changes other keys itself`() async throws {
    let losses = try await inOwnThread { [self] in changesNotSeen() }
    #expect(losses == [])
  }

  private func changesNotSeen() -> [Int] {
    let other = fixture.cache()
    var losses: [Int] = []
    let isDone = Atomic<Bool>(false)
    let stopped = DispatchSemaphore(value: 0)
    Thread.detachNewThread { [cache] in
      while !isDone.load(ordering: .relaxed) { cache.setValue("x", for: "own") }
      stopped.signal()
    }
    cache.setValue("start", for: "a")
    for round in 0..<Effort.times(Effort.isLong ? 1_500 : 500) {
      let new = "\(round)"
      guard other.setValue(new, for: "a") else { continue }
      for _ in 0..<30 where cache.value(for: "a") != new { losses.append(round) }
      if round.isMultiple(of: 5) { cache.setValue(new, for: "a") }
    }
    isDone.store(true, ordering: .relaxed)
    stopped.wait()
    return losses
  }

  /// Some files of a directory are removed before others, and another process comes in between.
  @Test func `shares the count of changes after its file was replaced`() throws {
    cache.setValue("1", for: "a")
    for end in ["", "-wal", "-shm"] {
      try FileManager.default.removeItem(atPath: fixture.database.filePath + end)
    }
    cache.setValue("1", for: "a")
    #expect(cache.value(for: "a") == "1")
    try FileManager.default.removeItem(at: fixture.url.file("changes"))
    let other = fixture.cache()
    #expect(other.setValue("2", for: "a"))
    // A change looks at the files; what only reads looks once a second.
    cache.setValue("b", for: "b")
    #expect(other.setValue("3", for: "a"))
    #expect(cache.value(for: "a") == "3")
  }

  @Test(arguments: ["set", "remove", "remove all"])
  func `a load is not kept over a change of the disk`(change: String) async throws {
    let loaded = try await cache.value(for: "a") { [disk] in
      switch change {
      case "set": disk.setValue("new", for: "a")
      case "remove": disk.removeValue(for: "a")
      default: disk.removeAll()
      }
      return "old"
    }
    #expect(loaded == "old")
    let expected = change == "set" ? "new" : nil
    #expect(disk.value(String.self, for: "a") == expected)
    #expect(cache.value(for: "a") == expected)
  }

  @Test func `a load is not kept over what another process set`() async throws {
    let other = fixture.cache()
    _ = try await cache.value(for: "a") {
      other.setValue("new", for: "a")
      return "old"
    }
    #expect(cache.value(for: "a") == "new")
    _ = try await disk.data(for: "b") {
      other.setData(Data("new".utf8), for: "b")
      return Data("old".utf8)
    }
    #expect(disk.data(for: "b") == Data("new".utf8))
  }

  /// A value of another type, or of an older one, is replaced by the load that could not use it.
  @Test func `a load replaces what it could not use`() async throws {
    let numbers = LayeredCache<Int>(over: disk)
    disk.setValue("text", for: "a")
    #expect(try await numbers.value(for: "a") { 1 } == 1)
    #expect(disk.value(Int.self, for: "a") == 1)
    disk.setValue("text", for: "b")
    #expect(try await disk.value(for: "b") { 2 } == 2)
    #expect(disk.value(Int.self, for: "b") == 2)
  }
}
