import Testing

@testable import SteadPreferences

/// What is told is the value that counts, over all domains.
struct LayerObservationTests {
  let layers = Layers(3)
  let log = Log<Change>()

  private func observe(_ keys: [String]?) -> PreferenceObservation {
    layers.observers.observe(keys, includingOwn: true) { [log] in log.add($0) }
  }

  @Test(arguments: [["key"], nil])
  func `says nothing of what is hidden`(keys: [String]?) throws {
    try layers[0].set(1, forKey: "key")
    let observation = observe(keys)
    defer { observation.cancel() }
    try layers[1].set(2, forKey: "key")
    try layers[2].set(3, forKey: "key")
    try layers[1].set(nil, forKey: "key")
    #expect(log.texts == [])
  }

  @Test(arguments: [["key"], nil])
  func `says what a removal reveals`(keys: [String]?) throws {
    try layers[2].set(3, forKey: "key")
    try layers[0].set(1, forKey: "key")
    let observation = observe(keys)
    defer { observation.cancel() }
    try layers[0].set(nil, forKey: "key")
    try layers[1].set(2, forKey: "key")
    try layers[2].set(4, forKey: "key")
    try layers[1].set(nil, forKey: "key")
    #expect(log.texts == ["key: 1 -> 3", "key: 3 -> 2", "key: 2 -> 4"])
  }

  @Test func `tells all changes of one write`() throws {
    let observation = observe(nil)
    defer { observation.cancel() }
    try layers[0].set(1, forKey: "a")
    try layers[0].apply([
      DomainEdit(key: "a", value: .integer(2)), DomainEdit(key: "b", value: .integer(1)),
      DomainEdit(key: "a", value: .integer(3)), DomainEdit(key: "c", value: nil),
    ])
    try layers[0].replaceContents(with: ["b": .integer(1), "c": .integer(1)])
    #expect(
      log.texts == [
        "a: nil -> 1", "a: 1 -> 2", "b: nil -> 1", "a: 2 -> 3", "a: 3 -> nil", "c: nil -> 1",
      ])
  }

  @Test(arguments: [["a", "b", "c"], nil])
  func `tells what a change of the search list changes`(keys: [String]?) throws {
    let added = DomainStore(inMemory: "added")
    for key in ["a", "b"] { try added.set(9, forKey: key) }
    for key in ["a", "c"] { try layers[0].set(1, forKey: key) }
    try layers[2].set(2, forKey: "c")
    let observation = observe(keys)
    layers.list.insert(added, at: 1)
    #expect(log.texts == ["b: nil -> 9"])
    try added.set(nil, forKey: "b")
    try added.set(8, forKey: "c")
    layers.list.removeFirst()
    #expect(log.texts.dropFirst(2).sorted() == ["a: 1 -> 9", "c: 1 -> 8"])
    layers.list = []
    #expect(log.texts.dropFirst(4).sorted() == ["a: 9 -> nil", "c: 8 -> nil"])
    observation.cancel()
    #expect(added.handlerCount == 0)
  }

  @Test func `knows a domain that is there twice`() throws {
    layers.list.append(layers[0])
    let observation = observe(["key"])
    layers.list.append(DomainStore(inMemory: "another"))
    try layers[0].set(1, forKey: "key")
    try layers[1].set(2, forKey: "key")
    try layers[0].set(nil, forKey: "key")
    #expect(log.texts == ["key: nil -> 1", "key: 1 -> 2"])
    observation.cancel()
    #expect(layers[0].handlerCount == 0)
  }

  /// Random writes to all layers: what is told is what a look-up gives.
  @Test(arguments: [true, false])
  func `tells what a look-up gives`(everyKey: Bool) throws {
    let keys = (0..<5).map { "key \($0)" }
    let observation = observe(everyKey ? nil : keys)
    defer { observation.cancel() }
    var known: [String: PropertyList] = [:]
    for _ in 0..<2_000 {
      let count = log.all.count
      let key = keys[.random(in: 0..<keys.count)]
      let value = Bool.random() ? PropertyList.integer(.random(in: 0..<3)) : nil
      try layers[.random(in: 0..<3)].set(value, forKey: key)
      let change = log.all.dropFirst(count).first
      #expect(log.all.count <= count + 1)
      #expect((change == nil) == (known[key] == layers.value(key)))
      if let change { #expect(change.key == key && change.old == known[key]) }
      known[key] = layers.value(key)
      if let change { #expect(change.new == known[key]) }
    }
  }
}
