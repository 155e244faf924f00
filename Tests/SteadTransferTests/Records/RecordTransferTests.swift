import Foundation
import SteadRecords
import SteadTestSupport
import SwiftData
import Testing

@testable import SteadTransfer

/// Texts in preferences that become records: an app that has outgrown its first way of keeping them.
@Suite struct RecordTransferTests {
  private struct Stop: Error {}

  let moving: Moving
  let container: ModelContainer

  init() throws {
    moving = try Moving()
    container = try .records(at: moving.home.file("notes.store"))
  }

  private var transfer: Transfer<String, NoteDraft> {
    Transfer(
      "drafts", from: .preference("drafts", in: moving.source),
      to: .records(container)
    ) { text in
      let draft = NoteDraft(text: text)
      draft.labels = [NoteLabel("of \(text)")]
      return draft
    }
  }

  private var texts: [String] {
    get throws { try container.all(NoteDraft.self).map(\.text).sorted() }
  }

  @Test func `moves them once`() throws {
    moving.put("a", "b", "c")
    #expect(try transfer.run().moved == 3)
    #expect(try texts == ["a", "b", "c"] && moving.left.isEmpty)
    #expect(try container.count(NoteLabel.self) == 3)
    moving.put("d")
    #expect(try transfer.run().moved == 1)
    #expect(try texts == ["a", "b", "c", "d"] && moving.left.isEmpty)
    #expect(try transfer.run().moved == 0)
    // A backup that was restored doubles nothing.
    moving.put("a", "b", "c")
    #expect(try transfer.run().alreadyMoved == 3)
    #expect(try texts == ["a", "b", "c", "d"])
  }

  /// Rows would be written anew and the old ones removed, at each run.
  @Test func `a store is not moved into itself`() throws {
    moving.put("a", "b")
    try transfer.run()
    let before = try container.all(NoteDraft.self).map(\.persistentModelID).sorted()
    let again = Transfer(
      "again", from: .store(container), to: .store(container)
    ) { $0 }
    #expect {
      try again.run()
    } throws: { error in
      guard let error = error as? TransferError else { return false }
      // Not for a unique value that is taken.
      return error.code == .conflict && error.message.contains("is itself")
    }
    #expect(try container.all(NoteDraft.self).map(\.persistentModelID).sorted() == before)
  }

  @Test(arguments: [
    TransferProgress.Phase.reading, .converting, .writing, .verifying, .removing,
  ]) func `goes on where it was stopped`(phase: TransferProgress.Phase) throws {
    moving.put((0..<20).map { String(UnicodeScalar(UInt8(65 + $0))) })
    let all = moving.left
    for isEnd in [false, true] {
      _ = try? transfer.run {
        if $0.phase == phase, !isEnd || $0.completed == $0.total { throw Stop() }
      }
      let (moved, left) = (try texts, moving.left)
      #expect(Set(moved + left) == Set(all))
      #expect(Set(moved).count == moved.count && Set(left).count == left.count)
    }
    try transfer.run()
    #expect(try texts == all && moving.left.isEmpty)
    #expect(try container.count(NoteLabel.self) == 20)
  }

  @Test func `changes nothing in a preview`() throws {
    moving.put("a", "b")
    #expect(try transfer.preview().moved == 2)
    #expect(try texts.isEmpty && moving.left == ["a", "b"])
    #expect(try transfer.destination.items.receipt(named: "drafts") == nil)
  }

  /// The app has changed what was written before the run that was cut off could be brought to its end.
  @Test func `keeps the source of a record that was edited meanwhile`() throws {
    moving.put("a", "b")
    _ = try? transfer.run { if $0.phase == .verifying { throw Stop() } }
    #expect(try texts == ["a", "b"] && moving.left == ["a", "b"])
    let context = ModelContext(container)
    let draft = try #require(
      try context.fetch(FetchDescriptor<NoteDraft>()).first { $0.text == "a" })
    draft.text = "edited"
    try context.save()
    try transfer.run()
    #expect(moving.left == ["a"])
    #expect(try texts == ["b", "edited"])
  }
}
