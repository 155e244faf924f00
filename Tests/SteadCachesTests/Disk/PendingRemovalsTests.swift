import Foundation
import SteadTestSupport
import Testing

@testable import SteadCaches

/// What a disk could not remove, and no cache over it may find.
@Suite(.hangLimit) struct PendingRemovalsTests {
  private let pending = PendingRemovals()
  private let old = Data("old".utf8)
  private let new = Data("new".utf8)

  @Test func `a mark with metadata ends with other metadata`() {
    pending.add("a", metadata: old)
    #expect(pending.includes("a", metadata: old))
    #expect(pending.mayContain("a"))
    #expect(!pending.mayContain("b"))
    #expect(!pending.includes("a", metadata: new))
    #expect(!pending.includes("a", metadata: old))
    #expect(!pending.mayContain("a"))
  }

  /// What has read such an entry before everything became pending asks for its mark afterwards.
  @Test func `a mark with metadata outlives a clearing`() {
    pending.add("a", metadata: old)
    pending.addAll()
    #expect(pending.mayContain("b"))
    #expect(pending.includes("a", metadata: old))
    let isClear = pending.clearIfNeeded { true }
    #expect(isClear)
    #expect(pending.includes("a", metadata: old))
    #expect(!pending.mayContain("b"))
  }

  @Test func `a failure during a clearing is not covered by it`() {
    pending.addAll()
    let isClear = pending.clearIfNeeded {
      pending.addAll()
      return true
    }
    #expect(!isClear)
    #expect(!pending.isClear)
    let hasFailed = !pending.clearIfNeeded { false }
    #expect(hasFailed)
    #expect(!pending.isClear)
    let isClearNow = pending.clearIfNeeded { true }
    #expect(isClearNow)
    #expect(pending.isClear)
  }

  @Test func `with too many marks everything is pending`() {
    for number in 0..<PendingRemovals.limit { pending.add("\(number)", metadata: old) }
    #expect(pending.isClear)
    #expect(!pending.mayContain("last"))
    pending.add("last", metadata: old)
    #expect(!pending.isClear)
    #expect(pending.mayContain("0"))
    #expect(pending.includes("last", metadata: old))
  }
}
