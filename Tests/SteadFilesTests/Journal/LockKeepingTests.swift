import Testing

@testable import SteadFiles

/// When a journal's lock is kept from one write to the next.
@Suite struct LockKeepingTests {
  @Test func writesThatFollowCloselyKeepTheLock() {
    var keeping = LockKeeping()
    let decisions = [1_000, 1_000 + LockKeeping.lookLimit].map { time in
      keeping.keeps(at: time, isKept: false)
    }
    #expect(decisions == [false, true], "nothing is known of the pace at first")
  }

  @Test func writesThatFollowSlowlyNeverDo() {
    var keeping = LockKeeping()
    let decisions = (0..<100).map { look in
      keeping.keeps(at: look * (LockKeeping.lookLimit + 1), isKept: false)
    }
    #expect(!decisions.contains(true))
  }

  @Test func afterOthersItTakesManyLooks() {
    var keeping = LockKeeping()
    keeping.meetOthers()
    let looks = (0...).first { _ in keeping.keeps(at: 5, isKept: false) }
    // The first of them tells nothing of the pace.
    #expect(looks == LockKeeping.looksAfterOthers)
  }

  @Test func writesThatNeverPauseLetOthersInAfterAWhile() {
    var keeping = LockKeeping()
    let limit = LockKeeping.keptLimit
    let decisions = [(0, false), (0, false), (limit - 1, true), (limit, true)].map { time, isKept in
      keeping.keeps(at: time, isKept: isKept)
    }
    #expect(decisions == [false, true, true, false])
    let looks = (1...).first { _ in keeping.keeps(at: limit, isKept: false) }
    #expect(looks == LockKeeping.looksAfterLimit)
  }
}
