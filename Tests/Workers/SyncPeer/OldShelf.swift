import Foundation
import SteadRecords
import SteadSync
import SwiftData
import SyncTestSupport

/// The models of an older version of the app: without tags, and with fewer properties.
private enum OldModels {
  @Model final class Folder {
    @Attribute(.unique) var name: String
    @Relationship(deleteRule: .cascade, inverse: \OldModels.Note.folder)
    var notes: [OldModels.Note] = []

    init(_ name: String) { self.name = name }
  }

  @Model final class Note {
    var title: String
    var text: String = ""
    var count: Int = 0
    var folder: OldModels.Folder?

    init(_ title: String) { self.title = title }
  }
}

/// The app in an older version.
final class OldShelf: Shelf {
  let engine: SyncEngine
  private let container: ModelContainer
  private let context: ModelContext

  init(_ transport: some SyncTransport, in folder: URL, _ options: SyncEngine.Options) throws {
    let schema = Schema([OldModels.Folder.self, OldModels.Note.self])
    container = try ModelContainer(
      for: schema,
      configurations: ModelConfiguration(
        schema: schema, url: folder.appending(path: "shelf.store"), sync: .zone(Device.zone)))
    engine = try SyncEngine(container, transport: transport, options: options)
    context = ModelContext(container)
    context.autosaveEnabled = false
  }

  var content: [String] { get throws { try commonContent } }

  var commonContent: [String] {
    get throws {
      let context = ModelContext(container)
      let notes = try context.fetch(FetchDescriptor<OldModels.Note>()).map {
        "note \($0.title) \($0.text) \($0.count) in \($0.folder?.name ?? "-")"
      }
      return try notes
        + context.fetch(FetchDescriptor<OldModels.Folder>()).map { "folder \($0.name)" }
    }
  }

  private func note(_ edit: RandomEdit) throws -> OldModels.Note? {
    var descriptor = FetchDescriptor<OldModels.Note>()
    let count = try context.fetchCount(descriptor)
    descriptor.fetchOffset = Int(edit.place * Double(count))
    descriptor.fetchLimit = 1
    return try context.fetch(descriptor).first
  }

  private func known(_ name: String) throws -> OldModels.Folder? {
    try context.fetch(
      FetchDescriptor<OldModels.Folder>(predicate: #Predicate { $0.name == name })
    ).first
  }

  private func folder(_ name: String) throws -> OldModels.Folder {
    try known(name) ?? OldModels.Folder(name)
  }

  func edit(_ edit: RandomEdit) throws {
    switch edit.kind {
    case .insert:
      let note = OldModels.Note(edit.name)
      context.insert(note)
      note.folder = try folder(edit.folder)
    case .text, .more: try note(edit)?.text = edit.name
    case .count: try note(edit)?.count += 1
    case .move: try note(edit)?.folder = try folder(edit.folder)
    case .delete: try note(edit).map { context.delete($0) }
    case .deleteFolder: try known(edit.folder).map { context.delete($0) }
    case .rename:
      guard try known(edit.otherFolder) == nil else { return }
      try known(edit.folder)?.name = edit.otherFolder
    }
    try context.save()
  }
}
