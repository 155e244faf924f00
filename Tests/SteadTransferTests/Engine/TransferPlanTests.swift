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
    /// The state of the receipt, nil for no receipt.
    var state: TransferReceipt.State?
    var new: [Int]
    var unfinished: [Int] = []
    var known: [Int] = []

    var testDescription: String { "\(source) with \(moved)|\(pending)" }
  }

  static let cases: [Case] = [
    Case(source: "", new: []),
    Case(source: "abc", new: [0, 1, 2]),
    Case(source: "aa", new: [0, 1]),
    Case(source: "", moved: "ab", state: .finished, new: []),
    // A restored backup: nothing is new.
    Case(source: "ab", moved: "ab", state: .finished, new: [], known: [0, 1]),
    // As many as were moved are known, one more is new.
    Case(source: "aaa", moved: "aa", state: .finished, new: [2], known: [0, 1]),
    Case(source: "cab", moved: "ab", state: .finished, new: [0], known: [1, 2]),
    Case(source: "ab", pending: "ab", state: .written, new: [], unfinished: [0, 1]),
    Case(source: "abc", pending: "ab", state: .written, new: [2], unfinished: [0, 1]),
    // What a removal takes comes first, so that it is not taken for moved earlier.
    Case(
      source: "aa", moved: "a", pending: "a", state: .written, new: [], unfinished: [0], known: [1]),
    Case(source: "a", moved: "a", pending: "a", state: .written, new: [], unfinished: [0]),
    Case(source: "b", moved: "a", pending: "c", state: .written, new: [0]),
  ]

  @Test(arguments: cases)
  func sortsItems(_ row: Case) {
    let receipt = row.state.map {
      TransferReceipt(
        id: "t", state: $0, date: .now, moved: Self.entries(row.moved, "m"),
        pending: Self.entries(row.pending, "p"))
    }
    let plan = TransferPlan(receipt: receipt, identities: row.source.map { String($0) })
    #expect(plan.new == row.new)
    #expect(plan.unfinished.map(\.item) == row.unfinished)
    #expect(plan.moved.map(\.item) == row.known)
    // Each entry stands for one item.
    let entries = (plan.unfinished + plan.moved).map(\.entry)
    #expect(Set(entries).count == entries.count)
    #expect(TransferPlan.isUnfinished(receipt) == (row.state == .written))
  }

  @Test(arguments: [
    ([Int](), false, TransferPlan.Step.write([0, 1, 2])),
    ([1], false, .refuse),
    ([1], true, .write([0, 2])),
    ([0, 1, 2], false, .refuse),
    ([0, 1, 2], true, .nothing),
  ])
  func decidesAfterConversion(failed: [Int], acceptsPartial: Bool, step: TransferPlan.Step) {
    let plan = TransferPlan(receipt: nil, identities: ["a", "b", "c"])
    let options = TransferOptions(acceptsPartial: acceptsPartial)
    #expect(plan.afterConversion(failed: Set(failed), options) == step)
  }

  @Test func hasNothingToWriteWithoutNewItems() {
    let plan = TransferPlan(receipt: nil, identities: [])
    #expect(plan.afterConversion(failed: [], TransferOptions()) == .nothing)
  }

  @Test(arguments: [
    (false, true, "", "ab"), (false, true, "a", "b"), (false, true, "ab", ""),
    (true, true, "", ""), (false, false, "", ""),
  ])
  func removesWhatWasVerified(keeps: Bool, isRemovable: Bool, lost: String, removed: String) {
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
  func removesAfterAKillWhatIsThereAsAWhole(pending: String, left: String, removed: String) {
    let removal = TransferPlan.removal(
      of: Self.entries(pending, "p"), leftIn: left.map { String($0) })
    #expect(removal == Self.entries(removed, "p"))
  }

  private static func entries(_ letters: String, _ place: String) -> [TransferReceipt.Entry] {
    var numbers: [Character: Int] = [:]
    return letters.map { letter in
      numbers[letter, default: 0] += 1
      return TransferReceipt.Entry(
        identity: String(letter),
        placement: TransferPlacement(
          place: "\(place)\(letter)\(numbers[letter] ?? 0)", digest: "\(letter)"))
    }
  }
}
