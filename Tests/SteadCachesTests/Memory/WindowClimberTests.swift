import SteadTestSupport
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

  @Test func `grows where a large window helps`() {
    let shares = (30..<40).map { share(after: $0) { 0.2 + 0.5 * $0 } }
    #expect((shares.max() ?? 0) > 0.9)
  }

  @Test func `stays small where a small window helps`() {
    let shares = (30..<40).map { share(after: $0) { 0.8 - 0.5 * $0 } }
    #expect(shares.allSatisfy { $0 < 0.2 })
  }

  @Test func `stays small where it makes no difference`() {
    let shares = (30..<40).map { share(after: $0) { _ in 0.5 } }
    #expect(shares.allSatisfy { $0 < 0.1 })
  }

  @Test func `hits are asked for now and then only`() {
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

@Suite struct FrequencyTableTests {
  @Test func `counts are exact`() {
    var random = SplitMix(seed: 1)
    let hashes = (0..<1_000).map { _ in random.next() }
    var table = FrequencyTable()
    table.grow(to: 500)
    for (place, hash) in hashes.enumerated() { table.record(hash, uses: place % 5) }
    #expect(hashes.indices.allSatisfy { table.count(hashes[$0]) == $0 % 5 })
    #expect(table.count(random.next()) == 0)
  }

  @Test func `counters stop at their greatest number`() {
    var table = FrequencyTable()
    table.record(7 << 32, uses: 40)
    #expect(table.count(7 << 32) == FrequencyTable.greatestCount)
  }

  @Test func `counts are halved when many hashes were recorded`() {
    var table = FrequencyTable()
    table.grow(to: 1_000)
    table.record(7 << 32, uses: 12)
    var random = SplitMix(seed: 2)
    for _ in 0..<table.capacity * FrequencyTable.agingFactor { table.record(random.next()) }
    #expect(table.count(7 << 32) == 6)
  }

  @Test func `counts stay when the table grows`() {
    var table = FrequencyTable()
    table.record(7 << 32, uses: 9)
    table.record(8 << 32, uses: 3)
    table.grow(to: 10_000)
    #expect(table.capacity >= 10_000)
    #expect((table.count(7 << 32), table.count(8 << 32)) == (9, 3))
  }

  /// Random records against a dictionary: hashes far apart, near each other, and all in the last slots, from which
  /// searches go on with the first ones.
  @Test(arguments: 0..<UInt64(Effort.times(12)))
  func `a table counts as a dictionary does`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var table = FrequencyTable()
    var (counts, sum): ([UInt64: Int], Int) = ([:], 0)
    let first = [0, UInt64.max << 12, 1 << 63][Int(seed % 3)]
    let bits = [64, 9, 58][Int(seed / 3 % 3)]
    for _ in 0..<3_000 {
      if Int.random(in: 0..<500, using: &random) == 0 { table.grow(to: table.capacity * 3 / 2) }
      let hash = (first &+ random.next() >> UInt64(64 - bits)) & ~0xF
      table.record(hash)
      guard counts[hash, default: 0] < FrequencyTable.greatestCount else { continue }
      counts[hash, default: 0] += 1
      sum += 1
      if sum < table.capacity * FrequencyTable.agingFactor { continue }
      counts = counts.compactMapValues { $0 > 1 ? $0 / 2 : nil }
      sum = counts.values.reduce(0, +)
      #expect(counts.allSatisfy { table.count($0.key) == $0.value })
    }
    #expect(counts.allSatisfy { table.count($0.key) == $0.value })
  }
}
