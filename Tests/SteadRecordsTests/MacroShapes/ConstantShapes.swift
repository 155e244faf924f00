import Foundation
import SteadTestSupport
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

@Model final class ConstantTag {
  @Attribute(.unique) var code: String
  let label: String
  let weights: [Double]
  var count = 0

  init(code: String, label: String, weights: [Double] = []) {
    self.code = code
    self.label = label
    self.weights = weights
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

  private static func tags() throws -> ModelContext {
    ModelContext(
      try ModelContainer(
        for: ConstantTag.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
  }

  private func onlyTag(in container: ModelContainer) throws -> ConstantTag {
    let tags = try ModelContext(container).fetch(FetchDescriptor<ConstantTag>())
    try #require(tags.count == 1)
    return tags[0]
  }

  /// What takes values from one object to another left constants as they were, so that the next save stored the old ones.
  @Test(arguments: [false, true], [false, true])
  func `an upsert replaces constants, and undo brings them back`(
    hasUndo: Bool, isLoaded: Bool
  ) throws {
    let context = try Self.tags()
    let container = context.container
    do {
      let first = ModelContext(container)
      first.insert(ConstantTag(code: "a", label: "old", weights: [1]))
      try first.save()
    }
    if hasUndo {
      context.undoManager = UndoManager()
      context.undoManager?.groupsByEvent = false
    }
    let old = isLoaded ? try context.fetch(FetchDescriptor<ConstantTag>()).first : nil
    context.undoManager?.beginUndoGrouping()
    context.insert(ConstantTag(code: "a", label: "new", weights: [2, 3]))
    try context.save()
    context.undoManager?.endUndoGrouping()
    #expect(try onlyTag(in: container).label == "new")
    #expect(try onlyTag(in: container).weights == [2, 3])
    if let old { #expect(old.label == "new" && old.weights == [2, 3]) }
    guard hasUndo else { return }
    context.undoManager?.undo()
    try context.save()
    #expect(try onlyTag(in: container).label == "old")
    #expect(try onlyTag(in: container).weights == [1])
    if let old { #expect(old.label == "old" && old.weights == [1]) }
    context.undoManager?.redo()
    try context.save()
    #expect(try onlyTag(in: container).label == "new")
  }

  @Test func `constants are among an object's backing data`() {
    let tag = ConstantTag(code: "a", label: "label", weights: [1, 2])
    let twin = ConstantTag(backingData: tag.persistentBackingData)
    #expect(twin.code == "a" && twin.label == "label" && twin.weights == [1, 2])
  }

  /// Such a property compiled, was saved, and read as empty, which the next undo stored.
  @Test(arguments: ["Owner", "Owner?", "[Owner]", "[Owner]?"])
  func `a relationship that is a constant is refused by the compiler`(type: String) throws {
    func source(_ keyword: String) -> String {
      """
      import SwiftData
      @Model final class Owner { init() {} }
      @Model final class Item {
        \(keyword) owner: \(type)
        let name: String?
        init(owner: \(type)) { self.owner = owner; name = nil }
      }
      """
    }
    let (status, output) = try SwiftCompiler.checkTypes(of: source("let"))
    #expect(status != 0)
    #expect(output.contains("a relationship must be declared with 'var'"), "\(output)")
    let (accepted, messages) = try SwiftCompiler.checkTypes(of: source("var"))
    #expect(accepted == 0, "\(messages)")
  }
}
