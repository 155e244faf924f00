import Foundation
import SteadTestSupport
import SwiftData
import Testing

@testable import SteadRecords

/// The first notes without `isDone`, whose values an automatic migration drops.
private enum ShortNotes {
  @Model final class Note {
    var text: String
    init(text: String) { self.text = text }
  }
}

/// A migration's backup was a copy with the names of the store's log. `cp STORE.backup STORE` after the program was killed
/// opened as the migrated store, without an error: the log's pages were taken for those of the backup.
@Suite("A backup in the store's place beside the store's log", .needs(.program("cp")))
struct RestoredBackupTests {
  /// How the backup is made.
  enum Maker: CaseIterable, Sendable { case plan, automaticMigration, call }

  private let place: RecordsTestSupport.StoreFile

  init() throws { place = try RecordsTestSupport.StoreFile() }

  private func copy(_ source: String, to target: String) throws {
    // Another process: this one would release SQLite's locks on a file as it closes it.
    let copying = try WorkerProcess(["cp", source, target])
    try #require(copying.finish() == 0)
  }

  private func fill(_ context: ModelContext) throws {
    for number in 1...3 { context.insert(NotesV1.Note(text: "\(number)", isDone: number == 2)) }
    try context.save()
  }

  /// Makes the backup, and returns its file and what has the store open afterwards.
  private func backUp(by maker: Maker) throws -> (file: URL, container: ModelContainer) {
    switch maker {
    case .plan:
      let container = try ModelContainer(
        for: Schema(versionedSchema: NotesV2.self), migrationPlan: NotesPlan.self,
        configurations: ModelConfiguration(url: place.url))
      return (try #require(container.migrations.first?.backup), container)
    case .automaticMigration:
      let container = try place.open(ShortNotes.Note.self)
      return (try #require(container.migrations.first?.backup), container)
    case .call:
      let container = try place.open(NotesV1.Note.self)
      let file = place.directory.file("copy.store")
      try container.backUp(to: file)
      return (file, container)
    }
  }

  private func save(_ container: ModelContainer, as maker: Maker) throws {
    let context = ModelContext(container)
    switch maker {
    case .plan: context.insert(NotesV2.Note(text: "later", isCompleted: true))
    case .automaticMigration: context.insert(ShortNotes.Note(text: "later"))
    case .call: context.insert(NotesV1.Note(text: "later", isDone: true))
    }
    try context.save()
  }

  private func notes(at url: URL) throws -> [String] {
    let container = try ModelContainer(
      for: NotesV1.Note.self, configurations: ModelConfiguration(url: url))
    let context = ModelContext(container)
    return try withExtendedLifetime(context) {
      try context.fetch(FetchDescriptor<NotesV1.Note>(sortBy: [SortDescriptor(\.text)])).map {
        "\($0.text) \($0.isDone)"
      }
    }
  }

  /// What happens until the program is killed.
  struct Course: Sendable, CustomTestStringConvertible {
    var saves: Int
    /// A reader of an old state keeps the log from being emptied.
    var hasReader: Bool
    var testDescription: String { "\(saves) saves\(hasReader ? ", with a reader" : "")" }

    static let all = [0, 1, 30].flatMap { saves in
      [false, true].map { Course(saves: saves, hasReader: $0) }
    }
  }

  @Test(arguments: Maker.allCases, Course.all)
  func `is refused, or is the store as it was`(maker: Maker, course: Course) throws {
    do { try fill(ModelContext(place.open(NotesV1.Note.self))) }
    let reader = try StoreFile(ModelConfiguration(url: place.url)).open(writable: false)
    if course.hasReader {
      try reader.begin()
      _ = try reader.lastCommit()
    }
    let (backup, container) = try backUp(by: maker)
    for _ in 0..<course.saves { try save(container, as: maker) }
    // As after a kill: the files, without the index of the log.
    let killed = try RecordsTestSupport.StoreFile()
    let log = killed.url.filePath + "-wal"
    try copy(place.url.filePath + "-wal", to: log)
    try copy(backup.filePath, to: killed.url.filePath)
    withExtendedLifetime((container, reader)) {}
    let before = ["1 false", "2 true", "3 false"]
    let hasLog = try Data(contentsOf: URL(filePath: log)).count > 0
    #expect(hasLog || course.saves == 0)
    if hasLog {
      let error = #expect(throws: SwiftDataError.unreadableStore) { try notes(at: killed.url) }
      #expect(error?.message.contains("don't belong together") == true)
      // What the message says.
      try FileManager.default.removeItem(atPath: log)
    }
    #expect(try notes(at: killed.url) == before)
  }
}
