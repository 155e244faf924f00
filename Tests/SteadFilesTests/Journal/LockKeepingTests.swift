import Testing

@testable import SteadFiles

/// When a journal's lock is kept from one write to the next.
@Suite struct LockKeepingTests {
  @Test func `writes that follow closely keep the lock`() {
    var lockRetention = LockRetention()
    let decisions = [1_000, 1_000 + LockRetention.burstInterval].map { time in
      lockRetention.keeps(at: time, isKept: false)
    }
    #expect(decisions == [false, true], "nothing is known of the pace at first")
  }

  @Test func `writes that follow slowly never do`() {
    var lockRetention = LockRetention()
    let decisions = (0..<100).map { look in
      lockRetention.keeps(at: look * (LockRetention.burstInterval + 1), isKept: false)
    }
    #expect(!decisions.contains(true))
  }

  @Test func `after others, it takes many looks`() {
    var lockRetention = LockRetention()
    lockRetention.recordContention()
    let looks = (0...).first { _ in lockRetention.keeps(at: 5, isKept: false) }
    // The first of them tells nothing of the pace.
    #expect(looks == LockRetention.pausesAfterContention)
  }

  @Test func `writes that never pause let others in after a while`() {
    var lockRetention = LockRetention()
    let limit = LockRetention.retentionLimit
    let decisions = [(0, false), (0, false), (limit - 1, true), (limit, true)].map { time, isKept in
      lockRetention.keeps(at: time, isKept: isKept)
    }
    #expect(decisions == [false, true, true, false])
    let looks = (1...).first { _ in lockRetention.keeps(at: limit, isKept: false) }
    #expect(looks == LockRetention.pausesAfterLimit)
  }
}
