import Foundation
import RecordsTestSupport
import SwiftData
import Testing

enum Gallery {
  @Model final class Tag {
    @Attribute(.unique) var name: String
    init(_ name: String) { self.name = name }
  }

  @Model final class Picture {
    var title: String
    init(_ title: String) { self.title = title }
  }

  @Model final class Note {
    var cover: Picture?
    var pictures: [Picture] = []
    var tags: [Tag] = []
    init() {}
  }
}

/// Undo of deletions that a save wrote along with a merge of objects.
///
/// The save cleared the references without an inverse to the deleted object after it had merged the others. What they had
/// held was then taken for what the deletion had left them, and undo restored none of them.
@Suite("Undo of a deletion beside a merge") struct MergedOneWayTests {
  @Test(arguments: [false, true], [false, true])
  func `undoing a deletion restores one-way references whatever its save merged`(
    isUpsert: Bool, isLoaded: Bool
  ) throws {
    let store = try TestStore(
      .memory, Gallery.Tag.self, Gallery.Picture.self, Gallery.Note.self)
    let start = store.context()
    let note = Gallery.Note()
    let pictures = [Gallery.Picture("1"), Gallery.Picture("2"), Gallery.Picture("3")]
    (note.cover, note.pictures) = (pictures[1], pictures)
    start.insert(note)
    start.insert(Gallery.Tag("a"))
    try start.save()

    let context = try store.reopened()
    let manager = UndoManager()
    manager.groupsByEvent = false
    context.undoManager = manager
    let owner = try context.only(Gallery.Note.self)
    if isLoaded { #expect(owner.pictures.count == 3 && owner.cover?.title == "2") }
    let second = try #require(
      try context.fetch(FetchDescriptor<Gallery.Picture>()).first { $0.title == "2" })
    let titles = owner.pictures.map(\.title)
    manager.beginUndoGrouping()
    context.delete(second)
    context.insert(Gallery.Tag(isUpsert ? "a" : "b"))
    if !isUpsert { context.insert(Gallery.Tag("b")) }
    manager.endUndoGrouping()
    try context.save()
    #expect(owner.cover == nil && owner.pictures.count == 2)
    manager.undo()
    #expect(owner.cover?.title == "2")
    #expect(owner.pictures.map(\.title) == titles)
    try context.save()
    let stored = try store.reopened().only(Gallery.Note.self)
    #expect(stored.cover?.title == "2" && stored.pictures.map(\.title) == titles)
  }

  /// A reference that waited for its object never came back.
  @Test func `a reference that was changed after a deletion comes back over a merge`() throws {
    let store = try TestStore(
      .memory, Gallery.Tag.self, Gallery.Picture.self, Gallery.Note.self)
    let context = store.context()
    let note = Gallery.Note()
    let (gone, other) = (Gallery.Picture("gone"), Gallery.Picture("other"))
    note.cover = gone
    context.insert(note)
    context.insert(other)
    context.insert(Gallery.Tag("a"))
    try context.save()
    let manager = UndoManager()
    manager.groupsByEvent = false
    context.undoManager = manager
    context.delete(gone)
    note.cover = other
    context.insert(Gallery.Tag("a"))
    try context.save()
    while manager.canUndo { manager.undo() }
    #expect(note.cover?.title == "gone")
    try context.save()
    #expect(try store.reopened().only(Gallery.Note.self).cover?.title == "gone")
  }

  /// The list waited for the deleted object, and the redo of a later step took that for undone.
  @Test func `a list comes back after later steps were redone and undone again`() throws {
    let store = try TestStore(
      .memory, Gallery.Tag.self, Gallery.Picture.self, Gallery.Note.self)
    let context = store.context()
    let (note, gone, other) = (Gallery.Note(), Gallery.Picture("gone"), Gallery.Picture("other"))
    note.pictures = [gone, other]
    context.insert(note)
    try context.save()
    let manager = UndoManager()
    manager.groupsByEvent = false
    context.undoManager = manager
    context.delete(gone)
    let new = Gallery.Picture("new")
    manager.beginUndoGrouping()
    context.insert(new)
    note.pictures.append(new)
    manager.endUndoGrouping()
    context.delete(note)
    manager.undo()
    manager.undo()
    try context.save()
    for _ in 0..<2 {
      manager.redo()
      manager.redo()
      manager.undo()
      #expect(note.pictures == [other, new])
      manager.undo()
      #expect(note.pictures == [other])
      manager.undo()
      #expect(note.pictures == [gone, other])
      try context.save()
      manager.redo()
      #expect(note.pictures == [other])
      try context.save()
    }
  }

  /// The step disappeared when it was undone after the save, and all later ones were redone one too early.
  @Test func `a change of a deleted object is redone as a step of its own`() throws {
    let store = try TestStore(
      .memory, Gallery.Tag.self, Gallery.Picture.self, Gallery.Note.self)
    let context = store.context()
    let (gone, other) = (Gallery.Picture("gone"), Gallery.Picture("other"))
    context.insertAll(gone, other)
    try context.save()
    let manager = UndoManager()
    manager.groupsByEvent = false
    context.undoManager = manager
    context.delete(gone)
    gone.title = "still here"
    other.title = "changed"
    try context.save()
    while manager.canUndo { manager.undo() }
    #expect(gone.title == "gone" && gone.modelContext === context)
    try context.save()
    manager.redo()
    manager.redo()
    #expect(other.title == "other")
    manager.redo()
    #expect(other.title == "changed" && !manager.canRedo)
  }

  // MARK: Links to what becomes one

  /// Another context's commit had unloaded the list, and the save looked for the duplicate in loaded lists alone.
  @Test(arguments: [false, true], [false, true])
  func `a list leads to the row of its duplicate though another context has changed it`(
    fetches: Bool, isNew: Bool
  ) throws {
    let store = try TestStore(
      .memory, Gallery.Tag.self, Gallery.Picture.self, Gallery.Note.self)
    let (context, other) = (store.context(), store.context())
    let first = Gallery.Note()
    first.tags = [Gallery.Tag("a")]
    other.insert(first)
    try other.save()
    let note = try context.only(Gallery.Note.self)
    note.tags.append(Gallery.Tag("b"))
    if isNew { context.insert(Gallery.Tag("b")) } else { other.insert(Gallery.Tag("b")) }
    first.tags.append(Gallery.Tag("c"))
    try other.save()
    if fetches { _ = try context.all(Gallery.Note.self) }
    try context.save()
    #expect(note.tags.map(\.name).sorted() == ["a", "b", "c"])
    let stored = try store.reopened()
    #expect(try stored.only(Gallery.Note.self).tags.map(\.name).sorted() == ["a", "b", "c"])
    #expect(try stored.all(Gallery.Tag.self).count == 3)
  }
}
