import Foundation
import SteadTestSupport
import SwiftData
import Testing

/// A struct whose fields a store lacked was read once, and never again: the whole property was left out of what later fetches
/// brought, and the next save of the object wrote the first values back over the store's.
@Suite("Structs of a store that lacks fields") struct CustomStoreFieldTests {
  private static let count = 3

  private let content = DictionaryStore.Content()

  init() throws {
    let context = ModelContext(try open())
    for number in 0..<Self.count { context.insert(Gauge("\(number)")) }
    try context.save()
  }

  /// A container, which has not read any object yet.
  private func open() throws -> ModelContainer {
    try ModelContainer(for: Gauge.self, configurations: DictionaryStore.Configuration(content))
  }

  private func objects() throws -> [[String: Any]] {
    try content.snapshots.map { snapshot in
      let data = try JSONEncoder().encode(snapshot)
      return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }
  }

  /// Gives a gauge other settings in the store.
  private func put(_ settings: [String: Any], of name: String) throws {
    let changed = try objects().map { object in
      var object = object
      if object["name"] as? String == name { object["settings"] = settings }
      return try JSONDecoder().decode(
        DefaultSnapshot.self, from: JSONSerialization.data(withJSONObject: object))
    }
    content.state.withLock { $0.snapshots = changed }
  }

  @Test(arguments: 1...8)
  func `an object has what the store has, and keeps what was made for it`(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    for name in 0..<Self.count { try put(["inner": [String: Any]()], of: "\(name)") }
    let container = try open()
    let kept = ModelContext(container)
    var known: [String: (id: UUID, key: String)] = [:]
    for step in 0..<25 {
      let name = "\(Int.random(in: 0..<Self.count, using: &random))"
      // The store has any of the fields that each object has for itself, or none.
      let id = Bool.random(using: &random) ? nil : UUID()
      let key = Bool.random(using: &random) ? nil : "key \(step)"
      let inner: [String: Any] = ["depth": step * 2 as Any].merging(key.map { ["key": $0] } ?? [:])
      { $1 }
      try put(
        ["volume": step, "theme": "plain", "inner": inner].merging(
          id.map { ["id": $0.uuidString] } ?? [:]
        ) { $1 }, of: name)
      let context = Bool.random(using: &random) ? kept : ModelContext(container)
      let gauge = try #require(
        try context.fetch(FetchDescriptor<Gauge>()).first { $0.name == name })
      let found = gauge.settings
      #expect(found.volume == step && found.inner.depth == step * 2, "step \(step)")
      if let id = id ?? known[name]?.id { #expect(found.id == id, "step \(step)") }
      if let key = key ?? known[name]?.key { #expect(found.inner.key == key, "step \(step)") }
      known[name] = (found.id, found.inner.key)
      if Bool.random(using: &random) {
        gauge.count += 1
        try context.save()
        let stored = try #require(try objects().first { $0["name"] as? String == name })
        let settings = try #require(stored["settings"] as? [String: Any])
        #expect(settings["volume"] as? Int == step, "step \(step)")
        #expect(settings["id"] as? String == found.id.uuidString, "step \(step)")
      }
    }
    #expect(Set(known.values.map(\.id)).count == known.count)
  }
}
