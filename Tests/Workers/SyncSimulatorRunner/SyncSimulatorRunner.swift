// Runs random histories of the sync protocol. See Scripts/sync-simulate.
//
//   SyncSimulatorRunner [COUNT] [--seed N] [--first] [--tally] [--trace]
//   SyncSimulatorRunner --fuzz SECONDS [--seed N]
//   SyncSimulatorRunner --steps      runs the steps that come on standard input, a line each

import Foundation
import SyncSimulator

@main struct SyncSimulatorRunner {
  static func main() throws {
    let options = try Options(CommandLine.arguments.dropFirst())
    if let seconds = options.fuzzing { exit(try fuzz(seconds, options)) }
    exit(options.readsSteps ? runSteps(options) : runHistories(options))
  }

  /// Damaged messages for some seconds; what traps ends the process.
  private static func fuzz(_ seconds: UInt64, _ options: Options) throws -> Int32 {
    let end = ContinuousClock.now + .seconds(Int64(seconds))
    var (count, accepted, applied, seed) = (0, 0, 0, options.seed)
    while ContinuousClock.now < end {
      var fuzz = DecoderFuzz(seed: seed)
      do {
        for _ in 0..<2000 { try fuzz.run() }
      } catch {
        print("// Seed \(seed): \(error)")
        return 1
      }
      count += 2000
      accepted += fuzz.accepted
      applied += fuzz.applied
      seed += 1
    }
    print("\(count) damaged messages, \(accepted) decoded, \(applied) changed a server")
    return 0
  }

  private static func runSteps(_ options: Options) -> Int32 {
    var steps: [Step] = []
    while let line = readLine() {
      if let step = Step(line) { steps.append(step) }
    }
    guard let violation = Simulation.violation(in: steps) else {
      print("\(steps.count) steps: no violation")
      return 0
    }
    print(violation)
    return 1
  }

  private static func runHistories(_ options: Options) -> Int32 {
    var failures = 0
    var tally: [String: Int] = [:]
    var digest: UInt64 = 0
    for seed in options.seed..<(options.seed + options.count) {
      let steps = History.steps(seed: seed)
      let result = Simulation.result(
        of: steps, traces: options.traces, tallies: options.tallies)
      digest = digest &* 31 &+ result.digest
      if options.tallies { tally.merge(result.tally, uniquingKeysWith: +) }
      guard let violation = result.violation else { continue }
      failures += 1
      if failures > 1 { print("// Seed \(seed): \(violation)") }
      if failures == 1, !options.endsWithFirst {
        let (shorter, other) = Shrinker.shrunk(steps, violation)
        print("// Seed \(seed): \(violation)\n// Shortened: \(other)")
        for step in shorter { print(step) }
      }
      if options.endsWithFirst {
        print("// Seed \(seed): \(violation)")
        break
      }
    }
    for (event, number) in tally.sorted(by: { $0.key < $1.key }) { print("  \(event): \(number)") }
    if options.traces { print("digest \(String(digest, radix: 16))") }
    print("\(options.count) histories from seed \(options.seed), \(failures) failures")
    return failures == 0 ? 0 : 1
  }
}

struct Options {
  var count: UInt64 = 1000
  var seed: UInt64 = 1
  var tallies = false
  var traces = false
  var readsSteps = false
  /// Ends with the first failure, and doesn't shorten it.
  var endsWithFirst = false
  var fuzzing: UInt64?

  init(_ arguments: ArraySlice<String>) throws {
    var rest = arguments
    while let word = rest.popFirst() {
      switch word {
      case "--seed": seed = try Self.number(rest.popFirst())
      case "--fuzz": fuzzing = try Self.number(rest.popFirst())
      case "--first": endsWithFirst = true
      case "--tally": tallies = true
      case "--trace": traces = true
      case "--steps": readsSteps = true
      default: count = try Self.number(word)
      }
    }
  }

  private static func number(_ word: String?) throws -> UInt64 {
    guard let number = word.flatMap({ UInt64($0) }) else {
      throw Problem(description: "\(word ?? "A missing word") is not a number or an option.")
    }
    return number
  }

  struct Problem: Error, CustomStringConvertible { let description: String }
}
