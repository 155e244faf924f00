import Foundation
import SteadSync
import SwiftData
import SyncTestSupport

/// The app as it is.
final class NewShelf: Shelf {
  private let device: Device

  init(_ transport: some SyncTransport, in folder: URL, _ options: SyncEngine.Options) throws {
    device = try Device(transport, in: folder, options: options)
  }

  var engine: SyncEngine { device.engine }
  var content: [String] { get throws { try device.content } }

  var commonContent: [String] {
    get throws {
      let context = ModelContext(device.container)
      let notes = try context.fetch(FetchDescriptor<Note>()).map {
        "note \($0.title) \($0.text) \($0.count) in \($0.folder?.name ?? "-")"
      }
      return try notes + context.fetch(FetchDescriptor<Folder>()).map { "folder \($0.name)" }
    }
  }

  private func note(_ edit: RandomEdit) throws -> Note? {
    var descriptor = FetchDescriptor<Note>()
    let count = try device.context.fetchCount(descriptor)
    descriptor.fetchOffset = Int(edit.place * Double(count))
    descriptor.fetchLimit = 1
    return try device.context.fetch(descriptor).first
  }

  private func folder(_ name: String) throws -> Folder { try device.folder(name) ?? Folder(name) }

  func edit(_ edit: RandomEdit) throws {
    let context = device.context
    switch edit.kind {
    case .insert:
      let note = Note(edit.name)
      context.insert(note)
      note.folder = try folder(edit.folder)
    case .text: try note(edit)?.text = edit.name
    case .count: try note(edit)?.count += 1
    case .move: try note(edit)?.folder = try folder(edit.folder)
    case .delete: try note(edit).map { context.delete($0) }
    case .deleteFolder: try device.folder(edit.folder).map { context.delete($0) }
    case .rename:
      guard try device.folder(edit.otherFolder) == nil else { return }
      try device.folder(edit.folder)?.name = edit.otherFolder
    case .more: try addMore(edit)
    }
    try context.save()
  }

  /// Edits what the older version lacks.
  private func addMore(_ edit: RandomEdit) throws {
    guard let note = try note(edit) else { return }
    note.rating = edit.place
    note.flags = [edit.name]
    let tag = try device.tag(edit.folder) ?? Tag(edit.folder)
    if !note.tags.contains(where: { $0 === tag }) { note.tags.append(tag) }
  }
}
