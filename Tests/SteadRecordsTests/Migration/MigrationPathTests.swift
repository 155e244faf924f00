import Foundation
import SteadTestSupport
import SwiftData
import Testing

/// Which stages of a plan a store needs, and plans and stores that do not fit.
@Suite struct MigrationPathTests {
  private let store: StoreFile

  init() throws {
    store = try StoreFile()
    let context = ModelContext(try store.open(NotesV1.Note.self))
    context.insert(NotesV1.Note(text: "one", isDone: true))
    try context.save()
  }

  private func open(
    _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)?
  ) throws -> ModelContainer {
    try ModelContainer(
      for: Schema(versionedSchema: version), migrationPlan: plan,
      configurations: ModelConfiguration(url: store.url))
  }

  private func refusal(
    _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)?,
    _ code: SwiftDataError
  ) throws -> String {
    let before = try Data(contentsOf: store.url)
    let error = try #require(
      #expect(throws: SwiftDataError.self) { try open(version, plan) }, "The store was opened.")
    #expect(error == code)
    #expect(try Data(contentsOf: store.url) == before)
    return error.message
  }

  private func texts(_ container: ModelContainer) throws -> [String] {
    try ModelContext(container).fetch(FetchDescriptor<NotesV3.Note>()).map {
      "\($0.text) \($0.isCompleted) \($0.length) \($0.title)"
    }
  }

  @Test(arguments: [false, true])
  func `all stages run in their order`(stopsAtTheSecond: Bool) throws {
    if stopsAtTheSecond { _ = try open(NotesV2.self, NotesPlan.self) }
    for _ in 1...2 {
      #expect(try texts(open(NotesV3.self, LongPlan.self)) == ["one! true 4 o"])
    }
  }

  /// A store was taken for the version that has its number, so a custom stage wrote over good data.
  @Test func `a shipped version that was edited is told from the store's`() throws {
    let message = try refusal(NotesV2.self, EditedPlan.self, .unknownSchema)
    #expect(message.contains("Note.color is gone"))
    // Without closures of the app the tables follow by themselves.
    let container = try open(NotesV2.self, EditedLightPlan.self)
    let notes = try ModelContext(container).fetch(FetchDescriptor<NotesV2.Note>())
    #expect(notes.map(\.text) == ["one"] && notes.map(\.isCompleted) == [true])
  }

  @Test func `a store of a later version is refused`() throws {
    _ = try open(NotesV3.self, LongPlan.self)
    for plan in [NotesPlan.self, nil] as [(any SchemaMigrationPlan.Type)?] {
      let message = try refusal(NotesV2.self, plan, .backwardMigration)
      #expect(message.contains("3.0.0") && message.contains("2.0.0"))
    }
    #expect(try texts(open(NotesV3.self, LongPlan.self)) == ["one! true 4 o"])
  }

  @Test func `plans that cannot be are told`() throws {
    let cases: [(any SchemaMigrationPlan.Type, String)] = [
      (DescendingPlan.self, "list the oldest first"), (TwicePlan.self, "a different number"),
      (GapPlan.self, "has no stage from NotesV2"), (EmptyPlan.self, "has no schemas"),
    ]
    for (plan, text) in cases {
      let message = try refusal(NotesV3.self, plan, .loadIssueModelContainer)
      #expect(message.contains(text), "\(plan): \(message)")
    }
  }
}
