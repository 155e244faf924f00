import Foundation
import SteadPreferences
import Testing

@testable import SteadTransfer

/// A transfer of drafts from one domain to another, run after run.
struct TransferTests {
  private let moving: Moving

  init() throws { moving = try Moving() }

  @Test func `moves everything once`() throws {
    moving.put("one", "two", "three")
    let first = try moving.transfer().run()
    #expect(first.outcome == .complete)
    #expect((first.read, first.moved, first.removed, first.left) == (3, 3, 3, 0))
    #expect(moving.source.object(forKey: "drafts") == nil)
    #expect(try moving.moved() == ["one", "three", "two"])
    let second = try moving.transfer().run()
    #expect(second.outcome == .nothingToDo)
    #expect(second.read == 0)
    #expect(try moving.moved() == ["one", "three", "two"])
  }

  @Test func `moves later what was added later`() throws {
    moving.put("one")
    try moving.transfer().run()
    moving.put("two", "three")
    let report = try moving.transfer().run()
    #expect(report.moved == 2)
    #expect(try moving.moved() == ["one", "three", "two"])
  }

  @Test func `moves equal items as often as they are there`() throws {
    moving.put("same", "same", "other")
    try moving.transfer().run()
    #expect(try moving.moved() == ["other", "same", "same"])
  }

  /// Two spellings of one letter are equal to Swift, and two texts for who wrote them.
  @Test func `tells items apart by their bytes`() throws {
    moving.put("caf\u{E9}", "cafe\u{301}", "caf\u{E9}")
    try moving.transfer().run()
    let bytes = try moving.moved().map { $0.utf8.count }.sorted()
    #expect(bytes == [5, 5, 6])
  }

  @Test func `writes nothing where there is nothing`() throws {
    let report = try moving.transfer().run()
    #expect(report.outcome == .nothingToDo)
    #expect(try moving.receipt() == nil)
    #expect(moving.destination.keys.isEmpty)
  }

  // MARK: Items that are there again

  @Test func `doubles nothing after a backup was restored`() throws {
    moving.put("one", "two")
    let backup = try moving.source.exportDomain()
    try moving.transfer().run()
    try moving.source.importDomain(backup)
    let report = try moving.transfer().run()
    #expect(report.outcome == .nothingToDo)
    #expect((report.alreadyMoved, report.left) == (2, 2))
    #expect(try moving.moved() == ["one", "two"])
    #expect(moving.left == ["one", "two"])
  }

  @Test func `removes what was moved earlier when asked`() throws {
    moving.put("one", "two", "three")
    let kept = try moving.transfer(TransferOptions(keepsSource: true)).run()
    #expect((kept.moved, kept.removed, kept.left) == (3, 0, 3))
    let again = try moving.transfer(TransferOptions(keepsSource: true)).run()
    #expect((again.moved, again.alreadyMoved) == (0, 3))

    // The one that was edited since is no proof that the source's may go.
    let key = try #require(moving.destinationKey(of: "two"))
    moving.destination.set("edited", forKey: key)
    let cleaned = try moving.transfer(TransferOptions(removesAlreadyMoved: true)).run()
    #expect((cleaned.moved, cleaned.removed, cleaned.left) == (0, 2, 1))
    #expect(moving.left == ["two"])
    #expect(try moving.moved() == ["edited", "one", "three"])
  }

  @Test func `moves again what it was told to forget`() throws {
    moving.put("one")
    try moving.transfer().run()
    for key in moving.destination.keys where key.hasPrefix("draft.") {
      moving.destination.removeObject(forKey: key)
    }
    moving.put("one")
    #expect(try moving.transfer().run().alreadyMoved == 1)
    #expect(try moving.moved().isEmpty)
    try moving.transfer().resetReceipt()
    #expect(try moving.transfer().run().moved == 1)
    #expect(try moving.moved() == ["one"])
    #expect(moving.left.isEmpty)
  }

  // MARK: Dry run

  @Test func `a preview changes nothing`() throws {
    moving.put("one", "bad", "three")
    let before = try moving.files()
    let strict = try moving.transfer(check: refusingBad).preview()
    #expect(strict.isPreview && strict.outcome == .partial)
    #expect((strict.read, strict.moved, strict.removed, strict.left) == (3, 0, 0, 3))
    #expect(strict.failures.map(\.item) == ["drafts[1]"])
    let partial = try moving.transfer(TransferOptions(acceptsPartial: true), check: refusingBad)
      .preview()
    #expect((partial.moved, partial.removed, partial.left) == (2, 2, 1))
    #expect(try moving.files() == before)
    #expect(moving.left == ["one", "bad", "three"])
    #expect(try moving.moved().isEmpty)

    // What it said is what happens.
    let report = try moving.transfer(TransferOptions(acceptsPartial: true), check: refusingBad)
      .run()
    #expect((report.moved, report.removed, report.left) == (2, 2, 1))
  }

  @Test func `a preview tells what a run that was cut off has left`() throws {
    moving.put("one", "two")
    try moving.run(stoppingAt: .verifying)
    moving.put("one", "two", "three")
    let before = try moving.files()
    let preview = try moving.transfer().preview()
    #expect((preview.completed, preview.moved, preview.removed, preview.left) == (2, 1, 3, 0))
    #expect(try moving.files() == before)
    let report = try moving.transfer().run()
    #expect((report.completed, report.moved, report.removed, report.left) == (2, 1, 3, 0))
    #expect(try moving.moved() == ["one", "three", "two"])
  }

  // MARK: Progress

  @Test func `tells of each phase in order`() throws {
    moving.put("one", "two", "three")
    var told: [TransferProgress] = []
    try moving.transfer().run { told.append($0) }
    let phases = told.map(\.phase).reduce(into: [TransferProgress.Phase]()) {
      if $0.last != $1 { $0.append($1) }
    }
    #expect(phases == [.reading, .converting, .writing, .verifying, .removing])
    for phase in phases.dropFirst() {
      let counts = told.filter { $0.phase == phase }
      #expect(counts.map(\.completed) == counts.map(\.completed).sorted())
      #expect(counts.last?.completed == 3 && counts.allSatisfy { $0.total == 3 }, "\(phase)")
    }
  }

  @Test func `runs in the background`() async throws {
    moving.put("one", "two")
    let report = try await moving.transfer().runInBackground()
    #expect(report.moved == 2)
  }
}

/// Refuses the text `bad`.
@Sendable func refusingBad(_ text: String) throws {
  if text == "bad" { throw CocoaError(.coderInvalidValue, userInfo: ["value": text]) }
}
