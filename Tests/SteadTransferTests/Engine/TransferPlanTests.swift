import Foundation
import Testing

@testable import SteadTransfer

/// The decisions of a transfer, as a table. Items are letters; a letter in the receipt is an entry of
/// that identity.
struct TransferPlanTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var source: String
    var moved = ""
    var pending = ""
    var new: [Int]
    var unfinished: [Int] = []
    var known: [Int] = []

    var testDescription: String { "\(source) with \(moved)|\(pending)" }
  }

  static let cases: [Case] = [
    Case(source: "", new: []),
    Case(source: "abc", new: [0, 1, 2]),
    Case(source: "aa", new: [0, 1]),
    Case(source: "", moved: "ab", new: []),
    // A restored backup: nothing is new.
    Case(source: "ab", moved: "ab", new: [], known: [0, 1]),
    // As many as were moved are known, one more is new.
    Case(source: "aaa", moved: "aa", new: [2], known: [0, 1]),
    Case(source: "cab", moved: "ab", new: [0], known: [1, 2]),
    Case(source: "ab", pending: "ab", new: [], unfinished: [0, 1]),
    Case(source: "abc", pending: "ab", new: [2], unfinished: [0, 1]),
    // What a removal takes comes first, so that it is not taken for moved earlier.
    Case(
      source: "aa", moved: "a", pending: "a", new: [], unfinished: [0], known: [1]),
    Case(source: "a", moved: "a", pending: "a", new: [], unfinished: [0]),
    Case(source: "b", moved: "a", pending: "c", new: [0]),
  ]

  @Test(arguments: cases)
  func `sorts items`(_ row: Case) throws {
    var plan = Self.plan(moved: row.moved, pending: row.pending)
    let classifications = row.source.map { plan.classify(String($0)) }
    let items = classifications.indices
    var entries: [Int] = []
    var (unfinished, moved) = ([Int](), [Int]())
    for (item, classification) in classifications.enumerated() {
      switch classification {
      case .new: continue
      case .unfinished(let entry):
        unfinished.append(item)
        entries.append(entry)
        #expect(entry >= row.moved.count)
      case .moved(let entry):
        moved.append(item)
        entries.append(entry)
        #expect(entry < row.moved.count)
      }
    }
    #expect(items.filter { classifications[$0] == .new } == row.new)
    #expect(unfinished == row.unfinished)
    #expect(moved == row.known)
    #expect((plan.newCount, plan.unfinishedCount) == (row.new.count, row.unfinished.count))
    #expect(plan.movedCount == row.known.count)
    // Each entry stands for one item, of the same identity.
    #expect(Set(entries).count == entries.count)
    let letters = Array(row.moved + row.pending)
    let found = items.filter { classifications[$0] != .new }.map { Array(row.source)[$0] }
    #expect(found == entries.map { letters[$0] })
  }

  private static func plan(moved: String, pending: String) -> TransferPlan {
    var receipt = TransferReceipt.none("t")
    (receipt.movedCount, receipt.pendingCount) = (moved.count, pending.count)
    let letters = (moved + pending).map { String($0) }
    // In chunks of two.
    return TransferPlan(receipt) { first in Array(letters[first...].prefix(2)) }
  }

  @Test(arguments: [
    (0, false, TransferPlan.Step.write), (1, false, .refuse), (1, true, .write),
    (3, false, .refuse), (3, true, .nothing),
  ])
  func `decides after conversion`(failed: Int, acceptsPartial: Bool, step: TransferPlan.Step) {
    var plan = Self.plan(moved: "", pending: "")
    for item in ["a", "b", "c"] { _ = plan.classify(item) }
    let options = TransferOptions(acceptsPartial: acceptsPartial)
    #expect(plan.afterConversion(failed: failed, options) == step)
  }

  @Test func `has nothing to write without new items`() {
    let plan = Self.plan(moved: "", pending: "")
    #expect(plan.afterConversion(failed: 0, TransferOptions()) == .nothing)
  }

  @Test(arguments: [
    (false, true, "", "ab"), (false, true, "a", "b"), (false, true, "ab", ""),
    (true, true, "", ""), (false, false, "", ""),
  ])
  func `removes what was verified`(keeps: Bool, isRemovable: Bool, lost: String, removed: String) {
    let removal = TransferPlan.removal(
      of: Self.entries("ab", "p"), unverified: Self.entries(lost, "p").map(\.placement),
      TransferOptions(keepsSource: keeps), isRemovable: isRemovable)
    #expect(removal == Self.entries(removed, "p"))
  }

  /// All or nothing, as a removal is.
  @Test(arguments: [
    ("ab", "ab", "ab"), ("ab", "cbad", "ab"), ("aa", "aab", "aa"), ("", "ab", ""),
    ("ab", "", ""), ("ab", "a", ""), ("aa", "a", ""), ("ab", "acc", ""),
  ])
  func `removes after a kill what is there as a whole`(
    pending: String, left: String, removed: String
  ) {
    let areAllPresent = TransferPlan.areAllPresent(Self.entries(pending, "p")) { body in
      for letter in left { body(String(letter)) }
    }
    #expect(areAllPresent == (removed == pending))
  }

  private static func entries(_ letters: String, _ place: String) -> [TransferReceipt.Entry] {
    var numbers: [Character: Int] = [:]
    return letters.map { letter in
      numbers[letter, default: 0] += 1
      return TransferReceipt.Entry(
        identity: String(letter),
        placement: TransferPlacement(
          location: "\(place)\(letter)\(numbers[letter] ?? 0)", digest: "\(letter)"))
    }
  }
}
