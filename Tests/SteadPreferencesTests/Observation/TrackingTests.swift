import Observation
import Testing

@testable import SteadPreferences

/// What `withObservationTracking` sees of preferences.
struct TrackingTests {
  let preferences = Preferences.inMemory()

  /// Counts how often a change of what `read` reads is told; tracking ends with the first.
  private func track(_ read: () -> Void) -> Log<Void> {
    let log = Log<Void>()
    withObservationTracking(read) { log.add(()) }
    return log
  }

  @Test func `fires for the key that was read`() throws {
    let log = track { _ = preferences.propertyList(forKey: "n") }
    try preferences.set(1, "other")
    #expect(log.all.isEmpty)
    try preferences.set(1, "n")
    #expect(log.all.count == 1)
    try preferences.set(2, "n")
    #expect(log.all.count == 1)
  }

  @Test func `fires again when it is read again`() throws {
    for number in 0..<5 {
      let logs = (0..<3).map { _ in
        track {
          _ = preferences.propertyList(forKey: "a")
          _ = preferences.propertyList(forKey: "n")
        }
      }
      try preferences.set(number, number.isMultiple(of: 2) ? "n" : "a")
      #expect(logs.map(\.all.count) == [1, 1, 1])
    }
  }

  @Test func `fires when its new value can be read`() throws {
    let seen = Log<Int?>()
    withObservationTracking {
      _ = preferences.propertyList(forKey: "n")
    } onChange: { [preferences] in
      seen.add(preferences.number("n"))
    }
    try preferences.set(7, "n")
    #expect(seen.all == [7])
  }

  @Test func `fires not for writes that change nothing`() throws {
    try preferences.set(1, "n")
    let log = track { _ = preferences.propertyList(forKey: "n") }
    try preferences.set(1, "n")
    #expect(log.all.isEmpty)
    try preferences.setPropertyList(nil, forKey: "n")
    #expect(log.all.count == 1)
  }

  @Test func `sees reads beside other objects`() throws {
    let other = Preferences.inMemory("other")
    let log = track {
      _ = other.propertyList(forKey: "n")
      _ = preferences.propertyList(forKey: "m")
      withObservationTracking {
        _ = other.propertyList(forKey: "inner")
      } onChange: {
      }
    }
    try preferences.set(1, "n")
    try other.set(1, "m")
    #expect(log.all.isEmpty)
    try other.set(1, "inner")
    #expect(log.all.count == 1)
  }

  /// Reads that nothing tracks leave nothing behind, and make nobody follow the domains.
  ///
  /// In a process of its own: a read may be taken for one that another thread tracks at that moment.
  @Test(.exitTests) func `costs nothing untracked`() async {
    await #expect(processExitsWith: .success) {
      let preferences = Preferences.inMemory()
      for number in 0..<100 { _ = preferences.propertyList(forKey: "key \(number)") }
      let state = preferences.observers.state.withLock { ($0.keys.count, $0.layers.count) }
      #expect(state == (0, 0))
    }
  }

  /// A change on one thread is not missed by a read on another that is tracked from then on.
  @Test func `misses no change after tracking`() async throws {
    for round in 0..<200 {
      let preferences = Preferences.inMemory()
      let log = track { _ = preferences.propertyList(forKey: "n") }
      await withTaskGroup { group in
        for number in 0..<3 {
          group.addTask { #expect(throws: Never.self) { try preferences.set(number + round, "n") } }
        }
      }
      #expect(log.all.count == 1)
    }
  }
}
