import SteadTestSupport
import Synchronization
import Testing

/// Random calls against a cache and against a plain reference, from seeds that a failure prints.
@Suite(.hangLimit) struct DiskModelTests {
  private static let sequenceCount = Effort.times(300, long: 100_000)
  private static let length = 24
  private static let threadCount = 2

  @Test func aCacheIsWhatItsReferenceAllows() async throws {
    let fault = try await inOwnThread { try Self.firstFault() }
    #expect(fault == nil, "\(fault ?? "")")
  }

  private static func firstFault() throws -> String? {
    let failure = Mutex<UInt64?>(nil)
    let first = Effort.seed
    try inThreads(threadCount) { thread in
      for number in stride(from: thread, to: sequenceCount, by: threadCount) {
        let seed = first &+ UInt64(number)
        let isOver = failure.withLock { $0 != nil }
        if isOver { return }
        if try DiskSequence(seed: seed, length: length).divergence() != nil {
          failure.withLock { $0 = $0 ?? seed }
        }
      }
    }
    guard let seed = failure.withLock({ $0 }) else { return nil }
    let shortest = try DiskSequence(seed: seed, length: length).shrunk()
    return "seed \(seed): \(try shortest.divergence() ?? "none now")\n\(shortest)"
  }
}
