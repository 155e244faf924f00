import Foundation
import SwiftData

enum TaskSchemaV1: VersionedSchema {
  static var versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Task.self] }

  @Model
  class Task {
    var title: String
    var isDone: Bool

    init(title: String, isDone: Bool = false) {
      self.title = title
      self.isDone = isDone
    }
  }
}

enum TaskSchemaV2: VersionedSchema {
  static var versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Task.self] }

  @Model
  class Task {
    var title: String
    @Attribute(originalName: "isDone") var isCompleted: Bool
    var length: Int = 0

    init(title: String, isCompleted: Bool = false) {
      self.title = title
      self.isCompleted = isCompleted
    }
  }
}

enum TaskMigrationPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] {
    [TaskSchemaV1.self, TaskSchemaV2.self]
  }

  static var stages: [MigrationStage] {
    [migrateV1toV2]
  }

  static let migrateV1toV2 = MigrationStage.custom(
    fromVersion: TaskSchemaV1.self,
    toVersion: TaskSchemaV2.self,
    willMigrate: { context in
      for task in try context.fetch(FetchDescriptor<TaskSchemaV1.Task>()) {
        task.title = task.title.trimmingCharacters(in: .whitespaces)
      }
      try context.save()
    },
    didMigrate: { context in
      for task in try context.fetch(FetchDescriptor<TaskSchemaV2.Task>()) {
        task.length = task.title.count
      }
      try context.save()
    }
  )
}
