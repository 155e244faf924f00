import Foundation
import RecordsTestSupport
import SwiftData
import Testing

// Stages that clean up what old versions left: duplicates, orphans, values that are missing.

private enum MemberV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Member.self] }

  @Model final class Member {
    var email: String
    var visits: Int
    init(email: String, visits: Int) {
      self.email = email
      self.visits = visits
    }
  }
}

private enum MemberV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Member.self] }

  @Model final class Member {
    @Attribute(.unique) var email: String
    var visits: Int
    init(email: String, visits: Int) {
      self.email = email
      self.visits = visits
    }
  }
}

private enum MemberPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [MemberV1.self, MemberV2.self] }
  static var stages: [MigrationStage] { [mergeDuplicates] }

  static let mergeDuplicates = MigrationStage.custom(
    fromVersion: MemberV1.self,
    toVersion: MemberV2.self,
    willMigrate: { context in
      guard let members = try? context.fetch(FetchDescriptor<MemberV1.Member>()) else { return }
      var first: [String: MemberV1.Member] = [:]
      var duplicates = Set<MemberV1.Member>()
      for member in members {
        if let known = first[member.email] {
          known.visits += member.visits
          duplicates.insert(member)
        } else {
          first[member.email] = member
        }
      }
      for duplicate in duplicates { context.delete(duplicate) }
      try? context.save()
    }, didMigrate: nil
  )
}

private enum OrderV1: VersionedSchema {
  static var versionIdentifier: Schema.Version { .init(1, 0, 0) }
  static var models: [any PersistentModel.Type] { [Order.self, Line.self] }

  @Model final class Order {
    var number: Int
    @Relationship(deleteRule: .nullify, inverse: \Line.order) var lines: [Line] = []
    init(number: Int) { self.number = number }
  }

  @Model final class Line {
    var text: String
    var order: Order?
    init(text: String) { self.text = text }
  }
}

private enum OrderV2: VersionedSchema {
  static var versionIdentifier: Schema.Version { .init(2, 0, 0) }
  static var models: [any PersistentModel.Type] { [Order.self, Line.self] }

  @Model final class Order {
    var number: Int
    @Relationship(deleteRule: .cascade, inverse: \Line.order) var lines: [Line] = []
    init(number: Int) { self.number = number }
  }

  @Model final class Line {
    var text: String
    var position: Int
    var order: Order?
    init(text: String, position: Int) {
      self.text = text
      self.position = position
    }
  }
}

private enum OrderPlan: SchemaMigrationPlan {
  static let schemas: [any VersionedSchema.Type] = [OrderV1.self, OrderV2.self]
  static let stages: [MigrationStage] = [
    .custom(
      fromVersion: OrderV1.self, toVersion: OrderV2.self,
      willMigrate: { context in
        try context.delete(model: OrderV1.Line.self, where: #Predicate { $0.order == nil })
        try context.save()
      },
      didMigrate: { context in
        for order in try context.fetch(FetchDescriptor<OrderV2.Order>()) {
          for (position, line) in order.lines.enumerated() { line.position = position }
        }
        try context.save()
      })
  ]
}

private enum PetV1: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
  static var models: [any PersistentModel.Type] { [Pet.self] }

  @Model final class Pet {
    var name: String
    var meal: Meal?
    var choice: Int
    init(name: String, choice: Int) {
      self.name = name
      self.choice = choice
    }
  }
}

private enum Meal: String, Codable { case morning, evening, both }

private enum PetV2: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(1, 1, 0) }
  static var models: [any PersistentModel.Type] { [Pet.self] }

  @Model final class Pet {
    var name: String
    var meal: Meal
    init(name: String, meal: Meal) {
      self.name = name
      self.meal = meal
    }
  }
}

private enum PetPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [PetV1.self, PetV2.self] }
  static var stages: [MigrationStage] { [fill] }

  private static let fill = MigrationStage.custom(
    fromVersion: PetV1.self, toVersion: PetV2.self,
    willMigrate: { context in
      let pets = try context.fetch(FetchDescriptor<PetV1.Pet>())
      for pet in pets {
        switch pet.choice {
        case 0: pet.meal = .morning
        case 1: pet.meal = .evening
        default: pet.meal = .both
        }
      }
      try context.save()
    }, didMigrate: nil)
}

private enum SheetV1: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
  static var models: [any PersistentModel.Type] { [Sheet.self] }

  @Model final class Sheet {
    var text: String
    init(text: String) { self.text = text }
  }
}

private enum SheetV2: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
  static var models: [any PersistentModel.Type] { [Sheet.self] }

  @Model final class Sheet {
    var text: String
    var words: Int = 0
    var letters: Int?
    init(text: String) { self.text = text }
  }
}

private enum SheetPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [SheetV1.self, SheetV2.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: SheetV1.self, toVersion: SheetV2.self,
        willMigrate: { context in
          try context.enumerate(
            FetchDescriptor<SheetV1.Sheet>(), batchSize: 7, allowEscapingMutations: true
          ) {
            sheet in
            sheet.text = sheet.text.trimmingCharacters(in: .whitespaces)
          }
          try context.save()
        },
        didMigrate: { context in
          var descriptor = FetchDescriptor<SheetV2.Sheet>(sortBy: [SortDescriptor(\.text)])
          descriptor.fetchLimit = 8
          var offset = 0
          while true {
            descriptor.fetchOffset = offset
            let batch = try context.fetch(descriptor)
            if batch.isEmpty { break }
            for sheet in batch { sheet.words = sheet.text.split(separator: " ").count }
            try context.save()
            offset += batch.count
          }
          for sheet in try context.fetch(
            FetchDescriptor<SheetV2.Sheet>(predicate: #Predicate { $0.letters == nil }))
          {
            sheet.letters = sheet.text.count
          }
          try? context.save()
        })
    ]
  }
}

@Suite struct CleaningShapes {
  @Test func `duplicates are merged before a unique`() throws {
    let store = try ShapeStore(MemberV1.self) {
      for (email, visits) in [("a", 1), ("b", 2), ("a", 4), ("a", 8)] {
        $0.insert(MemberV1.Member(email: email, visits: visits))
      }
    }
    let members = try store.open(MemberV2.self, MemberPlan.self).fetch(
      FetchDescriptor<MemberV2.Member>(sortBy: [SortDescriptor(\.email)]))
    #expect(members.map(\.email) == ["a", "b"] && members.map(\.visits) == [13, 2])
  }

  @Test func `orphans are deleted and a new required column is filled`() throws {
    let store = try ShapeStore(OrderV1.self) {
      let order = OrderV1.Order(number: 7)
      $0.insert(order)
      for text in ["x", "y"] { order.lines.append(OrderV1.Line(text: text)) }
      $0.insert(OrderV1.Line(text: "orphan"))
    }
    let context = try store.open(OrderV2.self, OrderPlan.self)
    let order = try context.only(OrderV2.Order.self)
    #expect(order.lines.map(\.text) == ["x", "y"] && order.lines.map(\.position) == [0, 1])
    #expect(try context.count(OrderV2.Line.self) == 2)
  }

  /// A private type can't be found by its name, as one that was moved since the store was written can't. The store was
  /// taken for one of no version.
  @Test func `an optional value is filled before it is required`() throws {
    let store = try ShapeStore(PetV1.self) {
      for choice in 0...2 { $0.insert(PetV1.Pet(name: "\(choice)", choice: choice)) }
    }
    let pets = try store.open(PetV2.self, PetPlan.self).fetch(
      FetchDescriptor<PetV2.Pet>(sortBy: [SortDescriptor(\.name)]))
    #expect(pets.map(\.meal) == [.morning, .evening, .both])
  }

  @Test func `rows are changed in batches with saves`() throws {
    let store = try ShapeStore(SheetV1.self) {
      for number in 10..<60 { $0.insert(SheetV1.Sheet(text: " page \(number) ")) }
    }
    let sheets = try store.open(SheetV2.self, SheetPlan.self).all(SheetV2.Sheet.self)
    #expect(sheets.count == 50)
    #expect(sheets.allSatisfy { $0.words == 2 && $0.letters == 7 })
  }
}
