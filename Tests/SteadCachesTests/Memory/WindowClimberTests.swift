import Testing

@testable import SteadCaches

@Suite struct WindowClimberTests {
  private static let entryCount = 1_000

  /// The window's share after some periods in which the hit ratio follows from the share.
  private func share(after periods: Int, _ hitRatio: (Double) -> Double) -> Double {
    var climber = WindowClimber()
    var hits = 0
    for _ in 0..<periods {
      let requests = 10 * Self.entryCount
      let newHits = Int(hitRatio(climber.share) * Double(requests))
      hits += newHits
      for _ in newHits..<requests { climber.recordMiss() }
      climber.updateWindow(hits, entryCount: Self.entryCount)
    }
    return climber.share
  }

  @Test func growsWhereALargeWindowHelps() {
    let shares = (30..<40).map { share(after: $0) { 0.2 + 0.5 * $0 } }
    #expect((shares.max() ?? 0) > 0.9)
  }

  @Test func staysSmallWhereASmallWindowHelps() {
    let shares = (30..<40).map { share(after: $0) { 0.8 - 0.5 * $0 } }
    #expect(shares.allSatisfy { $0 < 0.2 })
  }

  @Test func staysSmallWhereItMakesNoDifference() {
    let shares = (30..<40).map { share(after: $0) { _ in 0.5 } }
    #expect(shares.allSatisfy { $0 < 0.1 })
  }

  @Test func hitsAreAskedForNowAndThenOnly() {
    var climber = WindowClimber()
    var asked = 0
    for _ in 0..<10 * Self.entryCount {
      climber.recordMiss()
      guard climber.needsHits(entryCount: Self.entryCount) else { continue }
      asked += 1
      climber.updateWindow(0, entryCount: Self.entryCount)
    }
    #expect((100...200).contains(asked))
  }
}
