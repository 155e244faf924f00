import Foundation
import RecordsTestSupport
import SwiftData
import Testing

// Stages that give data another form: rows from lists, raw values, classes, types under the same name.

private enum Slot: Int, Codable { case morning = 1, evening }

private enum DoseV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static let models: [any PersistentModel.Type] = [Dose.self]

  @Model final class Dose {
    var name: String
    var times: [String]
    var slot: Slot
    init(name: String, times: [String], slot: Slot) {
      self.name = name
      self.times = times
      self.slot = slot
    }
  }
}

private enum DoseV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static let models: [any PersistentModel.Type] = [Dose.self, Time.self]

  @Model final class Dose {
    var name: String
    var times: [String]
    var slot: Slot
    var slotName: String = ""
    @Relationship(deleteRule: .cascade, inverse: \Time.dose) var slots: [Time] = []
    init(name: String) {
      self.name = name
      times = []
      slot = .morning
    }
  }

  @Model final class Time {
    var text: String
    var dose: Dose?
    init(text: String, dose: Dose) {
      self.text = text
      self.dose = dose
    }
  }
}

private enum DoseV3: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static let models: [any PersistentModel.Type] = [Dose.self, Time.self]

  @Model final class Dose {
    var name: String
    var slotName: String = ""
    @Relationship(deleteRule: .cascade, inverse: \Time.dose) var slots: [Time] = []
    init(name: String) { self.name = name }
  }

  @Model final class Time {
    var text: String
    var dose: Dose?
    init(text: String) { self.text = text }
  }
}

private enum DosePlan: SchemaMigrationPlan {
  static let schemas: [any VersionedSchema.Type] = [DoseV1.self, DoseV2.self, DoseV3.self]
  static let stages: [MigrationStage] = [v1ToV2, v2ToV3]

  static let v1ToV2 = MigrationStage.custom(
    fromVersion: DoseV1.self,
    toVersion: DoseV2.self,
    willMigrate: nil
  ) { context in
    let doses = try context.fetch(FetchDescriptor<DoseV2.Dose>(predicate: nil))
    for dose in doses where dose.slots.isEmpty {
      dose.slots = dose.times.map { DoseV2.Time(text: $0, dose: dose) }
      dose.slotName = dose.slot == .morning ? "morning" : "evening"
    }
    try context.save()
  }

  static let v2ToV3 = MigrationStage.lightweight(
    fromVersion: DoseV2.self, toVersion: DoseV3.self)
}

private enum MealV1: VersionedSchema {
  enum Kind: String, Codable { case lunch, dinner }

  static let versionIdentifier = Schema.Version(7, 0, 0)
  static var models: [any PersistentModel.Type] { [Entry.self] }

  @Model final class Entry {
    var meal: Kind
    var mealRawValue: String?
    init(meal: Kind) { self.meal = meal }
  }
}

private enum MealV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(8, 0, 0)
  static var models: [any PersistentModel.Type] { [Entry.self] }

  @Model final class Entry {
    var mealRawValue: String = "LUNCH"
    init() {}
  }
}

private enum MealPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [MealV1.self, MealV2.self] }
  static var stages: [MigrationStage] { [keepRawValues] }

  private static var keepRawValues: MigrationStage {
    .custom(
      fromVersion: MealV1.self, toVersion: MealV2.self,
      willMigrate: { context in
        do {
          try context.transaction {
            for entry in try context.fetch(FetchDescriptor<MealV1.Entry>()) {
              entry.mealRawValue = entry.meal.rawValue.uppercased()
            }
            try context.save()
          }
        } catch {
          print("The raw values were not kept: \(error)")
          throw error
        }
      }, didMigrate: nil)
  }
}

@Model private final class ShapeJournal {
  var text: String
  init(text: String) { self.text = text }
}

@Model private final class ShapeJournalV2 {
  @Attribute(.unique) var key: String
  var text: String
  init(key: String, text: String) {
    self.key = key
    self.text = text
  }
}

private enum JournalV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [ShapeJournal.self] }
}

private enum JournalV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 1)
  static var models: [any PersistentModel.Type] { [ShapeJournal.self, ShapeJournalV2.self] }
}

private enum JournalPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [JournalV1.self, JournalV2.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: JournalV1.self, toVersion: JournalV2.self, willMigrate: nil,
        didMigrate: { context in
          for legacy in try context.fetch(FetchDescriptor<ShapeJournal>()) {
            context.insert(ShapeJournalV2(key: "key " + legacy.text, text: legacy.text))
            context.delete(legacy)
          }
          try context.save()
        })
    ]
  }
}

private enum RouteV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Route.self, Stop.self] }

  @Model final class Route {
    var code: Int
    var stopNames: [String] = []
    @Relationship(deleteRule: .cascade, inverse: \Stop.route) var stops: [Stop] = []
    init(code: Int) { self.code = code }
  }

  @Model final class Stop {
    var name: String
    var route: Route?
    init(name: String) { self.name = name }
  }
}

private enum RouteV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Route.self] }

  @Model final class Route {
    var code: Int
    var stopNames: [String] = []
    init(code: Int) { self.code = code }
  }
}

private enum RoutePlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [RouteV1.self, RouteV2.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: RouteV1.self, toVersion: RouteV2.self,
        willMigrate: { context in
          // The stops are read through their routes alone.
          for route in try context.fetch(FetchDescriptor<RouteV1.Route>()) {
            route.stopNames = route.stops.map(\.name)
          }
          try context.save()
        }, didMigrate: nil)
    ]
  }
}

@Suite struct RewritingShapes {
  @Test func `a list of strings becomes objects and goes in a lightweight stage`() throws {
    let store = try ShapeStore(DoseV1.self) {
      $0.insert(DoseV1.Dose(name: "a", times: ["8:00", "20:00"], slot: .evening))
      $0.insert(DoseV1.Dose(name: "b", times: [], slot: .morning))
    }
    let doses = try store.open(DoseV3.self, DosePlan.self).fetch(
      FetchDescriptor<DoseV3.Dose>(sortBy: [SortDescriptor(\.name)]))
    #expect(doses.map { $0.slots.map(\.text) } == [["8:00", "20:00"], []])
    #expect(doses.map(\.slotName) == ["evening", "morning"])
  }

  @Test func `an enum becomes its raw value in a transaction`() throws {
    let store = try ShapeStore(MealV1.self) {
      $0.insert(MealV1.Entry(meal: .lunch))
      $0.insert(MealV1.Entry(meal: .dinner))
    }
    let entries = try store.open(MealV2.self, MealPlan.self).all(MealV2.Entry.self)
    #expect(entries.map(\.mealRawValue).sorted() == ["DINNER", "LUNCH"])
  }

  @Test func `rows move to a new class beside the old`() throws {
    let store = try ShapeStore(JournalV1.self) {
      for text in ["a", "b"] { $0.insert(ShapeJournal(text: text)) }
    }
    let context = try store.open(JournalV2.self, JournalPlan.self)
    #expect(try context.all(ShapeJournalV2.self).map(\.key).sorted() == ["key a", "key b"])
    #expect(try context.count(ShapeJournal.self) == 0)
  }

  @Test func `children that are read through their parents may go`() throws {
    let store = try ShapeStore(RouteV1.self) {
      let route = RouteV1.Route(code: 1)
      $0.insert(route)
      route.stops = ["x", "y"].map(RouteV1.Stop.init)
    }
    let route = try store.open(RouteV2.self, RoutePlan.self).only(RouteV2.Route.self)
    #expect(route.stopNames == ["x", "y"])
  }
}
