import Foundation
import SwiftData
import Synchronization
import Testing

@testable import SteadRecords

// Default values were evaluated for each object that was read from a row, and then overwritten: where
// one was `UUID()`, that took most of the time of a fetch.

private let evaluations = Mutex<[String: Int]>([:])

private func counted<Value>(_ value: Value, _ name: String) -> Value {
  evaluations.withLock { $0[name, default: 0] += 1 }
  return value
}

final class Canary {
  static let alive = Atomic<Int>(0)
  init() { Self.alive.add(1, ordering: .relaxed) }
  deinit { Self.alive.subtract(1, ordering: .relaxed) }
}

@Model final class MadeShape {
  var key = counted(UUID(), "key")
  var name: String = counted("default", "name")
  var optional: Int?
  var tags: [String] = counted(["a"], "tags")
  var observed: Int = counted(1, "observed") { didSet { changes += 1 } }
  var friend: MadeShape?
  @Relationship(inverse: \MadeShape.friend) var friends: [MadeShape] = []
  @Transient var changes = 0
  @Transient var canary: Canary? = Canary()
  @Transient var later: Canary?
  @Transient private(set) var list: [Float: any Hashable] = [1: "b"]
  @Transient var box: any Hashable = "box"

  init() {}
}

@MainActor @Model final class MadeOnMainActor {
  var key = counted(UUID(), "mainActor")
  @Transient var text = "text"

  init() {}
}

/// Has forms of stored properties that only an initializer can set.
@Model final class InitializedShape {
  var key = UUID()
  @Transient lazy var lazily = 3
  @Transient weak var reference: Canary?
  @Transient let constant = 5

  init() {}
}

typealias Action = () -> Int

/// Functions and what holds them have one form in a property and another in generic code.
@Model final class FunctionShape {
  var key = UUID()
  @Transient var action: Action = { 4 }

  init() {}
}

@Model final class PairShape {
  var key = UUID()
  @Transient var pair: (Float, Action?) = (1, { 5 })
  @Transient var type: Any.Type = Int.self

  init() {}
}

@Model class MadeBase {
  var key = UUID()
  @Transient var unstored = 1

  init() {}
}

@Model final class MadeChild: MadeBase {
  var own = UUID()
  @Transient var ownUnstored = 2

  override init() { super.init() }
}

@Suite(.serialized) struct MakingShapes {
  private func count(_ name: String) -> Int { evaluations.withLock { $0[name] ?? 0 } }

  @Test func `reading a row evaluates no default value`() throws {
    let container = try ModelContainer(
      for: MadeShape.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let writer = ModelContext(container)
    let model = MadeShape()
    model.name = "stored"
    model.optional = 7
    model.observed = 9
    writer.insert(model)
    try writer.save()
    let names = ["key", "name", "tags", "observed"]
    // The schema asks for default values once, when the first context is used.
    _ = try ModelContext(container).fetch(FetchDescriptor<MadeShape>())
    let before = names.map(count)
    let twin = try #require(
      try ModelContext(container).fetch(FetchDescriptor<MadeShape>()).first)
    #expect(names.map(count) == before)
    #expect(twin !== model)
    #expect(twin.key == model.key && twin.name == "stored" && twin.optional == 7)
    #expect(twin.tags == ["a"] && twin.observed == 9 && twin.friend == nil)
    #expect(twin.friends.isEmpty)
    twin.observed = 10
    #expect(twin.changes == 1)
  }

  @Test func `unstored properties still have their default values`() throws {
    let model = MadeShape()
    model.changes = 5
    try reread(model) { twin in
      #expect(twin.changes == 0 && twin.canary != nil && twin.later == nil)
      #expect(twin.list[1] as? String == "b" && twin.box as? String == "box")
    }
  }

  @Test func `what a made object holds is released with it`() throws {
    let container = try ModelContainer(
      for: MadeShape.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let writer = ModelContext(container)
    for _ in 0..<100 { writer.insert(MadeShape()) }
    try writer.save()
    let before = Canary.alive.load(ordering: .relaxed)
    do {
      let reader = ModelContext(container)
      let models = try reader.fetch(FetchDescriptor<MadeShape>())
      #expect(models.count == 100)
      #expect(Canary.alive.load(ordering: .relaxed) == before + 100)
    }
    #expect(Canary.alive.load(ordering: .relaxed) == before)
  }

  @Test @MainActor func `classes of actors are made too`() throws {
    let model = MadeOnMainActor()
    try reread(model) { twin in
      #expect(twin.key == model.key && twin.text == "text")
      let before = count("mainActor")
      let container = try #require(twin.modelContext?.container)
      let other = try ModelContext(container).fetch(FetchDescriptor<MadeOnMainActor>())
      #expect(other.count == 1 && count("mainActor") == before)
    }
  }

  @Test func `other forms are initialized`() throws {
    let model = InitializedShape()
    try reread(model) { twin in
      #expect(twin.key == model.key && twin.lazily == 3 && twin.reference == nil)
      #expect(twin.constant == 5)
    }
    try reread(FunctionShape()) { #expect($0.action() == 4) }
    try reread(PairShape()) { twin in
      #expect(twin.pair.0 == 1 && twin.pair.1?() == 5 && twin.type == Int.self)
    }
    let child = MadeChild()
    try reread(child, alongside: MadeBase.self) { twin in
      #expect(twin.key == child.key && twin.own == child.own)
      #expect(twin.unstored == 1 && twin.ownUnstored == 2)
    }
  }

  @Test func `a class with an unknown property is not made`() {
    #expect(_canMake(Canary.self, fields: 0))
    #expect(!_canMake(Canary.self, fields: 1))
  }
}
