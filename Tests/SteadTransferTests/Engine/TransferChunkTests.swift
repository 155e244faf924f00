import Foundation
import SteadFiles
import SwiftData
import Testing

@testable import SteadTransfer

/// A table with more rows than are written at once: here three.
@Suite(.hangLimit) struct TransferChunkTests {
  private let directory: TemporaryDirectory
  private let table: URL
  private let container: ModelContainer

  init() throws {
    directory = try TemporaryDirectory()
    table = directory.file("labels.csv")
    container = try .records(at: directory.file("notes.store"))
  }

  private struct Row: Decodable, Sendable {
    var title: String
    var number: Int
  }

  private func put(_ titles: String...) throws {
    let rows = titles.map { "\($0),1\n" }.joined()
    try Data("title,number\n\(rows)".utf8).write(to: table)
  }

  private func append(_ row: String) throws {
    let file = try FileHandle(forWritingTo: table)
    try file.seekToEnd()
    try file.write(contentsOf: Data(row.utf8))
    try file.close()
  }

  private func transfer(
    _ options: TransferOptions = .init(), removes: Bool = false
  ) -> Transfer<Row, NoteLabel> {
    var transfer = Transfer(
      "labels", from: .csv(table, of: Row.self, removesItems: removes), to: .records(container),
      options: options
    ) { NoteLabel($0.title) }
    transfer.limit.count = 3
    return transfer
  }

  private var destination: ModelDestination<NoteLabel> { ModelDestination(container) }

  private func titles() throws -> [String] {
    try container.all(NoteLabel.self).map(\.title).sorted()
  }

  private func rows() throws -> [String] {
    String(decoding: try Data(contentsOf: table), as: UTF8.self).split(separator: "\n").dropFirst()
      .map { String($0.prefix { $0 != "," }) }
  }

  @Test func `writes a chunk at a time`() throws {
    try put("a", "b", "c", "d", "e", "f", "g")
    #expect(try transfer().preview().moved == 7)
    var chunks: [Int] = []
    let report = try transfer().run { progress in
      guard progress.phase == .writing else { return }
      let count = try titles().count
      if chunks.last != count { chunks.append(count) }
    }
    #expect(chunks == [0, 3, 6, 7])
    #expect((report.read, report.moved, report.left) == (7, 7, 7))
    #expect(try titles() == ["a", "b", "c", "d", "e", "f", "g"])
    #expect(try destination.receipt(named: "labels")?.movedCount == 7)
  }

  @Test func `removes all from the source at the end`() throws {
    try put("a", "b", "c", "d")
    let report = try transfer(removes: true).run { progress in
      guard progress.phase == .removing, progress.completed == 0 else { return }
      let left = try rows()
      #expect(left == ["a", "b", "c", "d"])
    }
    #expect((report.moved, report.removed, report.left) == (4, 4, 0))
    #expect(try rows().isEmpty)
  }

  /// Nothing is written when the last of all rows does not convert.
  @Test func `converts all before it writes anything`() throws {
    try put("a", "b", "c", "d")
    try append("e,much\n")
    let error = try transferError { try transfer().run() }
    #expect(error.code == .notConverted && error.failures.map(\.item) == ["line 6"])
    #expect(try titles().isEmpty && destination.receipt(named: "labels") == nil)
    let report = try transfer(.init(acceptsPartial: true)).run()
    #expect((report.moved, report.failures.count) == (4, 1))
    #expect(try titles() == ["a", "b", "c", "d"])
  }

  /// Nothing is written when the last of all rows has the unique value of a record.
  @Test func `looks for places before it writes anything`() throws {
    let context = ModelContext(container)
    context.insert(NoteLabel("e"))
    try context.save()
    try put("a", "b", "c", "d", "e")
    let error = try transferError { try transfer().run() }
    #expect(error.code == .conflict && error.failures.map(\.item) == ["line 6"])
    #expect(try titles() == ["e"])
    #expect(try transfer().preview().failures.map(\.item) == ["line 6"])
    let report = try transfer(.init(conflicts: .leave)).run()
    #expect((report.moved, report.failures.map(\.item)) == (4, ["line 6"]))
    #expect(try titles() == ["a", "b", "c", "d", "e"])
  }

  /// That is known when the chunk before is written: the run stops, and the next one goes on there.
  @Test func `two equal values in different chunks stop between them`() throws {
    try put("a", "b", "c", "d", "a")
    let error = try transferError { try transfer().run() }
    #expect(error.code == .conflict && error.failures.map(\.item) == ["line 6"])
    #expect(error.message.contains("3 of 5 items were written before"))
    #expect(try titles() == ["a", "b", "c"])
    try put("a", "b", "c", "d", "e")
    let report = try transfer().run()
    #expect((report.completed, report.moved, report.alreadyMoved) == (3, 2, 0))
    #expect(try titles() == ["a", "b", "c", "d", "e"])
  }

  /// As by a kill at each report of progress.
  @Test(arguments: [false, true])
  func `goes on behind the last chunk`(removes: Bool) throws {
    struct Stop: Error {}
    let titles = (0..<8).map { "label \($0)" }
    try Data(("title,number\n" + titles.map { "\($0),1\n" }.joined()).utf8).write(to: table)
    var stops = 0
    while true {
      var heard = 0
      do {
        try transfer(removes: removes).run { _ in
          heard += 1
          if heard > stops { throw Stop() }
        }
        break
      } catch is Stop {
        stops += 1
        let all = try self.titles()
        #expect(Set(all).count == all.count)
        #expect(Set(all).union(try rows()) == Set(titles))
      }
    }
    #expect(stops > 20)
    #expect(try self.titles() == titles)
    #expect(try rows() == (removes ? [] : titles))
    #expect(try destination.receipt(named: "labels")?.state == .finished)
  }

  /// A run that was cut off between chunks once gave up the first of them, so that an equal row behind it
  /// was taken for one that had been moved and came back.
  @Test func `equal rows in different chunks are all moved`() throws {
    struct Stop: Error {}
    var drafts = Transfer(
      "drafts", from: .csv(table, of: Row.self, removesItems: true),
      to: .records(container)
    ) { NoteDraft(text: $0.title) }
    drafts.limit.count = 3
    try put("a", "b", "twin", "twin", "c")
    #expect(throws: Stop.self) {
      try drafts.run { if $0.phase == .writing, $0.completed == 3 { throw Stop() } }
    }
    #expect(try container.count(NoteDraft.self) == 3)
    let preview = try drafts.preview()
    #expect((preview.completed, preview.moved, preview.removed) == (3, 2, 5))
    // What the app has edited meanwhile is not written again, and stays in the source.
    let context = ModelContext(container)
    let edited = try #require(
      try context.fetch(FetchDescriptor<NoteDraft>(sortBy: [SortDescriptor(\.text)])).first)
    edited.text = "edited"
    try context.save()
    let report = try drafts.run()
    #expect((report.completed, report.moved, report.removed, report.left) == (2, 2, 4, 1))
    #expect(report.failures.map(\.item) == ["line 2"])
    #expect(try rows() == ["a"])
    #expect(
      try container.all(NoteDraft.self).map(\.text).sorted() == [
        "b", "c", "edited", "twin", "twin",
      ])
    #expect(try drafts.run().alreadyMoved == 1)
  }

  /// Rows were converted that are not there any more when they are to be written.
  @Test func `a source that changes between chunks stops the run`() throws {
    try put("a", "b", "c", "d", "e", "f", "g")
    var isDone = false
    let error = try transferError {
      try transfer().run { progress in
        guard progress.phase == .converting, progress.completed == 7, !isDone else { return }
        isDone = true
        try put("a", "b", "c", "d", "x", "f", "g")
      }
    }
    #expect(error.code == .changed)
    let report = try transfer().run()
    #expect(report.outcome == .complete)
    let there = try titles()
    #expect(Set(there).count == there.count && Set(there).isSuperset(of: ["a", "b", "c", "x"]))
  }

  // MARK: Nothing to do

  /// Runs until the file's times are old enough to tell of a change.
  private func runUntilKnown() throws {
    while try destination.receipt(named: "labels")?.sourceVersion == nil { try transfer().run() }
  }

  private func phases(_ options: TransferOptions = .init()) throws -> Set<TransferProgress.Phase> {
    var phases: Set<TransferProgress.Phase> = []
    try transfer(options).run { phases.insert($0.phase) }
    return phases
  }

  /// Each start of an app read and compared all rows that had been moved long ago.
  @Test func `a table that has not changed is not read again`() throws {
    try put("a", "b", "c", "d")
    try runUntilKnown()
    #expect(try phases().isEmpty)
    let report = try transfer().run()
    #expect((report.read, report.alreadyMoved, report.left) == (4, 4, 4))
    #expect(report.outcome == .nothingToDo)
    #expect(try transfer().preview().alreadyMoved == 4)
    try transfer().resetReceipt()
    try container.erase()
    #expect(try transfer().run().moved == 4)
  }

  @Test func `a table that has changed is`() throws {
    try put("a", "b", "c", "d")
    try runUntilKnown()
    try append("e,1\n")
    let report = try transfer().run()
    #expect((report.moved, report.alreadyMoved) == (1, 4))
    try runUntilKnown()
    // As many bytes, with the time of before.
    let time = try FileManager.default.attributesOfItem(atPath: table.filePath)[.modificationDate]
    let file = try FileHandle(forWritingTo: table)
    try file.seekToEnd()
    try file.seek(toOffset: try file.offset() - 4)
    try file.write(contentsOf: Data("f,1\n".utf8))
    try file.close()
    try FileManager.default.setAttributes(
      [.modificationDate: try #require(time)], ofItemAtPath: table.filePath)
    #expect(try transfer().run().moved == 1)
    #expect(try titles() == ["a", "b", "c", "d", "e", "f"])
  }

  /// What is left must be tried again.
  @Test func `a table of which something is left is read again`() throws {
    try put("a", "b")
    try append("c,much\n")
    let options = TransferOptions(acceptsPartial: true)
    for _ in 0..<3 { #expect(try transfer(options).run().failures.count == 1) }
    #expect(try destination.receipt(named: "labels")?.sourceVersion == nil)
    #expect(try phases(options).contains(.reading))
  }
}
