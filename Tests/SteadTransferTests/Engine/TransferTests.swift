import Foundation
import SteadPreferences
import SteadTransfer
import Testing

/// A transfer of drafts from one domain to another, over its whole life.
struct TransferTests {
  private let moving: Moving

  init() throws { moving = try Moving() }

  @Test func movesEverythingOnce() throws {
    moving.source.set(["one", "two", "three"], forKey: "drafts")
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

  @Test func movesLaterWhatWasAddedLater() throws {
    moving.source.set(["one"], forKey: "drafts")
    try moving.transfer().run()
    moving.source.set(["two", "three"], forKey: "drafts")
    let report = try moving.transfer().run()
    #expect(report.moved == 2)
    #expect(try moving.moved() == ["one", "three", "two"])
  }

  @Test func movesEqualItemsAsOftenAsTheyAreThere() throws {
    moving.source.set(["same", "same", "other"], forKey: "drafts")
    try moving.transfer().run()
    #expect(try moving.moved() == ["other", "same", "same"])
  }

  @Test func doublesNothingAfterABackupWasRestored() throws {
    moving.source.set(["one", "two"], forKey: "drafts")
    let backup = try moving.source.exportDomain()
    try moving.transfer().run()
    try moving.source.importDomain(backup)
    let report = try moving.transfer().run()
    #expect(report.outcome == .nothingToDo)
    #expect((report.alreadyMoved, report.left) == (2, 2))
    #expect(try moving.moved() == ["one", "two"])
    #expect(moving.source.stringArray(forKey: "drafts") == ["one", "two"])
  }
}
