import Foundation
import SwiftData
import Testing

enum ShapesV1: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
  static var models: [any PersistentModel.Type] { [Item.self, Child.self] }

  @Model final class Item {
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Child.item) var children: [Child] = []
    init(name: String) { self.name = name }
  }

  @Model final class Child {
    var item: Item?
    init() {}
  }
}

enum ShapesV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self, Child.self] }

  @Model final class Item {
    var name: String
    var count = 1
    @Relationship(inverse: \ShapesV2.Child.item) var children: [Child]?
    init(name: String) { self.name = name }
  }
}

extension ShapesV2 {
  @Model final class Child {
    var item: ShapesV2.Item?
    init() {}
  }
}

struct Outside {
  final class Inside {
    @Model class Deep {
      var text = "deep"
      init() {}
    }
  }
}

/// Models inside other types, and two models of one name.
@Suite struct NestingShapes {
  @Test func `both versions of a model are stored`() throws {
    let first = ShapesV1.Item(name: "one")
    first.children = [ShapesV1.Child(), ShapesV1.Child()]
    try reread(first, alongside: ShapesV1.Child.self) { twin in
      #expect(twin.name == "one")
      #expect(twin.children.count == 2)
    }
    let second = ShapesV2.Item(name: "two")
    second.children = [ShapesV2.Child()]
    try reread(second, alongside: ShapesV2.Child.self) { twin in
      #expect(twin.name == "two" && twin.count == 1)
      #expect(twin.children?.first?.item === twin)
    }
  }

  @Test func `both versions have one entity name`() {
    #expect(Schema.entityName(for: ShapesV1.Item.self) == "Item")
    #expect(Schema.entityName(for: ShapesV2.Item.self) == "Item")
  }

  @Test func `a deeply nested model is stored`() throws {
    try reread(Outside.Inside.Deep()) { #expect($0.text == "deep") }
  }
}
