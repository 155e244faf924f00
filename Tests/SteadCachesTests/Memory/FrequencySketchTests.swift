import SteadTestSupport
import Testing

@testable import SteadCaches

@Suite struct FrequencySketchTests {
  private static let hashes: [UInt64] = {
    var random = SplitMix(seed: 1)
    return (0..<150).map { _ in random.next() }
  }()

  @Test func estimatesAreNeverTooLowAndSeldomTooHigh() {
    var sketch = FrequencySketch()
    // Fewer entries than hashes, so that many of these share one of their counters with another.
    sketch.grow(to: 50)
    for (place, hash) in Self.hashes.enumerated() { sketch.record(hash, uses: place % 5) }
    let errors = Self.hashes.enumerated().map { sketch.estimate($1) - $0 % 5 }
    #expect(errors.allSatisfy { $0 >= 0 })
    #expect(errors.filter { $0 > 0 }.count <= Self.hashes.count / 20)
  }

  @Test func countersStopAtTheirGreatestNumber() {
    var sketch = FrequencySketch()
    sketch.record(7, uses: 40)
    #expect(sketch.estimate(7) == FrequencySketch.greatestEstimate)
  }

  @Test func estimatesAreHalvedWhenManyHashesWereRecorded() {
    var sketch = FrequencySketch()
    sketch.grow(to: 1_000)
    sketch.record(7, uses: 12)
    var random = SplitMix(seed: 2)
    for _ in 0..<sketch.capacity * FrequencySketch.agingFactor { sketch.record(random.next()) }
    #expect((6...8).contains(sketch.estimate(7)))
  }

  @Test func estimatesStayWhenTheSketchGrows() {
    var sketch = FrequencySketch()
    sketch.record(7, uses: 9)
    sketch.record(8, uses: 3)
    sketch.grow(to: 10_000)
    #expect(sketch.capacity >= 10_000)
    #expect((sketch.estimate(7), sketch.estimate(8)) == (9, 3))
  }
}
