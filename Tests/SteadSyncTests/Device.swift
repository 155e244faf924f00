import Foundation
import SteadRecords
import SteadSync
import SteadTestSupport
import SwiftData

/// A store in a file with an engine.
final class Device {
  static let zone = "shelf"
  let directory: TemporaryDirectory
  let container: ModelContainer
  let engine: SyncEngine
  let context: ModelContext

  init(_ transport: some SyncTransport, now: (@Sendable () -> Int64)? = nil) throws {
    directory = try TemporaryDirectory()
    let schema = Schema([Folder.self, Note.self, Tag.self])
    container = try ModelContainer(
      for: schema,
      configurations: ModelConfiguration(
        schema: schema, url: directory.file("shelf.store"), sync: .zone(Self.zone)))
    var options = SyncEngine.Options()
    if let now { options.now = now }
    engine = try SyncEngine(container, transport: transport, options: options)
    context = ModelContext(container)
    context.autosaveEnabled = false
  }

  /// What the store holds, without identities.
  var content: [String] {
    get throws {
      let context = ModelContext(container)
      let folders = try context.fetch(FetchDescriptor<Folder>()).map { folder in
        "folder \(folder.name): \(folder.notes.map(\.title).sorted())"
      }
      let notes = try context.fetch(FetchDescriptor<Note>()).map { note in
        let values = "\(note.text) \(note.count) \(note.rating ?? -1) \(note.flags)"
        let date = "\(note.date.timeIntervalSinceReferenceDate)"
        let tags = note.tags.map(\.name).sorted()
        return "note \(note.title) \(values) \(date) \(note.data?.count ?? -1) "
          + "in \(note.folder?.name ?? "-") with \(tags)"
      }
      let tags = try context.fetch(FetchDescriptor<Tag>()).map { tag in
        "tag \(tag.name): \(tag.notes.map(\.title).sorted())"
      }
      return (folders + notes + tags).sorted()
    }
  }

  func note(_ title: String) throws -> Note? {
    try context.fetch(FetchDescriptor<Note>(predicate: #Predicate { $0.title == title })).first
  }

  func folder(_ name: String) throws -> Folder? {
    try context.fetch(FetchDescriptor<Folder>(predicate: #Predicate { $0.name == name })).first
  }

  func tag(_ name: String) throws -> Tag? {
    try context.fetch(FetchDescriptor<Tag>(predicate: #Predicate { $0.name == name })).first
  }
}
