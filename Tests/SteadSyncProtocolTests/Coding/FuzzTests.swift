import SteadTestSupport
import SyncSimulator
import Testing

@Suite struct FuzzTests {
  /// 8,000 damaged messages; `SyncSimulatorRunner --fuzz 60` tries more.
  @Test(arguments: 1...10)
  func `No bytes stop a decoder or a server`(seed: UInt64) throws {
    var fuzz = DecoderFuzz(seed: seed)
    for _ in 0..<Effort.times(800) { try fuzz.run() }
    #expect(fuzz.accepted > 100)
    #expect(fuzz.applied > 0)
  }
}
