import Foundation
import SteadTestSupport
import Synchronization
import Testing

@testable import SteadCaches

@Suite(.hangLimit) struct SingleFlightTests {
  private struct Failure: Error {}
  private enum Mark { @TaskLocal static var name = "" }

  private let flights = SingleFlight<String, Int>()

  @Test func `hands on what is loaded`() async throws {
    #expect(try await flights.value(for: "a", load: { 7 }, keep: { _, _ in nil }) == 7)
    #expect(flights.count == 0)
  }

  @Test func `loads once for a hundred calls`() async throws {
    let gate = Gate()
    let loads = Tally()
    let kept = Numbers()
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<100 {
        group.addTask {
          try await flights.value(for: "a") {
            await gate.wait()
            return loads.add()
          } keep: { value, _ in
            kept.add(value)
            return nil
          }
        }
      }
      await flights.waitForWaiters(100, of: "a")
      gate.open()
      for try await value in group { #expect(value == 1) }
    }
    #expect(kept.all == [1])
  }

  @Test func `other keys are loaded at the same time`() async throws {
    let gate = Gate()
    async let first = flights.value(
      for: "a",
      load: {
        await gate.wait(); return 1
      }, keep: { _, _ in nil })
    let second = try await flights.value(
      for: "b",
      load: {
        gate.open(); return 2
      }, keep: { _, _ in nil })
    #expect(try await (first, second) == (1, 2))
  }

  @Test func `a load may ask for another key`() async throws {
    let value = try await flights.value(for: "a") {
      try await flights.value(for: "b", load: { 1 }, keep: { _, _ in nil }) + 1
    } keep: { _, _ in
      nil
    }
    #expect(value == 2)
  }

  @Test func `an error goes to all and is not kept`() async throws {
    let gate = Gate()
    let kept = Tally()
    let errors = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<10 {
        group.addTask {
          do {
            _ = try await flights.value(for: "a") {
              await gate.wait()
              throw Failure()
            } keep: { _, _ in
              _ = kept.add()
              return nil
            }
            return false
          } catch { return error is Failure }
        }
      }
      await flights.waitForWaiters(10, of: "a")
      gate.open()
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(errors == 10)
    #expect(kept.value == 0)
    #expect(try await flights.value(for: "a", load: { 3 }, keep: { _, _ in nil }) == 3)
  }

  @Test func `one who is cancelled leaves the others their load`() async throws {
    let gate = Gate()
    @Sendable func ask() async throws -> Int {
      try await flights.value(for: "a") {
        await gate.wait()
        try Task.checkCancellation()
        return 5
      } keep: { _, _ in
        nil
      }
    }
    let first = Task { try await ask() }
    await flights.waitForWaiters(1, of: "a")
    let second = Task { try await ask() }
    await flights.waitForWaiters(2, of: "a")
    first.cancel()
    // Ends although the load does not.
    await #expect(throws: CancellationError.self) { try await first.value }
    gate.open()
    #expect(try await second.value == 5)
  }

  @Test(arguments: [false, true])
  func `the load is cancelled when nobody waits`(isForgotten: Bool) async throws {
    // A key that was forgotten led to no flight any more, so that its load ran on for nobody.
    let (began, cancelled) = (Gate(), Gate())
    let tasks = (0..<3).map { _ in
      Task {
        try await flights.value(for: "a") {
          await withTaskCancellationHandler {
            began.open()
            await cancelled.wait()
          } onCancel: {
            cancelled.open()
          }
          return 1
        } keep: { _, _ in
          nil
        }
      }
    }
    await flights.waitForWaiters(3, of: "a")
    await began.wait()
    if isForgotten { flights.forget("a") }
    for task in tasks { task.cancel() }
    for task in tasks {
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    await cancelled.wait()
    #expect(flights.count == 0)
  }

  @Test func `who is cancelled before begins nothing`() async throws {
    let loads = Tally()
    let start = Gate()
    let task = Task {
      await start.wait()
      return try await flights.value(
        for: "a", load: { loads.add() }, keep: { _, _ in nil })
    }
    task.cancel()
    start.open()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(loads.value == 0)
    #expect(flights.count == 0)
  }

  // A load that ignores its cancellation ended after its key had been set, and was kept over the new value.
  @Test func `what nobody waits for is not kept`() async throws {
    let gate = Gate()
    let kept = Numbers()
    let (ends, end) = AsyncStream<Void>.makeStream()
    let call = Task { [flights, closing = Closing(end)] in
      try await flights.value(for: "a") {
        await gate.wait()
        return 1
      } keep: { value, ticket in
        withExtendedLifetime(closing) { if ticket.isValid { kept.add(value) } }
        return nil
      }
    }
    await flights.waitForWaiters(1, of: "a")
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    gate.open()
    for await _ in ends {}
    #expect(kept.all == [])
  }

  /// Ends a stream with its last reference.
  private final class Closing: Sendable {
    private let end: AsyncStream<Void>.Continuation
    init(_ end: AsyncStream<Void>.Continuation) { self.end = end }
    deinit { end.finish() }
  }

  @Test func `a new call does not join a cancelled load`() async throws {
    let (began, hold) = (Gate(), Gate())
    let first = Task {
      try await flights.value(
        for: "a",
        load: {
          began.open(); await hold.wait(); return 1
        }, keep: { _, _ in nil })
    }
    await began.wait()
    first.cancel()
    _ = await first.result
    #expect(try await flights.value(for: "a", load: { 2 }, keep: { _, _ in nil }) == 2)
    hold.open()
  }

  @Test(arguments: [false, true])
  func `what is forgotten is handed on but not kept`(all: Bool) async throws {
    let (began, hold) = (Gate(), Gate())
    let kept = Numbers()
    let keep: @Sendable (Int, LoadTicket) -> (@Sendable () -> Void)? = { value, ticket in
      if ticket.isValid { kept.add(value) }
      return nil
    }
    let first = Task {
      try await flights.value(
        for: "a",
        load: {
          began.open(); await hold.wait(); return 1
        }, keep: keep)
    }
    await began.wait()
    if all { flights.forgetAll() } else { flights.forget("a") }
    #expect(try await flights.value(for: "a", load: { 2 }, keep: keep) == 2)
    hold.open()
    #expect(try await first.value == 1)
    #expect(kept.all == [2])
  }

  @Test func `afterwards runs before the call returns`() async throws {
    let done = Tally()
    _ = try await flights.value(for: "a", load: { 1 }) { _, _ in
      { _ = done.add() }
    }
    #expect(done.value == 1)
  }

  @Test func `the load has the caller's task locals and priority`() async throws {
    let found = try await Task(priority: .high) {
      try await Mark.$name.withValue("caller") {
        let flights = SingleFlight<String, String>()
        return try await flights.value(for: "a") {
          "\(Mark.name) \(Task.currentPriority == .high)"
        } keep: { _, _ in
          nil
        }
      }
    }.value
    #expect(found == "caller true")
  }

  @Test func `who joins with a greater priority raises the load's`() async throws {
    let (began, hold) = (Gate(), Gate())
    let flights = SingleFlight<String, TaskPriority>()
    let ask: @Sendable () async throws -> TaskPriority = {
      try await flights.value(for: "a") {
        began.open()
        await hold.wait()
        return Task.currentPriority
      } keep: { _, _ in
        nil
      }
    }
    let low = Task(priority: .low) { try await ask() }
    await began.wait()
    let high = Task(priority: .high) { try await ask() }
    await flights.waitForWaiters(2, of: "a")
    hold.open()
    #expect(try await high.value == .high)
    _ = try await low.value
  }

  /// Random calls, cancellations and changes of three keys, at once. A source counts up before each change is told;
  /// what is kept in the end must be no older than the last change.
  @Test func `random interleavings keep nothing out of date`() async throws {
    for seed in 0..<UInt64(Effort.times(Effort.isLong ? 10_000 : 2_000)) {
      var random = SplitMix(seed: seed)
      let store = VersionStore()
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<6 {
          let key = Int.random(in: 0..<3, using: &random)
          let yields = Int.random(in: 0..<4, using: &random)
          switch Int.random(in: 0..<4, using: &random) {
          case 0: group.addTask { store.change(key) }
          case 1:
            let task = Task { await store.ask(key, yields: yields) }
            group.addTask {
              for _ in 0..<yields { await Task.yield() }
              task.cancel()
              _ = await task.value
            }
          default: group.addTask { await store.ask(key, yields: yields) }
          }
        }
      }
      #expect(store.outdated == [], "seed \(seed)")
      #expect(store.flights.count == 0, "seed \(seed)")
    }
  }
}

/// A source whose values are counted up, and what was kept of them.
private final class VersionStore: Sendable {
  let flights = SingleFlight<Int, Int>()
  private let source = Mutex<[Int: Int]>([:])
  private let kept = Mutex<[Int: Int]>([:])

  func change(_ key: Int) {
    source.withLock { $0[key, default: 0] += 1 }
    kept.withLock { kept in
      kept[key] = nil
      flights.forget(key)
    }
  }

  func ask(_ key: Int, yields: Int) async {
    if kept.withLock({ $0[key] }) != nil { return }
    _ = try? await flights.value(for: key) {
      let version = self.source.withLock { $0[key] ?? 0 }
      for _ in 0..<yields { await Task.yield() }
      return version
    } keep: { version, ticket in
      self.kept.withLock { if ticket.isValid { $0[key] = version } }
      return nil
    }
  }

  /// The keys of which an old version was kept.
  var outdated: [Int] {
    let (source, kept) = (source.withLock { $0 }, kept.withLock { $0 })
    return kept.filter { $0.value < source[$0.key] ?? 0 }.map(\.key).sorted()
  }
}
