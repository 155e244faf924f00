import ModelJudge
import SteadTestSupport
import Testing

/// Random sequences of operations, each compared with a reference made of plain values.
///
/// Scripts/model-test runs many more.
@Suite(.ownThread) struct ModelTests {
  /// In a process of its own, which may crash.
  @Test(arguments: Profile.allCases)
  func `engine equals reference`(_ profile: Profile) throws {
    let runner = try WorkerProcess([
      try WorkerProcess.program("ModelRunner"), "--supervise", "--profile", profile.rawValue,
      "--count", "\(profile == .process ? Effort.times(3, long: 50) : Effort.times(8, long: 500))",
    ])
    let lines = runner.rest()
    #expect(runner.finish() == 0, "\(lines.joined(separator: "\n"))")
  }

  /// The reference keeps both sides of links in step, and a seed repeats its sequence.
  @Test(arguments: Profile.allCases)
  func `reference is sound`(_ profile: Profile) {
    for seed in 1...UInt64(30) { #expect(Trial(profile, seed: seed).referenceProblem == nil) }
    let calls = Trial(profile, seed: 7).calls
    #expect(!calls.isEmpty)
    #expect(calls == Trial(profile, seed: 7).calls)
  }
}
