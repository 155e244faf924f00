import CachesTestSupport
import Foundation
import SteadTestSupport
import Testing

@testable import SteadCaches

@Suite(.hangLimit) struct DiskLoadingTests {
  private struct Picture: Codable, Hashable, Sendable {
    var name: String
    var width: Double
    var taken: Date
    var bytes: Data
  }
  private struct Failure: Error {}

  private let fixture: CacheFixture
  private let picture = Picture(
    name: "größe", width: 0.1 + 0.2, taken: Date(timeIntervalSinceReferenceDate: 1e8 / 3),
    bytes: Data([0, 255]))

  init() throws { fixture = try CacheFixture() }

  @Test func `finds values of a type`() {
    let cache = fixture.cache()
    #expect(cache.setValue(picture, for: "p"))
    #expect(cache.setValue([Double.infinity, -0.5], for: "numbers"))
    #expect(cache.setValue("text", for: "text"))
    #expect(cache.value(Picture.self, for: "p") == picture)
    #expect(cache.value([Double].self, for: "numbers") == [.infinity, -0.5])
    #expect(cache.value(String.self, for: "text") == "text")
    #expect(cache.statistics.misses == 0)
  }

  @Test func `a value of another type is a miss`() {
    let cache = fixture.cache()
    cache.setValue("text", for: "a")
    cache.setData(Data([0xff]), for: "b")
    #expect(cache.value(Picture.self, for: "a") == nil)
    #expect(cache.value(String.self, for: "b") == nil)
    #expect(cache.statistics.hits == 0)
    #expect(cache.statistics.misses == 2)
  }

  @Test func `loads once for many waiters`() async throws {
    let cache = fixture.cache()
    let loads = LoadCount()
    let gate = AsyncStream<Void>.makeStream()
    try await withThrowingTaskGroup { group in
      for _ in 0..<20 {
        group.addTask {
          try await cache.data(for: "a", tags: ["t"]) {
            loads.add()
            for await _ in gate.stream { break }
            return Data("loaded".utf8)
          }
        }
      }
      gate.continuation.yield()
      for try await data in group { #expect(data == Data("loaded".utf8)) }
    }
    #expect(loads.count == 1)
    #expect(fixture.cache().entry(for: "a")?.tags == ["t"])
    #expect(try await cache.data(for: "a") { throw Failure() } == Data("loaded".utf8))
  }

  @Test func `hands on the error of a load and stores nothing`() async throws {
    let cache = fixture.cache()
    await #expect(throws: Failure.self) { try await cache.data(for: "a") { throw Failure() } }
    #expect(cache.count == 0)
    #expect(try await cache.value(for: "a") { self.picture } == picture)
    #expect(cache.value(Picture.self, for: "a") == picture)
  }

  @Test(arguments: ["set", "remove", "remove all", "remove tagged"])
  func `does not store what was loaded before a change`(change: String) async throws {
    let cache = fixture.cache()
    let loaded = try await cache.data(for: "a") {
      switch change {
      case "set": cache.setData(Data("newer".utf8), for: "a")
      case "remove": cache.removeValue(for: "a")
      case "remove all": cache.removeAll()
      default: cache.removeValues(taggedWith: "t")
      }
      return Data("older".utf8)
    }
    #expect(loaded == Data("older".utf8))
    #expect(cache.data(for: "a") == (change == "set" ? Data("newer".utf8) : nil))
  }

  @Test func `loads for two types at once`() async throws {
    let cache = fixture.cache()
    let gate = AsyncStream<Void>.makeStream()
    let isLoading = AsyncStream<Void>.makeStream()
    async let number = cache.value(Int.self, for: "a") {
      isLoading.continuation.yield()
      for await _ in gate.stream { break }
      return 1
    }
    for await _ in isLoading.stream { break }
    async let text = cache.value(String.self, for: "a") { "one" }
    gate.continuation.yield()
    #expect(try await number == 1)
    #expect(try await text == "one")
  }
}
