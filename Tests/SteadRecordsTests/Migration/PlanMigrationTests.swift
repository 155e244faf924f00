import Foundation
import SteadTestSupport
import SwiftData
import Testing

enum NotesV1: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
  static var models: [any PersistentModel.Type] { [Note.self] }

  @Model final class Note {
    var text: String
    var isDone: Bool
    init(text: String, isDone: Bool) {
      self.text = text
      self.isDone = isDone
    }
  }
}

enum NotesV2: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
  static var models: [any PersistentModel.Type] { [Note.self] }

  @Model final class Note {
    var text: String
    @Attribute(originalName: "isDone") var isCompleted: Bool
    var length: Int = 0
    init(text: String, isCompleted: Bool) {
      self.text = text
      self.isCompleted = isCompleted
    }
  }
}

enum NotesPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [NotesV1.self, NotesV2.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: NotesV1.self, toVersion: NotesV2.self,
        willMigrate: { context in
          for note in try context.fetch(FetchDescriptor<NotesV1.Note>()) { note.text += "!" }
          try context.save()
        },
        didMigrate: { context in
          for note in try context.fetch(FetchDescriptor<NotesV2.Note>()) {
            note.length = note.text.count
          }
          try context.save()
        })
    ]
  }
}

enum FailingPlan: SchemaMigrationPlan {
  struct Stop: Error {}
  static var schemas: [any VersionedSchema.Type] { NotesPlan.schemas }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: NotesV1.self, toVersion: NotesV2.self, willMigrate: nil,
        didMigrate: { context in
          try context.delete(model: NotesV2.Note.self)
          throw Stop()
        })
    ]
  }
}

@Suite struct PlanMigrationTests {
  private let store: StoreFile

  init() throws {
    store = try StoreFile()
    let context = ModelContext(try store.open(NotesV1.Note.self))
    context.insert(NotesV1.Note(text: "one", isDone: true))
    context.insert(NotesV1.Note(text: "three", isDone: false))
    try context.save()
  }

  private func open(_ plan: any SchemaMigrationPlan.Type) throws -> ModelContainer {
    try ModelContainer(
      for: Schema(versionedSchema: NotesV2.self), migrationPlan: plan,
      configurations: ModelConfiguration(url: store.url))
  }

  @Test func `custom stages see the old types and then the new`() throws {
    for _ in 1...2 {
      let notes = try ModelContext(open(NotesPlan.self)).fetch(
        FetchDescriptor<NotesV2.Note>(sortBy: [SortDescriptor(\.text)]))
      #expect(notes.map(\.text) == ["one!", "three!"])
      #expect(notes.map(\.isCompleted) == [true, false])
      #expect(notes.map(\.length) == [4, 6])
    }
  }

  @Test func `a renamed and a new property need no plan`() throws {
    let notes = try ModelContext(store.open(NotesV2.Note.self)).fetch(
      FetchDescriptor<NotesV2.Note>(sortBy: [SortDescriptor(\.text)]))
    #expect(notes.map(\.isCompleted) == [true, false])
    #expect(notes.map(\.length) == [0, 0])
  }

  /// A migration compared only the first schema and the last. It reported a property that a stage had renamed as gone
  /// with its values, and asked for a custom stage where one had just converted a property.
  @Test func `a migration tells what each stage has changed`() throws {
    let migration = try #require(
      ModelContainer(
        for: Schema(versionedSchema: NotesV3.self), migrationPlan: LongPlan.self,
        configurations: ModelConfiguration(url: store.url)
      ).migrations.first)
    #expect(migration.stages.map(\.name) == ["NotesV1 to NotesV2", "NotesV2 to NotesV3"])
    #expect(migration.stages.map(\.isCustom) == [true, true])
    #expect(
      migration.description.hasPrefix(
        """
        test.store:
        NotesV1 to NotesV2, a custom stage: Note.isDone is called isCompleted. Note.length, a required Int, is new.
        NotesV2 to NotesV3, a custom stage: Note.title, a required String, is new.
        Note: 2 before, 2 afterwards.
        """))
  }

  @Test func `a dry run tells what the models change after the last stage`() throws {
    let migration = try #require(
      ModelContainer.dryRun(
        for: Schema(versionedSchema: NotesV3.self), migrationPlan: NotesPlan.self,
        configurations: [ModelConfiguration(url: store.url)]
      ).first)
    #expect(
      migration.stages.map(\.name) == ["NotesV1 to NotesV2", "NotesV2 to the container's models"])
    #expect(migration.stages.last?.description.contains("Note.title") == true)
  }

  /// The first schema and the last were the same, so that no backup was made.
  @Test func `what one stage drops and another adds again is in the backup`() throws {
    let container = try ModelContainer(
      for: Schema(versionedSchema: DoneNotes.self), migrationPlan: ForthAndBackPlan.self,
      configurations: ModelConfiguration(url: store.url))
    let migration = try #require(container.migrations.first)
    #expect(migration.difference.isEmpty && migration.stages.map(\.isCustom) == [false, false])
    let backup = try ModelContainer(
      for: Schema(versionedSchema: NotesV1.self),
      configurations: ModelConfiguration(url: #require(migration.backup)))
    let notes = try ModelContext(backup).fetch(
      FetchDescriptor<NotesV1.Note>(sortBy: [SortDescriptor(\.text)]))
    #expect(notes.map(\.isDone) == [true, false])
  }

  @Test func `a stage that fails leaves the store as it was`() throws {
    #expect(throws: SwiftDataError.loadIssueModelContainer) { try open(FailingPlan.self) }
    let notes = try ModelContext(store.open(NotesV1.Note.self)).fetch(
      FetchDescriptor<NotesV1.Note>(sortBy: [SortDescriptor(\.text)]))
    #expect(notes.map(\.text) == ["one", "three"])
  }
  /// The copy that is put back is made for its owner alone, and the store kept that mode: an app's
  /// service of the same group could no longer read it.
  @Test func `a stage that fails leaves the store's permissions as they were`() throws {
    try store.url.setMode(0o640)
    #expect(throws: SwiftDataError.loadIssueModelContainer) { try open(FailingPlan.self) }
    #expect(try store.url.mode == 0o640)
  }
}
