import Foundation
import SwiftData
import Testing

@Model final class ConstantShape {
  let key: UUID
  let created = Date()
  let version: Int = 5
  let note: String?
  let stage: Stage
  let postal: Postal
  var count: Int

  init(key: UUID, note: String?) {
    self.key = key
    self.note = note
    stage = .done
    postal = .home
    count = 1
  }
}

@Model class ConstantBase {
  let base: Int
  init(base: Int) { self.base = base }
}

@Model final class ConstantChild: ConstantBase {
  let own: [String]
  var changing = ""
  init(own: [String]) {
    self.own = own
    super.init(base: 3)
  }
}

/// Constants are stored properties that cannot have accessors, and still get their values from rows.
@Suite struct ConstantShapes {
  @Test func `constants are read from the store`() throws {
    let model = ConstantShape(key: UUID(), note: "note")
    model.count = 2
    try reread(model) { twin in
      #expect(twin.key == model.key)
      #expect(twin.created == model.created)
      #expect(twin.version == 5)
      #expect(twin.note == "note")
      #expect(twin.stage == .done)
      #expect(twin.postal == .home)
      #expect(twin.count == 2)
    }
  }

  @Test func `constants of an object without row come later`() throws {
    let container = try ModelContainer(
      for: ConstantShape.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    let model = ConstantShape(key: UUID(), note: nil)
    context.insert(model)
    try context.save()
    let reader = ModelContext(container)
    let twin = try #require(
      reader.model(for: model.persistentModelID) as? ConstantShape)
    #expect(twin.count == 1)
    #expect(twin.key == model.key)
    #expect(twin.created == model.created)
    #expect(twin.note == nil)
  }

  /// Those that were left out had the value of no row, and nothing read them later.
  @Test func `constants are read by a fetch of some properties`() throws {
    let container = try ModelContainer(
      for: ConstantShape.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    let model = ConstantShape(key: UUID(), note: "note")
    model.count = 2
    context.insert(model)
    try context.save()
    let wanted: [[PartialKeyPath<ConstantShape>]] = [[\.count], [\.key], [\.count, \.note]]
    for properties in wanted {
      var descriptor = FetchDescriptor<ConstantShape>()
      descriptor.propertiesToFetch = properties
      let twin = try #require(ModelContext(container).fetch(descriptor).first)
      #expect(twin.key == model.key && twin.created == model.created && twin.version == 5)
      #expect(twin.note == "note" && twin.stage == .done && twin.postal == .home)
      #expect(twin.count == 2)
    }
  }

  @Test func `constants are inherited`() throws {
    try reread(ConstantChild(own: ["a"]), alongside: ConstantBase.self) { twin in
      #expect(twin.own == ["a"])
      #expect(twin.base == 3)
    }
  }
}
