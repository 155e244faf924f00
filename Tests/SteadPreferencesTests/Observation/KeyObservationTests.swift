import Testing

@testable import SteadPreferences

struct KeyObservationTests {
  let preferences = Preferences.inMemory()
  let log = Log<Change>()

  @Test func `tells old and new`() throws {
    let observation = preferences.observe("theme") { [log] in log.add($0) }
    defer { observation.cancel() }
    try preferences.set(1, "theme")
    try preferences.set(2, "theme")
    try preferences.setPropertyList(nil, forKey: "theme")
    #expect(log.texts == ["theme: nil -> 1", "theme: 1 -> 2", "theme: 2 -> nil"])
  }

  @Test func `tells nothing of other keys and of writes that change nothing`() throws {
    try preferences.set(1, "theme")
    let observation = preferences.observe("theme") { [log] in log.add($0) }
    defer { observation.cancel() }
    try preferences.set(1, "theme")
    try preferences.set(2, "font")
    try preferences.setPropertyList(nil, forKey: "missing")
    #expect(log.texts == [])
    try preferences.setPropertyList(.double(1), forKey: "theme")
    #expect(log.all.map(\.new) == [.double(1)])
  }

  @Test func `tells of each of several keys`() throws {
    let observation = preferences.observe(["a", "b", "a"]) { [log] in log.add($0) }
    defer { observation.cancel() }
    for key in ["a", "c", "b"] { try preferences.set(1, key) }
    #expect(log.texts == ["a: nil -> 1", "b: nil -> 1"])
  }

  @Test func `tells of every key`() throws {
    try preferences.set(1, "a")
    let observation = preferences.observe { [log] in log.add($0) }
    defer { observation.cancel() }
    try preferences.set(2, "a")
    try preferences.set(3, "b")
    try preferences.set(3, "b")
    #expect(log.texts == ["a: 1 -> 2", "b: nil -> 3"])
  }

  /// Two spellings of "é" are two keys, as in a property list, though Swift takes them for one text.
  @Test func `tells spellings of a key apart`() throws {
    let observation = preferences.observe("caf\u{E9}") { [log] in log.add($0) }
    defer { observation.cancel() }
    try preferences.set(1, "cafe\u{301}")
    #expect(log.texts == [])
    try preferences.set(2, "caf\u{E9}")
    #expect(log.all.map(\.new) == [.integer(2)])
  }

  @Test func `tells observers in the order in which they came`() throws {
    let log = Log<Int>()
    let observations = (0..<20).map { index in
      preferences.observe("key") { _ in log.add(index) }
    }
    try preferences.set(1, "key")
    #expect(log.all == Array(0..<20))
    for observation in observations { observation.cancel() }
  }

  @Test func `ends with cancel and with the last reference`() throws {
    let cancelled = preferences.observe("key") { [log] in log.add($0) }
    var released: PreferenceObservation? = preferences.observe("key") { [log] in log.add($0) }
    try preferences.set(1, "key")
    #expect(log.all.count == 2)
    cancelled.cancel()
    cancelled.cancel()
    try preferences.set(2, "key")
    #expect(log.all.count == 3)
    released = nil
    #expect(released == nil)
    try preferences.set(3, "key")
    #expect(log.all.count == 3)
  }

  @Test func `goes on when the preferences are not held`() throws {
    let store = DomainStore(inMemory: "store")
    let observation = Layers([store]).observers.observe(["key"], includingOwn: true) { [log] in
      log.add($0)
    }
    try store.set(1, forKey: "key")
    #expect(log.texts == ["key: nil -> 1"])
    observation.cancel()
    #expect(store.handlerCount == 0)
  }

  @Test func `lets go of handlers and domains`() throws {
    final class Witness: Sendable {}
    let layers = Layers(3)
    var witness: Witness? = Witness()
    weak let weakWitness = witness
    let observations = [["a"], ["a", "b"], nil].map { [witness] keys in
      layers.observers.observe(keys, includingOwn: true) { _ in _ = witness }
    }
    witness = nil
    try layers[0].set(1, forKey: "a")
    #expect(weakWitness != nil)
    #expect(layers.list.map(\.handlerCount) == [1, 1, 1])
    // The tokens are still there; what they held is not.
    for observation in observations { observation.cancel() }
    #expect(weakWitness == nil)
    #expect(layers.list.map(\.handlerCount) == [0, 0, 0])
    #expect(layers.observers.state.withLock { $0.keys.isEmpty && $0.observers.isEmpty })
  }

  /// Nothing says when Observation is no longer interested, so a tracked key is followed for good.
  @Test func `lets go of domains with the preferences`() throws {
    let store = DomainStore(inMemory: "store")
    var layers: Layers? = Layers([store])
    layers?.observers.track(ExactKey("key"))
    weak let observers = layers?.observers
    #expect(store.handlerCount == 1 && observers != nil)
    layers = nil
    #expect(layers == nil && observers == nil)
    #expect(store.handlerCount == 0)
  }

  @Test func `leaves out own writes if asked`() throws {
    let layers = Layers(1)
    let observation = layers.observers.observe(["key"], includingOwn: false) { [log] in
      log.add($0)
    }
    defer { observation.cancel() }
    try layers[0].set(1, forKey: "key")
    layers[0].setFromOutside(.integer(2), forKey: "key")
    try layers[0].set(3, forKey: "key")
    layers[0].setFromOutside(nil, forKey: "key")
    #expect(log.texts == ["key: 1 -> 2 *", "key: 3 -> nil *"])
  }
}
