import Foundation
import SwiftData
import Testing

@globalActor actor Librarian { static let shared = Librarian() }

@MainActor private func mainDefault() -> Int { 6 }

@MainActor @Model final class MainShape {
  var text: String
  var date = Date()
  var number: Int = mainDefault()
  @Attribute(.unique) var key: Int
  @Relationship(deleteRule: .cascade, inverse: \MainChildShape.parent)
  var children: [MainChildShape] = []
  var doubled: Int { number * 2 }
  init(text: String) {
    self.text = text
    key = 1
  }
  func rename() { text = "renamed" }
}

@MainActor @Model final class MainChildShape {
  var parent: MainShape?
  init() {}
}

@Librarian @Model final class ActorShape {
  var text: String
  init(text: String) { self.text = text }
}

@Model final class UncheckedShape {
  var text: String
  init(text: String) { self.text = text }
}
extension UncheckedShape: @unchecked Sendable {}

@Model final class SendableShape: Sendable {
  var text: String
  init(text: String) { self.text = text }
}

@Model class UncheckedInlineShape: Identifiable, @unchecked Sendable {
  var text: String
  init(text: String) { self.text = text }
}

/// Models on global actors, and models that their author says are Sendable.
@Suite struct IsolationShapes {
  @MainActor @Test func `a model may belong to the main actor`() throws {
    let model = MainShape(text: "text")
    model.children = [MainChildShape()]
    model.rename()
    try reread(model, alongside: MainChildShape.self) { twin in
      #expect(twin.text == "renamed" && twin.number == 6 && twin.doubled == 12)
      #expect(twin.children.count == 1)
      #expect(twin.children.first?.parent === twin)
    }
  }

  @Librarian @Test func `a model may belong to another actor`() throws {
    try reread(ActorShape(text: "text")) { #expect($0.text == "text") }
  }

  @Test func `the schema of an isolated model is read anywhere`() {
    #expect(MainShape.schemaMetadata.map(\.name) == ["text", "date", "number", "key", "children"])
    #expect(MainShape.schemaMetadata[2].defaultValue as? Int == 6)
  }

  @Test func `Sendable models are stored`() throws {
    try reread(UncheckedShape(text: "a")) { #expect($0.text == "a") }
    try reread(SendableShape(text: "b")) { #expect($0.text == "b") }
    try reread(UncheckedInlineShape(text: "c")) { #expect($0.text == "c") }
  }
}
