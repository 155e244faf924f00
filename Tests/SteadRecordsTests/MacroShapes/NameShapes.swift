import Foundation
import SwiftData
import Testing

@Model final class NameShape {
  var `default`: Int = 0
  var `where`: String
  var `self`: Bool = false
  var _leading: Int = 1
  var naïve = "é"
  var `in` = 5 { didSet { changes += 1 } }
  let `let`: Int
  @Transient var changes = 0

  init() {
    self.where = "here"
    self.let = 8
  }
}

@Model final class `protocol` {
  var text: String
  init(text: String) { self.text = text }
}

@Model final class ConditionShape {
  var first: Int
  #if os(Linux) || canImport(Darwin)
    var second: String
    #if !NEVER_DEFINED
      var third = 3
    #else
      var never = 4
    #endif
  #else
    var other: Int
  #endif
  var last = 9
  #if NEVER_DEFINED
    #Index<ConditionShape>([\.never])
  #endif

  init(first: Int) {
    self.first = first
    #if os(Linux) || canImport(Darwin)
      second = "second"
    #else
      other = 1
    #endif
  }
}

@Model final class NamesakeChild: NamesakeBase {
  var note = "own"
  override init() { super.init() }
}

/// Unusual names, and declarations under conditions.
@Suite struct NameShapes {
  /// The layout ended the program: it has each property by its name.
  @Test func `a property with the name of a private one above is refused`() {
    let error = #expect(throws: SwiftDataError.self) {
      try ModelContainer(
        for: NamesakeBase.self, NamesakeChild.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    }
    #expect(error?.code == .nameClash)
    #expect(error?.message.contains("NamesakeChild") == true)
    #expect(error?.message.contains("note") == true)
  }

  @Test func `keywords and underscores are names too`() throws {
    let model = NameShape()
    model.default = 4
    model.in = 6
    model._leading = 2
    #expect(model.changes == 1)
    #expect(
      NameShape.schemaMetadata.map(\.name)
        == ["default", "where", "self", "_leading", "naïve", "in", "let"])
    try reread(model) { twin in
      #expect(twin.default == 4 && twin.where == "here" && twin.in == 6 && twin.let == 8)
      #expect(twin._leading == 2 && twin.naïve == "é")
    }
  }

  @Test func `a model may be named like a keyword`() throws {
    try reread(`protocol`(text: "text")) { #expect($0.text == "text") }
  }

  @Test func `only active properties are stored`() throws {
    #expect(
      ConditionShape.schemaMetadata.map(\.name) == ["first", "second", "third", "last"])
    try reread(ConditionShape(first: 1)) { twin in
      #expect(twin.first == 1 && twin.second == "second" && twin.third == 3 && twin.last == 9)
    }
  }
}
