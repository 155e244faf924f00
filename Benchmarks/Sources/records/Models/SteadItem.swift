import Foundation
import SwiftData

/// The rows as SwiftData's users write them.
@Model final class Item {
  var title: String
  var code: String
  var rank: Int
  var serial: Int64
  var price: Double
  var isActive: Bool
  var createdAt: Date
  var note: String?
  var quantity: Int?
  var kind: Kind

  init(_ values: ItemValues) {
    title = values.title
    code = values.code
    rank = values.rank
    serial = values.serial
    price = values.price
    isActive = values.isActive
    createdAt = values.createdAt
    note = values.note
    quantity = values.quantity
    kind = values.kind
  }
}

/// The same with an index.
@Model final class IndexedItem {
  #Index<IndexedItem>([\.rank])

  var title: String
  var code: String
  var rank: Int
  var serial: Int64
  var price: Double
  var isActive: Bool
  var createdAt: Date
  var note: String?
  var quantity: Int?
  var kind: Kind

  init(_ values: ItemValues) {
    title = values.title
    code = values.code
    rank = values.rank
    serial = values.serial
    price = values.price
    isActive = values.isActive
    createdAt = values.createdAt
    note = values.note
    quantity = values.quantity
    kind = values.kind
  }
}

@Model final class Parent {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Child.parent) var children: [Child] = []

  init(name: String) { self.name = name }
}

/// The same ten columns, and a parent.
@Model final class Child {
  var title: String
  var code: String
  var rank: Int
  var serial: Int64
  var price: Double
  var isActive: Bool
  var createdAt: Date
  var note: String?
  var quantity: Int?
  var kind: Kind
  var parent: Parent?

  init(_ values: ItemValues, parent: Parent) {
    title = values.title
    code = values.code
    rank = values.rank
    serial = values.serial
    price = values.price
    isActive = values.isActive
    createdAt = values.createdAt
    note = values.note
    quantity = values.quantity
    kind = values.kind
    self.parent = parent
  }
}

extension ModelContainer {
  static func benchmark(_ path: String) throws -> ModelContainer {
    try ModelContainer(
      for: Item.self, IndexedItem.self, Parent.self, Child.self,
      configurations: ModelConfiguration(url: URL(filePath: path)))
  }
}
