import Foundation
import SteadPreferences
import Testing

@testable import SteadTransfer

/// Items that cannot be moved, and things that others did meanwhile.
struct TransferFailureTests {
  private let moving: Moving

  init() throws { moving = try Moving() }

  @Test func `one bad item keeps all where they are`() throws {
    moving.put("one", "bad", "three")
    let error = try #require(throws: TransferError.self) {
      try moving.transfer(check: refusingBad).run()
    }
    #expect(error.code == .notConverted)
    #expect(error.failures.map(\.item) == ["drafts[1]"])
    #expect(error.failures.first?.cause is CocoaError)
    #expect(!error.description.contains("bad"), "\(error)")
    #expect(moving.left == ["one", "bad", "three"])
    #expect(moving.destination.keys.isEmpty)
  }

  @Test func `an error says its code and its cause`() {
    #expect("\(TransferError.Code.notConverted)" == "notConverted")
    let cause = PreferencesError(code: .readOnly, message: "The domain may be read only.")
    let failure = TransferFailure(item: "drafts[1]", reason: "It is too long.")
    let error = TransferError(
      code: .failed, message: "Nothing was moved.", failures: [failure], cause: cause)
    #expect(
      error.localizedDescription
        == "Nothing was moved. drafts[1]: It is too long. The domain may be read only.")
    let other = TransferError(
      code: .failed, message: "It failed.", cause: CocoaError(.coderInvalidValue))
    #expect(other.localizedDescription == "It failed.")
  }

  @Test func `a partial move leaves bad items for later`() throws {
    moving.put("one", "bad", "three")
    let partial = TransferOptions(acceptsPartial: true)
    let report = try moving.transfer(partial, check: refusingBad).run()
    #expect(report.outcome == .partial)
    #expect((report.moved, report.left, report.failures.count) == (2, 1, 1))
    #expect(moving.left == ["bad"])
    let again = try moving.transfer(partial, check: refusingBad).run()
    #expect((again.moved, again.left, again.failures.count) == (0, 1, 1))
    #expect(try moving.transfer().run().moved == 1)
    #expect(try moving.moved() == ["bad", "one", "three"])
    #expect(moving.left.isEmpty)
  }

  /// Elements that are no texts do not read as one, and stay what they are.
  @Test func `elements of another type stay`() throws {
    let stored = PropertyList.array([
      .string("one"), .dictionary(["a": .bool(true)]), .data(Data([1])),
    ])
    try moving.source.setPropertyList(stored, forKey: "drafts")
    let report = try moving.transfer(TransferOptions(acceptsPartial: true)).run()
    #expect((report.moved, report.left) == (1, 2))
    #expect(report.failures.map(\.item) == ["drafts[1]", "drafts[2]"])
    #expect(
      moving.source.propertyList(forKey: "drafts")
        == .array([.dictionary(["a": .bool(true)]), .data(Data([1]))]))
  }

  // MARK: The source changes while it is moved

  @Test(arguments: [TransferProgress.Phase.converting, .writing, .verifying, .removing])
  func `what is added meanwhile stays`(phase: TransferProgress.Phase) throws {
    moving.put("one", "two")
    let report = try moving.run(at: phase) { moving.put("new", "one", "two", "one") }
    #expect((report.moved, report.removed) == (2, 2))
    #expect(moving.left.sorted() == ["new", "one"])
    try moving.transfer().run()
    #expect(moving.left == ["one"], "an item equal to one that was moved counts as that one")
    #expect(try moving.moved() == ["new", "one", "two"])
  }

  @Test(arguments: [TransferProgress.Phase.converting, .writing, .verifying, .removing])
  func `what is edited meanwhile stays and is reported`(phase: TransferProgress.Phase) throws {
    moving.put("one", "two")
    let report = try moving.run(at: phase) { moving.put("one", "two, longer") }
    #expect((report.moved, report.removed, report.changedMeanwhile) == (2, 1, 1))
    #expect(moving.left == ["two, longer"])
    try moving.transfer().run()
    #expect(try moving.moved() == ["one", "two", "two, longer"])
  }

  @Test func `what is deleted meanwhile is reported`() throws {
    moving.put("one", "two")
    let report = try moving.run(at: .writing) { moving.put("two") }
    #expect((report.moved, report.removed, report.changedMeanwhile) == (2, 1, 1))
    #expect(moving.left.isEmpty)
  }

  // MARK: The destination changes

  @Test func `what does not read back stays in the source`() throws {
    moving.put("one", "two")
    let error = try #require(throws: TransferError.self) {
      try moving.run(at: .verifying) {
        let key = try #require(moving.destinationKey(of: "two"))
        moving.destination.set("something else", forKey: key)
      }
    }
    #expect(error.code == .notVerified)
    #expect(error.failures.count == 1)
    #expect(!error.description.contains("something else"))
    #expect(moving.left == ["one", "two"])
  }

  /// The app ran between the kill and the next run: it edited what was moved, and deleted some of it.
  @Test func `what the app did after a kill is kept`() throws {
    moving.put("one", "two", "three", "four")
    try moving.run(stoppingAt: .verifying)
    let edited = try #require(moving.destinationKey(of: "two"))
    let deleted = try #require(moving.destinationKey(of: "three"))
    moving.destination.set("two, edited", forKey: edited)
    moving.destination.removeObject(forKey: deleted)

    let report = try moving.transfer().run()
    #expect(report.outcome == .partial)
    #expect((report.completed, report.moved, report.left) == (2, 0, 2))
    #expect(report.failures.map(\.item) == ["drafts[0]", "drafts[1]"])
    #expect(moving.left == ["two", "three"])
    #expect(try moving.moved() == ["four", "one", "two, edited"])
    // And the transfer goes on.
    moving.put("two", "three", "five")
    let next = try moving.transfer().run()
    #expect((next.moved, next.alreadyMoved) == (1, 2))
    #expect(try moving.moved() == ["five", "four", "one", "two, edited"])
  }

  /// What was left undone is done, also when what is new is refused.
  @Test func `a refusal tells of both kinds of failures`() throws {
    moving.put("one", "two")
    try moving.run(stoppingAt: .verifying)
    let key = try #require(moving.destinationKey(of: "two"))
    moving.destination.set("edited", forKey: key)
    moving.put("one", "two", "bad", "three")
    let error = try #require(throws: TransferError.self) {
      try moving.transfer(check: refusingBad).run()
    }
    #expect(error.code == .notConverted)
    #expect(error.failures.map(\.item) == ["drafts[0]", "drafts[1]"])
    #expect(error.message.hasPrefix("1 of 3"), "\(error)")
    #expect(moving.left == ["two", "bad", "three"])
    #expect(try moving.moved() == ["edited", "one"])
    #expect(try moving.receipt()?.state == .finished)
  }

  /// The source had given up all, and somebody has added one that equals one of them.
  @Test func `what is added after a kill is not taken for what was moved`() throws {
    moving.put("one", "two")
    try moving.run(stoppingAt: .removing, completed: 2)
    #expect(moving.left.isEmpty)
    #expect(try moving.receipt()?.state == .written)
    moving.put("one")
    let preview = try moving.transfer().preview()
    let report = try moving.transfer().run()
    for report in [preview, report] {
      #expect((report.completed, report.alreadyMoved) == (2, 1))
      #expect((report.removed, report.left) == (0, 1))
    }
    #expect(moving.left == ["one"])
    #expect(try moving.moved() == ["one", "two"])
    let last = try moving.transfer(TransferOptions(removesAlreadyMoved: true)).run()
    #expect((last.moved, last.removed) == (0, 1))
    #expect(try moving.moved() == ["one", "two"])
  }

  /// The receipt says written, the source has lost one of the items to its user.
  @Test func `what is deleted after a kill doubles nothing`() throws {
    moving.put("one", "two", "three")
    try moving.run(stoppingAt: .verifying)
    moving.put("one", "four")
    let report = try moving.transfer().run()
    #expect((report.completed, report.alreadyMoved, report.moved) == (3, 1, 1))
    #expect(moving.left == ["one"])
    #expect(try moving.moved() == ["four", "one", "three", "two"])
  }

  @Test func `a second run at the same time moves nothing twice`() throws {
    moving.put("one", "two")
    let error = try #require(throws: TransferError.self) {
      try moving.run(at: .writing) { try moving.transfer().run() }
    }
    #expect(error.code == .changed)
    #expect(try moving.moved() == ["one", "two"])
    #expect(try moving.transfer().run().outcome == .nothingToDo)
  }

  @Test(arguments: [TransferProgress.Phase.verifying, .removing])
  func `a second run may bring the first to its end`(phase: TransferProgress.Phase) throws {
    moving.put("one", "two")
    let report = try moving.run(at: phase) {
      let other = try moving.transfer().run()
      #expect(other.completed == 2)
      moving.put("three")
      try moving.transfer().run()
    }
    #expect((report.moved, report.removed) == (2, 0))
    #expect(try moving.moved() == ["one", "three", "two"])
    let receipt = try #require(try moving.receipt())
    #expect((receipt.state, receipt.movedCount) == (.finished, 3))
  }

  // MARK: Receipts

  @Test func `a receipt of a newer version is refused`() throws {
    moving.put("one")
    try moving.transfer().run()
    let key = PreferencesDestination.receiptPrefix + "drafts"
    let json = try #require(moving.destination.data(forKey: key))
    let newer = String(decoding: json, as: UTF8.self)
      .replacingOccurrences(of: "\"version\":2", with: "\"version\":3")
    moving.destination.set(Data(newer.utf8), forKey: key)
    try expectRefused(key)
  }

  @Test(arguments: [PropertyList.string("theirs"), .data(Data("{}".utf8)), .data(Data([0xFF]))])
  func `a receipt that is none is refused`(stored: PropertyList) throws {
    let key = PreferencesDestination.receiptPrefix + "drafts"
    try moving.destination.setPropertyList(stored, forKey: key)
    try expectRefused(key)
  }

  private func expectRefused(_ key: String) throws {
    let stored = moving.destination.propertyList(forKey: key)
    moving.put("two")
    let error = try #require(throws: TransferError.self) { try moving.transfer().run() }
    #expect(error.code == .unsupported)
    #expect(!error.description.contains("theirs"))
    #expect(moving.left == ["two"])
    #expect(moving.destination.propertyList(forKey: key) == stored)
  }
}
