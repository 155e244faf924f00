import Foundation
import SteadRecords
import SteadSync
import SteadTestSupport
import SwiftData

/// A store in a file with an engine.
package final class Device {
  package static let zone = "0123456789abcdef0123456789abcdef"
  package let container: ModelContainer
  package let engine: SyncEngine
  package let context: ModelContext
  /// nil where it is somebody else's.
  private let directory: TemporaryDirectory?

  /// - Parameter pageSize: The maximum number of records that one request asks for; nil for the default.
  package convenience init(_ transport: some SyncTransport, pageSize: Int? = nil) throws {
    let directory = try TemporaryDirectory()
    var options = SyncEngine.Options()
    if let pageSize { options.pageSize = pageSize }
    try self.init(transport, in: directory.url, directory, options: options)
  }

  package init(
    _ transport: some SyncTransport, in folder: URL, _ directory: TemporaryDirectory? = nil,
    options: SyncEngine.Options = SyncEngine.Options()
  ) throws {
    self.directory = directory
    let schema = Schema([Folder.self, Note.self, Tag.self, Box.self, Item.self])
    container = try ModelContainer(
      for: schema,
      configurations: ModelConfiguration(
        schema: schema, url: folder.appending(path: "shelf.store"),
        sync: .zone(
          Self.zone, merging: .counter(\Note.plays), .max(\Note.best), .union(\Note.words))))
    engine = try SyncEngine(container, transport: transport, options: options)
    context = ModelContext(container)
    context.autosaveEnabled = false
  }

  /// What the store holds, without identities.
  package var content: [String] {
    get throws {
      let context = ModelContext(container)
      let folders = try context.fetch(FetchDescriptor<Folder>()).map { folder in
        "folder \(folder.name): \(folder.notes.map(\.title).sorted())"
      }
      let notes = try context.fetch(FetchDescriptor<Note>()).map { note in
        let values =
          "\(note.text) \(note.count) \(note.rating ?? -1) \(note.flags) "
          + "\(note.plays) \(note.best ?? -1) \(note.words)"
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

  package func note(_ title: String) throws -> Note? {
    try context.fetch(FetchDescriptor<Note>(predicate: #Predicate { $0.title == title })).first
  }

  package func folder(_ name: String) throws -> Folder? {
    try context.fetch(FetchDescriptor<Folder>(predicate: #Predicate { $0.name == name })).first
  }

  package func tag(_ name: String) throws -> Tag? {
    try context.fetch(FetchDescriptor<Tag>(predicate: #Predicate { $0.name == name })).first
  }
}
