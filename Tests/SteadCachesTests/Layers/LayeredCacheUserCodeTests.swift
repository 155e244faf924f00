import CachesTestSupport
import Foundation
import SteadFiles
import SteadSQLite
import SteadTestSupport
import Synchronization
import Testing

@testable import SteadCaches

/// What a program does when it is called by a cache: no lock is held then.
@Suite(.hangLimit, .serialized) struct LayeredCacheUserCodeTests {
  /// A value that calls a body when it ends.
  private final class Ending: Codable, Sendable {
    static let body = Mutex<(@Sendable () -> Void)?>(nil)
    init() {}
    deinit { Self.body.withLock { $0 }?() }
  }

  /// Whether another thread gets through a body while this one waits for it.
  private static func isFree(_ body: @escaping @Sendable () -> Void) -> Bool {
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      body()
      done.signal()
    }
    return done.wait(timeout: .now() + 5) == .success
  }

  @Test(arguments: ["all", "tagged", "set"])
  func `a problem is reported without a lock`(change: String)
    throws
  {
    let fixture = try CacheFixture()
    let cache = LayeredCache<String>(over: fixture.cache())
    cache.setValue("1", for: "a")
    let holder = try SQLiteConnection(SQLiteOptions(.file(fixture.database.filePath)))
    try holder.run("BEGIN IMMEDIATE")
    let isFree = Mutex<Bool?>(nil)
    let before = Stead.onProblem
    defer { Stead.onProblem = before }
    Stead.onProblem = { problem in
      guard fixture.url.filePath.hasPrefix(problem.subject) else { return before(problem) }
      let result = Self.isFree { cache.removeValue(for: "a") }
      isFree.withLock { $0 = result }
    }
    switch change {
    case "all": #expect(!cache.removeAll())
    case "tagged": #expect(!cache.removeValues(taggedWith: "t"))
    default: #expect(!cache.setValue("2", for: "a"))
    }
    try holder.run("ROLLBACK")
    #expect(isFree.withLock { $0 } == true)
  }

  @Test func `a value ends without a lock`() throws {
    let fixture = try CacheFixture()
    MemoryPressure.shared.ignoreSystem()
    let cache = LayeredCache<Ending>(over: fixture.cache())
    cache.setValue(Ending(), for: "x", timeToLive: .milliseconds(10))
    let isFree = Mutex<Bool?>(nil)
    Ending.body.withLock {
      $0 = {
        let result = Self.isFree { cache.removeValue(for: "b") }
        isFree.withLock { $0 = result }
      }
    }
    // A removal drops what has expired, some tenths of a second later.
    while isFree.withLock({ $0 }) == nil { cache.removeValue(for: "b") }
    Ending.body.withLock { $0 = nil }
    #expect(isFree.withLock { $0 } == true)
  }
}
