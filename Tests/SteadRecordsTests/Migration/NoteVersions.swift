import SwiftData

/// The newest notes: the text is in two parts.
enum NotesV3: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }
  static var models: [any PersistentModel.Type] { [Note.self] }

  @Model final class Note {
    var text: String
    var isCompleted: Bool
    var length: Int = 0
    var title: String = ""
    init(text: String) {
      self.text = text
      isCompleted = false
    }
  }
}

/// The first version, as somebody has changed it after it was shipped.
enum EditedNotesV1: VersionedSchema {
  static var versionIdentifier: Schema.Version { NotesV1.versionIdentifier }
  static var models: [any PersistentModel.Type] { [Note.self] }

  @Model final class Note {
    var text: String
    var isDone: Bool
    var color: String?
    init(text: String) {
      self.text = text
      isDone = false
    }
  }
}

/// From the first version to the third, and from the second.
enum LongPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [NotesV1.self, NotesV2.self, NotesV3.self] }
  static var stages: [MigrationStage] {
    NotesPlan.stages + [
      .custom(
        fromVersion: NotesV2.self, toVersion: NotesV3.self, willMigrate: nil,
        didMigrate: { context in
          for note in try context.fetch(FetchDescriptor<NotesV3.Note>()) {
            note.title = String(note.text.prefix(1))
          }
          try context.save()
        })
    ]
  }
}

/// A plan for the edited version.
enum EditedPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [EditedNotesV1.self, NotesV2.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: EditedNotesV1.self, toVersion: NotesV2.self,
        willMigrate: { context in
          for note in try context.fetch(FetchDescriptor<EditedNotesV1.Note>()) { note.text = "" }
          try context.save()
        }, didMigrate: nil)
    ]
  }
}

enum EditedLightPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { EditedPlan.schemas }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: EditedNotesV1.self, toVersion: NotesV2.self)]
  }
}

enum DescendingPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [NotesV2.self, NotesV1.self] }
  static var stages: [MigrationStage] { [] }
}

enum TwicePlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] {
    [NotesV1.self, EditedNotesV1.self, NotesV2.self]
  }
  static var stages: [MigrationStage] { NotesPlan.stages }
}

enum GapPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { LongPlan.schemas }
  static var stages: [MigrationStage] { NotesPlan.stages }
}

enum EmptyPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [] }
  static var stages: [MigrationStage] { [] }
}

/// Notes that cannot be done.
enum PlainNotes: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
  static var models: [any PersistentModel.Type] { [Note.self] }

  @Model final class Note {
    var text: String
    init(text: String) { self.text = text }
  }
}

/// Notes as in the first version.
enum DoneNotes: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }
  static var models: [any PersistentModel.Type] { [Note.self] }

  @Model final class Note {
    var text: String
    var isDone: Bool = false
    init(text: String) { self.text = text }
  }
}

/// Drops a property, and adds it again.
enum ForthAndBackPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] {
    [NotesV1.self, PlainNotes.self, DoneNotes.self]
  }
  static var stages: [MigrationStage] {
    [
      .lightweight(fromVersion: NotesV1.self, toVersion: PlainNotes.self),
      .lightweight(fromVersion: PlainNotes.self, toVersion: DoneNotes.self),
    ]
  }
}
