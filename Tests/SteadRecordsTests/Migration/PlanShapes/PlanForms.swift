import Foundation
import RecordsTestSupport
import SwiftData
import Testing

// What apps write in the lists of a plan, and which stages then run.

private enum TaskV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Task.self] }

  @Model final class Task {
    var title: String
    var color: String = "red"
    init(title: String) { self.title = title }
  }
}

private enum TaskV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Task.self] }

  @Model final class Task {
    var title: String
    var rank: Int = 0
    init(title: String) { self.title = title }
  }
}

private enum TaskV3: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] { [Task.self] }

  @Model final class Task {
    var title: String
    var rank: Int = 0
    var note: String?
    init(title: String) { self.title = title }
  }
}

private enum NilPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [TaskV1.self, TaskV2.self] }
  static var stages: [MigrationStage] {
    [
      MigrationStage.custom(
        fromVersion: TaskV1.self, toVersion: TaskV2.self, willMigrate: nil, didMigrate: nil)
    ]
  }
}

private enum StagelessPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [TaskV1.self, TaskV2.self] }
  static var stages: [MigrationStage] { [] }
}

private enum LatePlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [TaskV2.self] }
  static var stages: [MigrationStage] { [] }
}

private enum UnlistedPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [TaskV1.self, TaskV2.self] }
  static var stages: [MigrationStage] {
    NilPlan.stages + [
      .custom(
        fromVersion: TaskV2.self, toVersion: TaskV3.self, willMigrate: nil,
        didMigrate: { context in
          for task in try context.fetch(FetchDescriptor<TaskV3.Task>()) { task.note = "new" }
          try context.save()
        })
    ]
  }
}

private enum DowngradePlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [TaskV1.self, TaskV2.self, TaskV3.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: TaskV2.self, toVersion: TaskV1.self,
        willMigrate: { context in
          ranks = Dictionary(
            uniqueKeysWithValues: try context.fetch(FetchDescriptor<TaskV2.Task>()).map {
              ($0.title, $0.rank)
            })
        },
        didMigrate: { context in
          for task in try context.fetch(FetchDescriptor<TaskV1.Task>()) {
            task.color = "rank \(ranks[task.title] ?? -1)"
          }
          try context.save()
        }),
      .lightweight(fromVersion: TaskV3.self, toVersion: TaskV2.self),
    ]
  }

  // Only the thread that opens the store calls the closures, and one test alone opens it.
  nonisolated(unsafe) private static var ranks: [String: Int] = [:]
}

private enum SamePlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [TaskV1.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: TaskV1.self, toVersion: TaskV1.self,
        willMigrate: { try $0.delete(model: TaskV1.Task.self) }, didMigrate: nil)
    ]
  }
}

/// The models of the first version, whose values a stage is to change.
private enum TaskFix: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 1, 0)
  static var models: [any PersistentModel.Type] { TaskV1.models }
}

private enum FixPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [TaskV1.self, TaskFix.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: TaskV1.self, toVersion: TaskFix.self, willMigrate: nil,
        didMigrate: { context in
          for task in try context.fetch(FetchDescriptor<TaskV1.Task>()) { task.title += "!" }
          try context.save()
        })
    ]
  }
}

/// Fetches the classes of the version that the store doesn't have at that time.
private enum MixedUpPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [TaskV1.self, TaskV3.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: TaskV1.self, toVersion: TaskV3.self,
        willMigrate: { context in
          for task in try context.fetch(FetchDescriptor<TaskV1.Task>()) { task.color = "blue" }
        },
        didMigrate: { context in
          for task in try context.fetch(FetchDescriptor<TaskV1.Task>()) {
            context.insert(TaskV3.Task(title: task.title))
            context.delete(task)
          }
          try? context.save()
        })
    ]
  }
}

@Suite struct PlanForms {
  private func store(_ titles: String...) throws -> ShapeStore {
    try ShapeStore(TaskV1.self) { for title in titles { $0.insert(TaskV1.Task(title: title)) } }
  }

  /// Apps write such a stage instead of a lightweight one. It was refused for the color, which it drops.
  @Test func `a custom stage without closures is a lightweight one`() throws {
    let store = try store("a")
    let context = try store.open(TaskV2.self, NilPlan.self)
    #expect(try context.only(TaskV2.Task.self).title == "a")
    let migration = try #require(context.container.migrations.first)
    #expect(migration.backup != nil)
  }

  /// Versions without stages were refused for the stages that they lack.
  @Test func `without stages, the tables follow by themselves`() throws {
    for plan in [StagelessPlan.self, LatePlan.self] as [any SchemaMigrationPlan.Type] {
      let store = try store("a")
      for _ in 1...2 {
        let context = try store.open(TaskV2.self, plan)
        #expect(try context.only(TaskV2.Task.self).title == "a")
      }
    }
  }

  /// A plan was refused when its list of versions was shorter than its stages.
  @Test func `stages may name versions that the list lacks`() throws {
    let context = try store("a").open(TaskV3.self, UnlistedPlan.self)
    #expect(try context.only(TaskV3.Task.self).note == "new")
  }

  /// All stages ran, and then the store was refused for its version, which was later than the models'.
  @Test func `a container of an earlier version stops there`() throws {
    let store = try store("a")
    let context = try store.open(TaskV2.self, UnlistedPlan.self)
    #expect(try context.only(TaskV2.Task.self).rank == 0)
    #expect(try store.open(TaskV3.self, UnlistedPlan.self).only(TaskV3.Task.self).note == "new")
  }

  /// A plan for an app that goes back to its earlier version: the store was refused as a later version's.
  @Test func `stages may lead to an earlier version`() throws {
    let store = try ShapeStore(TaskV3.self) {
      let task = TaskV3.Task(title: "a")
      task.rank = 9
      $0.insert(task)
    }
    for _ in 1...2 {
      let context = try store.open(TaskV1.self, DowngradePlan.self)
      #expect(try context.only(TaskV1.Task.self).color == "rank 9")
    }
    // Forward there is no stage.
    let error = try #require(throws: SwiftDataError.self) {
      try store.open(TaskV3.self, DowngradePlan.self)
    }
    #expect(error.message.contains("has no stage from TaskV1"))
  }

  @Test func `a stage from a version to itself never runs`() throws {
    let context = try store("a", "b").open(TaskV1.self, SamePlan.self)
    #expect(try context.count(TaskV1.Task.self) == 2)
  }

  /// A container that names its classes has version 1.0.0. The store then had it, too, and the stage ran at each start.
  @Test func `a stage between versions with the same models runs once`() throws {
    let store = try store("a")
    for _ in 1...3 {
      let container = try ModelContainer(
        for: TaskV1.Task.self, migrationPlan: FixPlan.self,
        configurations: ModelConfiguration(url: store.file.url))
      #expect(try ModelContext(container).only(TaskV1.Task.self).title == "a!")
    }
  }

  @Test func `a stage that fetches classes of another version fails and changes nothing`() throws {
    let store = try store("a")
    #expect(throws: SwiftDataError.loadIssueModelContainer) {
      try store.open(TaskV3.self, MixedUpPlan.self)
    }
    let task = try ModelContext(store.file.open(TaskV1.Task.self)).only(TaskV1.Task.self)
    #expect(task.title == "a" && task.color == "red")
  }
}
