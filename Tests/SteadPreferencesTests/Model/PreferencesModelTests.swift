import Foundation
import Testing

@testable import SteadPreferences

/// Random sequences of calls, of other processes' writes and of edits, against plain dictionaries.
@Suite struct PreferencesModelTests {
  /// How many calls a sequence has at most.
  private static let length = 16

  /// How many sequences take ten seconds of a processor's time.
  private static let usualCount = 200

  /// What `Scripts/model-test preferences` sets.
  private static func number(_ variable: String, _ usual: Int) -> Int {
    ProcessInfo.processInfo.environment[variable].flatMap { Int($0) } ?? usual
  }

  @Test func `random sequences do as dictionaries`() async throws {
    let first = Self.number("STEAD_SEED", 1)
    let count = Self.number("STEAD_SEQUENCES", Effort.times(Self.usualCount, long: 4_000))
    for seed in UInt64(first)..<UInt64(first + count) {
      // Other tests share the threads.
      await Task.yield()
      let operations = Self.operations(seed)
      guard let difference = Self.difference(operations, seed) else { continue }
      let shortest = Self.shrunk(operations, seed)
      let calls = shortest.map { "  \($0)" }.joined(separator: "\n")
      let again = Self.difference(shortest, seed) ?? "comes only now and then"
      Issue.record("Seed \(seed): \(difference)\nThe shortest: \(again)\n\(calls)")
      return
    }
  }

  private static func operations(_ seed: UInt64) -> [ModelOperation] {
    var random = SplitMix(seed: seed)
    let count = Int.random(in: 1...length, using: &random)
    return (0..<count).map { _ in ModelOperation.random(using: &random) }
  }

  private static func difference(_ operations: [ModelOperation], _ seed: UInt64) -> String? {
    do {
      var run = try ModelRun(seed: seed)
      try run.run(operations)
      return nil
    } catch {
      return "\(error)"
    }
  }

  /// Leaves out calls for as long as the rest still differs.
  private static func shrunk(_ operations: [ModelOperation], _ seed: UInt64) -> [ModelOperation] {
    var rest = operations
    var size = max(1, rest.count / 2)
    while true {
      var start = 0
      var isShorter = false
      while start < rest.count {
        var fewer = rest
        fewer.removeSubrange(start..<min(start + size, rest.count))
        if difference(fewer, seed) != nil {
          (rest, isShorter) = (fewer, true)
        } else {
          start += size
        }
      }
      if size == 1, !isShorter { return rest }
      size = max(1, size / 2)
    }
  }
}
