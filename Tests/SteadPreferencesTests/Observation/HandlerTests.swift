import SteadFiles
import Synchronization
import Testing

@testable import SteadPreferences

/// What handlers may do.
struct HandlerTests {
  let preferences = Preferences.inMemory()
  let log = Log<Change>()

  @Test func `may read what they are told of`() throws {
    let observation = preferences.observe("key") { [preferences, log] change in
      #expect(preferences.propertyList(forKey: "key") == change.new)
      log.add(change)
    }
    defer { observation.cancel() }
    try preferences.set(1, "key")
    #expect(log.all.count == 1)
  }

  /// Calls do not nest, and all observers see one order.
  @Test func `may set preferences`() throws {
    let depth = Atomic<Int>(0)
    let second = Log<Change>()
    let observations = [
      preferences.observe("count") { [preferences, log] change in
        #expect(depth.add(1, ordering: .relaxed).newValue == 1)
        log.add(change)
        if case .integer(let number) = change.new, number < 1_000 {
          #expect(throws: Never.self) { try preferences.set(Int(number) + 1, "count") }
        }
        depth.subtract(1, ordering: .relaxed)
      },
      preferences.observe("count") { second.add($0) },
    ]
    try preferences.set(1, "count")
    #expect(log.all.compactMap(\.new) == (1...1_000).map { .integer($0) })
    #expect(second.all == log.all)
    for observation in observations { observation.cancel() }
  }

  @Test func `may set what another domain hides`() throws {
    let layers = Layers(2)
    let observation = layers.observers.observe(["a", "b"], includingOwn: true) { [log] change in
      log.add(change)
      if change.key == "a" {
        #expect(throws: Never.self) { try layers[1].set(1, forKey: "b") }
      }
    }
    defer { observation.cancel() }
    try layers[0].set(1, forKey: "a")
    #expect(log.texts == ["a: nil -> 1", "b: nil -> 1"])
  }

  @Test func `may end their own observation`() throws {
    let token = ForkSafeLock<PreferenceObservation?>(nil)
    let observation = preferences.observe("key") { [log] change in
      log.add(change)
      token.withLock { token in
        defer { token = nil }
        return token
      }?.cancel()
    }
    token.withLock { $0 = observation }
    try preferences.set(1, "key")
    try preferences.set(2, "key")
    #expect(log.texts == ["key: nil -> 1"])
  }

  @Test func `may end and begin other observations`() throws {
    let others = ForkSafeLock<[PreferenceObservation]>([])
    let observation = preferences.observe("key") { [preferences, log] _ in
      let other = preferences.observe("key") { log.add($0) }
      let last = others.withLock { others in
        defer { others = [other] }
        return others
      }
      for other in last { other.cancel() }
    }
    defer { observation.cancel() }
    for number in 1...4 { try preferences.set(number, "key") }
    #expect(log.texts == [])
    observation.cancel()
    try preferences.set(5, "key")
    #expect(log.texts == ["key: 4 -> 5"])
  }

  /// What was set while observers were being told still waits to be told, and is told to all in order.
  @Test func `may observe what they have just set`() throws {
    let others = Log<PreferenceObservation>()
    let observation = preferences.observe("a") { [preferences, log] _ in
      #expect(throws: Never.self) {
        try preferences.set(1, "b")
        try preferences.set(2, "b")
      }
      others.add(preferences.observe("b") { log.add($0) })
    }
    try preferences.set(1, "a")
    try preferences.set(3, "b")
    #expect(log.texts == ["b: nil -> 1", "b: 1 -> 2", "b: 2 -> 3"])
    observation.cancel()
    for other in others.all { other.cancel() }
  }
}
