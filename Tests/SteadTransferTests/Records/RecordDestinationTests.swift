import Foundation
import SteadTestSupport
import SwiftData
import Testing

@testable import SteadTransfer

@testable import SteadRecords

@Suite struct RecordDestinationTests {
  let directory: TemporaryDirectory
  let url: URL
  let container: ModelContainer

  init() throws {
    directory = try TemporaryDirectory()
    url = directory.file("notes.store")
    container = try .records(at: url)
  }

  private func write(
    _ drafts: [NoteDraft], id: String = "drafts", to container: ModelContainer? = nil
  ) throws -> [TransferPlacement] {
    try move(drafts, to: ModelDestination(container ?? self.container), id: id)
  }

  @Test func `writes objects and receipt together`() throws {
    let placements = try write([
      NoteDraft(text: "one", number: 1), NoteDraft(text: "two", number: 2),
    ])
    #expect(placements.map(\.location) == ["NoteDraft/1", "NoteDraft/2"])
    #expect(Set(placements.map(\.digest)).count == 2)
    let other = try ModelContainer.records(at: url)
    #expect(try other.all(NoteDraft.self).map(\.text).sorted() == ["one", "two"])
    let destination = ModelDestination<NoteDraft>(other)
    let receipt = try #require(try destination.receipt(named: "drafts"))
    let entries = try #require(try destination.entries(named: "drafts"))
    #expect(entries.pending.map(\.placement) == placements)
    #expect(entries.pending.map(\.identity) == ["item 0", "item 1"])
    #expect(receipt.state == .written && entries.moved.isEmpty)
    #expect(try destination.receipt(named: "others") == nil)
    #expect(try destination.verify(placements) { _ in } == [])
  }

  /// Receipts of the first version lie in other tables, and were overlooked: what they said was moved came twice.
  @Test func `refuses a receipt of the first version`() throws {
    try sqlite(
      url,
      "CREATE TABLE stead_transfers (id TEXT PRIMARY KEY, version INTEGER NOT NULL, state TEXT NOT NULL, "
        + "date REAL NOT NULL) WITHOUT ROWID; "
        + "INSERT INTO stead_transfers VALUES ('drafts', 1, 'finished', 0)")
    let error = #expect(throws: TransferError.self) { try write([NoteDraft(text: "one")]) }
    #expect(error?.code == .unsupported)
    #expect(try container.count(NoteDraft.self) == 0)
    _ = try write([NoteDraft(text: "one")], id: "others")
    try container.erase()
    _ = try write([NoteDraft(text: "one")])
    #expect(try container.count(NoteDraft.self) == 1)
  }

  @Test func `keeps objects that are related`() throws {
    let draft = NoteDraft(text: "one")
    draft.remarks = [NoteRemark("b"), NoteRemark("a"), NoteRemark("c")]
    let shared = NoteLabel("shared")
    draft.labels = [shared, NoteLabel("own")]
    let second = NoteDraft(text: "two")
    second.labels = [shared]
    let placements = try write([draft, second])
    #expect(placements[0].location.split(separator: "+").count == 6)
    #expect(placements[1].location == "NoteDraft/2")
    #expect(try container.count(NoteRemark.self) == 3)
    #expect(try container.count(NoteLabel.self) == 2)
    let stored = try ModelContext(container).fetch(
      FetchDescriptor<NoteDraft>(sortBy: [SortDescriptor(\.text)]))
    #expect(stored[0].remarks.map(\.text) == ["b", "a", "c"])
    #expect(stored[0].labels.map(\.title) == ["shared", "own"])
    #expect(stored[1].labels.map(\.title) == ["shared"])
    #expect(Set(stored[0].labels[0].drafts.map(\.text)) == ["one", "two"])
    #expect(try ModelDestination<NoteDraft>(container).verify(placements) { _ in } == [])
  }

  /// Each of these must be noticed, or the source would be removed for something that is not there.
  @Test(arguments: [
    "UPDATE NoteDraft SET text = 'other' WHERE _id = 2", "DELETE FROM NoteDraft WHERE _id = 2",
    "UPDATE NoteDraft SET created = created + 1e-7 WHERE _id = 2",
    "UPDATE NoteDraft SET text = CAST(text AS BLOB) WHERE _id = 2",
    "UPDATE NoteRemark SET draft = NULL WHERE draft = 2",
    "DELETE FROM NoteDraft_labels WHERE owner = 2",
    "UPDATE NoteRemark SET text = 'other' WHERE draft = 2",
    "UPDATE NoteLabel SET title = 'x' WHERE _id = 1",
  ]) func `notices what is not as it was written`(change: String) throws {
    let second = NoteDraft(text: "two")
    second.remarks = [NoteRemark("a")]
    second.labels = [NoteLabel("b")]
    let placements = try write([NoteDraft(text: "one"), second, NoteDraft(text: "three")])
    let destination = ModelDestination<NoteDraft>(container)
    #expect(try destination.verify(placements) { _ in } == [])
    try sqlite(url, change)
    #expect(try destination.verify(placements) { _ in } == [placements[1]])
  }

  @Test func `notices a damaged file of a large value`() throws {
    let image = Data(repeating: 7, count: 200_000)
    let destination = ModelDestination<NotePhoto>(container)
    let placements = try move([NotePhoto(title: "one", image: image)], to: destination)
    #expect(try destination.verify(placements) { _ in } == [])
    let files = directory.file(".notes.store_external")
    let name = try #require(try FileManager.default.contentsOfDirectory(atPath: files.path).first)
    try Data(repeating: 8, count: 200_000).write(to: files.appending(path: name))
    #expect(try destination.verify(placements) { _ in } == placements)
    try FileManager.default.removeItem(at: files.appending(path: name))
    #expect(try destination.verify(placements) { _ in } == placements)
  }

  @Test func `writes nothing when the receipt cannot be made`() throws {
    struct Refused: Error {}
    let destination = ModelDestination<NoteDraft>(container)
    #expect(throws: Refused.self) {
      try destination.write(ElementBatch([NoteDraft(text: "one")]), .first(1), { _ in }) { _ in
        throw Refused()
      }
    }
    #expect(try container.count(NoteDraft.self) == 0)
    #expect(try destination.receipt(named: "drafts") == nil)
    #expect(throws: CancellationError.self) {
      try destination.write(
        ElementBatch([NoteDraft(text: "one")]), .first(1),
        { if $0.phase == .writing { throw CancellationError() } }, entries: ReceiptChunk.test)
    }
    #expect(try container.count(NoteDraft.self) == 0)
  }

  @Test func `refuses a unique value that is there or comes twice`() throws {
    let labels = ModelDestination<NoteLabel>(container)
    let placements = try move([NoteLabel("a")], to: labels)
    for second in [[NoteLabel("b"), NoteLabel("a")], [NoteLabel("c"), NoteLabel("c")]] {
      let error = #expect(throws: TransferError.self) {
        _ = try move(second, to: labels, id: "again")
      }
      #expect(error?.code == .conflict && error?.failures.map(\.item) == ["object 1"])
    }
    #expect(try container.count(NoteLabel.self) == 1)
    #expect(try labels.receipt(named: "again") == nil)
    #expect(try labels.verify(placements) { _ in } == [])
  }

  @Test func `refuses objects of a context and the same object twice`() throws {
    let context = ModelContext(container)
    let draft = NoteDraft(text: "one")
    context.insert(draft)
    let error = #expect(throws: TransferError.self) { _ = try write([draft]) }
    #expect(error?.code == .unsupported)
    let twice = NoteDraft(text: "two")
    #expect(throws: TransferError.self) { _ = try write([twice, twice]) }
    #expect(try container.count(NoteDraft.self) == 0)
  }

  /// Their rows' numbers mean other rows here.
  @Test func `refuses objects that lead to ones of a context`() throws {
    let context = ModelContext(try .records(at: directory.file("other.store")))
    let other = NoteRemark("there")
    context.insert(other)
    try context.save()
    let error = #expect(throws: TransferError.self) {
      try move([NotePin(other)], to: ModelDestination<NotePin>(container))
    }
    #expect(error?.code == .unsupported)
    #expect(try container.count(NotePin.self) == 0)
  }

  @Test func `replaces a receipt by one that follows it`() throws {
    let destination = ModelDestination<NoteDraft>(container)
    let placements = try write((0..<5).map { NoteDraft(text: "\($0)") })
    let written = try #require(try destination.receipt(named: "drafts"))
    let mark = TransferReceipt.SourceVersion(tag: "untouched", count: 5)
    let finished = written.finished(sourceVersion: mark)
    try destination.replace(finished)
    #expect(try destination.receipt(named: "drafts") == finished)
    _ = try move(
      [NoteDraft(text: "5")], to: destination, after: finished, identities: ["new"])
    let next = try #require(try destination.entries(named: "drafts"))
    #expect(next.moved.map(\.placement) == placements)
    #expect(next.pending.map(\.identity) == ["new"])
    let empty = try #require(try destination.receipt(named: "drafts")).emptied()
    try destination.replace(empty)
    #expect(try destination.receipt(named: "drafts") == empty)
    #expect(try sqlite(url, "SELECT count(*) FROM stead_receipt_chunks") == "0")
  }

  /// A program that moves a few items each day would else have a chunk for each day.
  @Test func `folds the chunks of runs that are finished`() throws {
    let destination = ModelDestination<NoteDraft>(container)
    var identities: [String] = []
    for number in 0..<5 {
      let receipt = try destination.receipt(named: "drafts")
      identities.append("item \(number)")
      _ = try move(
        [NoteDraft(text: "\(number)")], to: destination, after: receipt,
        identities: [identities[number]])
      let written = try #require(try destination.receipt(named: "drafts"))
      try destination.replace(written.finished(sourceVersion: nil))
    }
    let entries = try #require(try destination.entries(named: "drafts"))
    #expect(entries.moved.map(\.identity) == identities)
    #expect(entries.moved.map(\.placement.location) == (1...5).map { "NoteDraft/\($0)" })
    #expect(try destination.verify(entries.moved.map(\.placement)) { _ in } == [])
    #expect(try sqlite(url, "SELECT first, count FROM stead_receipt_chunks") == "0|5")
  }

  /// Two processes that run the same transfer at once have both read that nothing was moved.
  @Test func `writes nothing when another run was quicker`() throws {
    _ = try write([NoteDraft(text: "one")])
    let error = #expect(throws: TransferError.self) {
      _ = try write([NoteDraft(text: "one")], to: .records(at: url))
    }
    #expect(error?.code == .changed)
    #expect(try container.count(NoteDraft.self) == 1)
  }

  @Test func `forgets its receipts with all records`() throws {
    _ = try write([NoteDraft(text: "one")])
    try container.erase()
    #expect(try ModelDestination<NoteDraft>(container).receipt(named: "drafts") == nil)
  }

  @Test func `works in memory`() throws {
    let memory = try ModelContainer.records()
    let placements = try write([NoteDraft(text: "one")], to: memory)
    #expect(try ModelDestination<NoteDraft>(memory).verify(placements) { _ in } == [])
    #expect(try memory.count(NoteDraft.self) == 1)
  }

  @Test func `refuses a container with several stores`() throws {
    let two = try ModelContainer(
      for: NoteDraft.self, NoteRemark.self, NoteLabel.self, NotePhoto.self,
      configurations: ModelConfiguration(
        "photos", schema: Schema([NotePhoto.self]), url: directory.file("photos.store")),
      ModelConfiguration(
        "others", schema: Schema([NoteDraft.self]), url: directory.file("others.store")))
    let photos = ModelDestination<NotePhoto>(two)
    let placements = try move([NotePhoto(title: "a")], to: photos)
    #expect(try photos.verify(placements) { _ in } == [])
    #expect(try ModelDestination<NoteDraft>(two).receipt(named: "drafts") == nil)
    let error = #expect(throws: TransferError.self) {
      _ = try StoreSource(two).read { _ in }
    }
    #expect(error?.code == .unsupported)
    let other = #expect(throws: TransferError.self) {
      _ = try ModelDestination<Sample>(two).receipt(named: "drafts")
    }
    #expect(other?.code == .unsupported)
  }

  /// What was moved is removed from its source next, so its commit may not wait for a checkpoint.
  @Test func `waits for the disk with each commit`() throws {
    let rows = try #require(StoreRows(container))
    let full: Int64 = 2
    let question = "PRAGMA synchronous"
    #expect(try rows.write { try $0.connection.integer(question) } == full)
    var seen: Int64?
    try ObjectBatch([NoteDraft(text: "one")], in: rows).save { rows, _ in
      seen = try rows.connection.integer(question)
    }
    #expect(seen == full)
  }

  @Test(.needs(.smallDisk))
  func `writes nothing to a full disk`() throws {
    let disk = try SmallDisk(byteCount: 4 << 20)
    let container = try ModelContainer.records(at: disk.directory.file("notes.store"))
    let drafts = {
      (0..<60).map { NoteDraft(text: "\($0)" + String(repeating: "x", count: 9_000)) }
    }
    try disk.fill(leaving: 128 << 10)
    let error = #expect(throws: TransferError.self) { _ = try write(drafts(), to: container) }
    #expect(error?.code == .failed)
    #expect((error?.cause as? SwiftDataError) == .storageFull)
    #expect(try container.count(NoteDraft.self) == 0)
    try disk.empty()
    _ = try write(drafts(), to: container)
    #expect(try container.count(NoteDraft.self) == 60)
  }
}
