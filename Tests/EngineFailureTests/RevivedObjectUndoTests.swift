import Foundation
import RecordsTestSupport
import SwiftData
import Testing

@Suite("Undo past an object's second life") struct RevivedObjectUndoTests {
  enum Link: CaseIterable { case reference, list, both }
  enum Revival: CaseIterable { case insertion, reference, list, otherOwner }

  /// An object whose deletion was saved was inserted again, and saved. Undoing that deleted it, which dropped what waited
  /// for undo to come to the first deletion: the references without an inverse that the save of it had cleared.
  @Test(arguments: Link.allCases, Revival.allCases)
  func `undo restores what led to an object before it was deleted the first time`(
    _ link: Link, _ revival: Revival
  ) throws {
    for (savesRevival, savesUndo) in [(false, false), (true, false), (true, true)] {
      let store = try TestStore(Playlist.self, Song.self)
      let context = store.context()
      let (list, other, song) = (Playlist(name: "p"), Playlist(name: "o"), Song(title: "s"))
      context.insertAll(list, other, song)
      if link != .list { list.favorite = song }
      if link != .reference { list.songs = [song] }
      try context.save()
      let manager = UndoManager()
      manager.groupsByEvent = false
      context.undoManager = manager
      func step(_ change: () -> Void) {
        manager.beginUndoGrouping()
        change()
        manager.endUndoGrouping()
      }
      func expectLinks(_ name: String) throws {
        for (list, kind) in [(list, "here"), (try store.context().twin(of: list), "stored")] {
          #expect(list.favorite?.title == (link == .list ? nil : "s"), "\(name), \(kind)")
          #expect(list.songs.map(\.title) == (link == .reference ? [] : ["s"]), "\(name), \(kind)")
        }
      }

      step { context.delete(song) }
      try context.save()
      step {
        switch revival {
        case .insertion: context.insert(song)
        case .reference: list.favorite = song
        case .list: list.songs = [song]
        case .otherOwner: other.songs = [song]
        }
      }
      if savesRevival { try context.save() }
      let revived = [list.favorite?.title] + (list.songs + other.songs).map { $0.title }
      // There and back again, which restores no more than was there.
      manager.undo()
      if savesUndo { try context.save() }
      manager.redo()
      #expect([list.favorite?.title] + (list.songs + other.songs).map { $0.title } == revived)
      try context.save()
      let stored = try store.context().twin(of: list)
      #expect(
        stored.favorite?.title == list.favorite?.title && stored.songs.count == list.songs.count)
      manager.undo()
      if savesUndo { try context.save() }
      #expect(list.favorite == nil && list.songs.isEmpty && other.songs.isEmpty)
      manager.undo()
      try context.save()
      try expectLinks("undone, \(savesRevival) \(savesUndo)")
      manager.redo()
      manager.redo()
      try context.save()
      manager.undo()
      manager.undo()
      try context.save()
      try expectLinks("undone twice, \(savesRevival) \(savesUndo)")
      #expect(try store.context().all(Song.self).map(\.title) == ["s"])
      #expect(other.songs.isEmpty)
    }
  }
}
