import CachesTestSupport
import Foundation
import SteadTestSupport
import Synchronization
import Testing

@testable import SteadCaches

/// Values that use their cache as they end.
///
/// A load keeps its value under a lock, and what had to go for it ended under that lock, too. Its `deinit` could not
/// use the cache then: the thread waited for itself.
@Suite(.hangLimit) struct DepartureTests {
  init() { MemoryPressure.shared.ignoreSystem() }

  /// A value that does something as it ends.
  private final class Guest: Sendable, Codable {
    private let number: Int
    private let farewell: (@Sendable () -> Void)?

    init(_ number: Int, farewell: (@Sendable () -> Void)? = nil) {
      self.number = number
      self.farewell = farewell
    }

    init(from decoder: any Decoder) throws {
      number = try decoder.singleValueContainer().decode(Int.self)
      farewell = nil
    }

    deinit { farewell?() }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(number)
    }
  }

  @Test(arguments: ["evicted", "expired", "handled"])
  func `a value that makes room for a loaded one may use the cache`(how: String) async throws {
    let (clock, departures) = (TestClock(), Tally())
    let box = Box<MemoryCache<Int, Guest>>()
    let use: @Sendable () -> Void = {
      box.content?.removeValue(for: 2)
      _ = departures.add()
    }
    let handler: MemoryCache<Int, Guest>.RemovalHandler = { key, _, _ in if key == 1 { use() } }
    let cache = MemoryCache<Int, Guest>(
      countLimit: how == "expired" ? 10 : 1, onRemoval: how == "handled" ? handler : nil,
      now: { clock.now })
    box.content = cache
    defer { box.content = nil }
    cache.setValue(
      Guest(1, farewell: how == "handled" ? nil : use), for: 1, timeToLive: .seconds(1))
    if how == "expired" { clock.advance(by: .seconds(10)) }
    _ = try await cache.value(for: 2) { Guest(2) }
    #expect(departures.value == 1)
    #expect(cache.value(for: 1) == nil)
  }

  @Test func `a value that makes room for a layered one may use the cache`() async throws {
    let fixture = try CacheFixture()
    let box = Box<LayeredCache<Guest>>()
    let departures = Tally()
    // Room for one value.
    let cache = LayeredCache<Guest>(over: fixture.cache(), memorySizeLimit: 300)
    box.content = cache
    defer { box.content = nil }
    cache.setValue(
      Guest(1) {
        box.content?.removeValue(for: "2")
        _ = departures.add()
      }, for: "1")
    _ = try await cache.value(for: "2") { Guest(2) }
    #expect(departures.value == 1)
    #expect(cache.value(for: "1") != nil)
    #expect(cache.value(for: "2") == nil)
  }

  @Test func `a value that nobody waits for any more may use its flights`() async {
    let flights = SingleFlight<Int, Guest>()
    let (began, hold, ended) = (Gate(), Gate(), Gate())
    let caller = Task {
      try await flights.value(for: 1) {
        began.open()
        await hold.wait()
        return Guest(1) {
          flights.forget(1)
          flights.forgetAll()
          ended.open()
        }
      } keep: { _, _ in
        nil
      }
    }
    await began.wait()
    caller.cancel()
    _ = await caller.result
    hold.open()
    await ended.wait()
    #expect(flights.count == 0)
  }

  private final class Box<Content: Sendable>: Sendable {
    private let state = Mutex<Content?>(nil)
    var content: Content? {
      get { state.withLock { $0 } }
      set { state.withLock { $0 = newValue } }
    }
  }
}
