import SteadTestSupport
import Synchronization
import Testing

/// Random calls against a cache and against a plain reference, from seeds that a failure prints.
@Suite(.hangLimit) struct DiskModelTests {
  private static let sequenceCount = 10_000
  private static let length = 24
  private static let threadCount = 2

  @Test func aCacheIsWhatItsReferenceAllows() throws {
    let failure = Mutex<UInt64?>(nil)
    let first = Effort.seed
    try inThreads(Self.threadCount) { thread in
      for number in stride(from: thread, to: Effort.times(Self.sequenceCount), by: Self.threadCount)
      {
        let seed = first &+ UInt64(number)
        let isOver = failure.withLock { $0 != nil }
        if isOver { return }
        if try DiskSequence(seed: seed, length: Self.length).divergence() != nil {
          failure.withLock { $0 = $0 ?? seed }
        }
      }
    }
    guard let seed = failure.withLock({ $0 }) else { return }
    let shortest = try DiskSequence(seed: seed, length: Self.length).shrunk()
    Issue.record("seed \(seed): \(try shortest.divergence() ?? "none now")\n\(shortest)")
  }
}
