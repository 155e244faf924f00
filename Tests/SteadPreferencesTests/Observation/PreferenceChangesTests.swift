import Testing

@testable import SteadPreferences

struct PreferenceChangesTests {
  let preferences = Preferences.inMemory()

  @Test func `gives changes since it was made`() async throws {
    let changes = preferences.changes(for: "key")
    try preferences.set(1, "other")
    try preferences.set(1, "key")
    var iterator = changes.makeAsyncIterator()
    let first = try #require(await iterator.next())
    #expect(first == Change(key: "key", old: nil, new: .integer(1), isOwn: true))
    try preferences.set(2, "key")
    let second = try #require(await iterator.next())
    #expect(second == Change(key: "key", old: .integer(1), new: .integer(2), isOwn: true))
  }

  @Test func `gives what comes while it waits`() async throws {
    let log = Log<Change>()
    let changes = preferences.changes(for: ["a", "b"])
    let (told, tell) = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      for await change in changes {
        log.add(change)
        tell.yield()
      }
    }
    var isTold = told.makeAsyncIterator()
    for (number, key) in ["a", "b", "a"].enumerated() {
      try preferences.set(number, "c")
      try preferences.set(number, key)
      await isTold.next()
    }
    #expect(log.texts == ["a: nil -> 0", "b: nil -> 1", "a: 0 -> 2"])
    task.cancel()
    await task.value
  }

  @Test func `gives a slow consumer one change of each key`() async throws {
    var changes = preferences.changes.makeAsyncIterator()
    for number in 0..<100 { try preferences.set(number, "key \(number % 3)") }
    try preferences.setPropertyList(nil, forKey: "key 1")
    try preferences.set(1, "last")
    let log = Log<Change>()
    for _ in 0..<3 { log.add(try #require(await changes.next())) }
    #expect(log.texts == ["key 0: nil -> 99", "key 2: nil -> 98", "last: nil -> 1"])
    try preferences.set(5, "key 1")
    log.add(try #require(await changes.next()))
    #expect(log.texts.last == "key 1: nil -> 5")
  }

  @Test func `says that merged changes are not own if one is not`() async throws {
    let layers = Layers(1)
    let all = PreferenceChanges { layers.observers.observe(nil, includingOwn: true, $0) }
    let others = PreferenceChanges { layers.observers.observe(nil, includingOwn: false, $0) }
    try layers[0].set(1, forKey: "key")
    layers[0].setFromOutside(.integer(2), forKey: "key")
    try layers[0].set(3, forKey: "key")
    var iterator = all.makeAsyncIterator()
    let own = await iterator.next()
    #expect(own == Change(key: "key", old: nil, new: .integer(3), isOwn: false))
    iterator = others.makeAsyncIterator()
    let other = await iterator.next()
    #expect(other == Change(key: "key", old: .integer(1), new: .integer(2), isOwn: false))
  }

  @Test func `ends when its task is cancelled`() async throws {
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let changes = preferences.changes(for: "key")
    let task = Task { [preferences] in
      var iterator = changes.makeAsyncIterator()
      var count = 0
      while await iterator.next() != nil {
        count += 1
        begin.yield()
      }
      // Though the iterator is still there.
      #expect(preferences.observers.state.withLock { $0.observers.isEmpty })
      #expect(await iterator.next() == nil)
      return count
    }
    try preferences.set(1, "key")
    for await _ in begun { break }
    task.cancel()
    #expect(await task.value == 1)
  }

  @Test func `ends with its iterator`() async throws {
    let changes = preferences.changes(for: "key")
    try preferences.set(1, "key")
    for await change in changes where change.new == .integer(1) { break }
    #expect(preferences.observers.state.withLock { $0.observers.isEmpty })
    // Another iterator begins anew.
    var iterator = changes.makeAsyncIterator()
    try preferences.set(2, "key")
    let change = try #require(await iterator.next())
    #expect(change.old == .integer(1) && change.new == .integer(2))
  }

  @Test func `ends when it is never awaited`() throws {
    do {
      let changes = preferences.changes
      #expect(preferences.observers.state.withLock { $0.observers.count } == 1)
      withExtendedLifetime(changes) {}
    }
    #expect(preferences.observers.state.withLock { $0.observers.isEmpty })
  }
}
