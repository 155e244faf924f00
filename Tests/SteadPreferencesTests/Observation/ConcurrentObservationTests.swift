import CForkSupport
import Dispatch
import Foundation
import Observation
import SteadFiles
import Testing
@testable import SteadPreferences

/// Writers, observers and changes of the search list, all at once.
struct ConcurrentObservationTests {
  let keys = (0..<4).map { "key \($0)" }

  /// Each change begins where the one before it ended, and the last ends at what is there.
  private func expectUnbroken(
    _ changes: [Change], _ end: (String) -> PropertyList?, _ location: SourceLocation
  ) {
    for (key, changes) in Dictionary(grouping: changes, by: \.key) {
      let isUnbroken = zip(changes, changes.dropFirst()).allSatisfy { $0.new == $1.old }
      #expect(isUnbroken, "\(changes)", sourceLocation: location)
      #expect(changes.allSatisfy { $0.old != $0.new }, sourceLocation: location)
      #expect(changes.last?.new == end(key), sourceLocation: location)
    }
  }

  private func write(_ count: Int, to layer: DomainStore) {
    for _ in 0..<count {
      let value = Bool.random() ? PropertyList.integer(.random(in: 0..<3)) : nil
      let key = keys[.random(in: 0..<keys.count)]
      #expect(throws: Never.self) { try layer.set(value, forKey: key) }
    }
  }

  /// The key was looked up, for another layer's change, while the value was there and not told yet.
  @Test func `a change that is just being told is not missed`() throws {
    let (layers, log) = (Layers(2), Log<Change>())
    let (entered, free, done) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    // Before the observers' own handler.
    _ = layers.list[0].addHandler { _ in
      entered.signal()
      free.wait()
    }
    let observation = layers.observers.observe(nil, includingOwn: true) { log.add($0) }
    Thread { [first = layers.list[0]] in
      try? first.set(2, forKey: "key")
      done.signal()
    }.start()
    entered.wait()
    try layers.list[1].set(1, forKey: "key")
    free.signal()
    done.wait()
    #expect(log.all.map(\.new) == [.integer(1), .integer(2)])
    expectUnbroken(log.all, layers.value, #_sourceLocation)
    observation.cancel()
  }

  /// A domain of another process came, and was edited before this process followed it: the key was not among those
  /// that were looked at, and the handler came too late.
  @Test func `a key that comes with its domain is told whenever`() throws {
    let (old, new) = (DomainStore(inMemory: "old"), DomainStore(inMemory: "new"))
    let lookCount = ForkSafeLock<Int?>(nil)
    let observers = PreferenceObservers {
      guard let count = lookCount.withLock({ $0 }) else { return [old] }
      // Each look at the list finds that the new domain has one key more.
      lookCount.withLock { $0 = count + 1 }
      new.setFromOutside(.integer(Int64(count)), forKey: "key \(count)")
      return [old, new]
    }
    let log = Log<Change>()
    let observation = observers.observe(nil, includingOwn: true) { log.add($0) }
    defer { observation.cancel() }
    lookCount.withLock { $0 = 0 }
    observers.searchListDidChange(isOwn: false)
    let told = Set(log.all.map(\.key))
    let count = try #require(lookCount.withLock { $0 })
    #expect(count > 0)
    #expect(told == Set((0..<count).map { "key \($0)" }))
  }

  @Test(arguments: [true, false])
  func `all observers see one unbroken story`(everyKey: Bool) async {
    let layers = Layers(3)
    let logs = [Log<Change>(), Log<Change>()]
    let observations = logs.map { log in
      layers.observers.observe(everyKey ? nil : keys, includingOwn: true) { log.add($0) }
    }
    await withTaskGroup { group in
      for layer in layers.list {
        for _ in 0..<2 { group.addTask { write(500, to: layer) } }
      }
    }
    #expect(!logs[0].all.isEmpty)
    #expect(logs[0].all == logs[1].all)
    expectUnbroken(logs[0].all, layers.value, #_sourceLocation)
    for observation in observations { observation.cancel() }
  }

  @Test func `observers may come and go meanwhile`() async {
    let layers = Layers(3)
    await withTaskGroup { group in
      for layer in layers.list { group.addTask { write(1_000, to: layer) } }
      for number in 0..<4 {
        group.addTask {
          for _ in 0..<50 {
            let log = Log<Change>()
            let keys = number == 0 ? nil : [keys[number]]
            let observation = layers.observers.observe(keys, includingOwn: true) { log.add($0) }
            write(3, to: layers[0])
            observation.cancel()
            for (_, changes) in Dictionary(grouping: log.all, by: \.key) {
              #expect(zip(changes, changes.dropFirst()).allSatisfy { $0.new == $1.old })
            }
          }
        }
      }
    }
    #expect(layers.list.map(\.handlerCount) == [0, 0, 0])
    #expect(layers.observers.state.withLock { $0.keys.isEmpty && $0.pendingNotifications.isEmpty })
  }

  @Test(arguments: [true, false])
  func `the search list may change meanwhile`(everyKey: Bool) async {
    let layers = Layers(2)
    let suites = (0..<2).map { DomainStore(inMemory: "suite \($0)") }
    let log = Log<Change>()
    let observation = layers.observers.observe(everyKey ? nil : keys, includingOwn: true) {
      log.add($0)
    }
    await withTaskGroup { group in
      for store in layers.list + suites { group.addTask { write(1_000, to: store) } }
      for suite in suites {
        group.addTask {
          for _ in 0..<100 {
            layers.change { $0.insert(suite, at: .random(in: 0...$0.count)) }
            layers.change { $0.removeAll { $0 === suite } }
          }
        }
      }
    }
    expectUnbroken(log.all, layers.value, #_sourceLocation)
    observation.cancel()
    #expect((layers.list + suites).map(\.handlerCount) == [0, 0, 0, 0])
  }

  /// A number that only ever grows by one: an observation that begins meanwhile misses no step.
  @Test func `an observation begins between two changes`() async {
    let layers = Layers(2)
    await withTaskGroup { group in
      group.addTask {
        for number in 0..<5_000 {
          #expect(throws: Never.self) { try layers[1].set(number, forKey: "key") }
        }
      }
      group.addTask {
        for round in 0..<500 {
          let log = Log<Change>()
          let observation = layers.observers.observe(
            round.isMultiple(of: 5) ? nil : ["key"], includingOwn: true
          ) { log.add($0) }
          await Task.yield()
          observation.cancel()
          for change in log.all {
            guard case .integer(let old) = change.old, case .integer(let new) = change.new else {
              #expect(change.old == nil && change.new == .integer(0))
              continue
            }
            #expect(new == old + 1)
          }
        }
      }
    }
  }

  /// However changes are merged, a consumer ends at the last state.
  @Test func `a slow consumer sees the last state`() async throws {
    let preferences = Preferences.inMemory()
    let changes = preferences.changes(for: keys + ["end"])
    let writers = Task {
      await withTaskGroup { group in
        for _ in 0..<3 {
          group.addTask { write(2_000, to: preferences.search.list.target) }
        }
      }
      try preferences.set(0, "end")
    }
    var seen: [Change] = []
    for await change in changes {
      seen.append(change)
      if change.key == "end" { break }
      await Task.yield()
    }
    try await writers.value
    expectUnbroken(seen, preferences.propertyList, #_sourceLocation)
  }

  /// A read that is tracked sees the value before the change, or is told of it.
  @Test func `tracked readers end at the last value`() async throws {
    let preferences = Preferences.inMemory()
    let (told, tell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let reader = Task {
      var told = told.makeAsyncIterator()
      while true {
        let value = withObservationTracking {
          preferences.number("n")
        } onChange: {
          tell.yield()
        }
        if value == 1_000 { return }
        // A change between the read and its tracking is nobody's to tell: look once more.
        if preferences.number("n") != value { continue }
        await told.next()
      }
    }
    for number in 1...1_000 {
      try preferences.set(number, "n")
      await Task.yield()
    }
    await reader.value
  }
}

struct ForkObservationTests {
  /// The thread that was telling observers at the moment of the fork is not there in the child, which
  /// then waited for it with all that it had to tell.
  @Test(.exitTests) func `the child tells its own observers`() async {
    await #expect(processExitsWith: .success) {
      let preferences = Preferences.inMemory()
      let (entered, leave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let log = Log<Change>()
      let observation = preferences.observe("key") { change in
        log.add(change)
        guard change.new == .integer(1) else { return }
        entered.signal()
        leave.wait()
      }
      Thread.detachNewThread { try? preferences.set(1, "key") }
      entered.wait()
      let child = stead_test_fork()
      if child == 0 {
        try? preferences.set(2, "key")
        stead_test_exit(log.all.last?.new == .integer(2) ? 0 : 1)
      }
      #expect(stead_test_wait(child) == 0)
      leave.signal()
      withExtendedLifetime(observation) {}
    }
  }
}
