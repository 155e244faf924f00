// Runs random sequences of operations against the engine and the reference.
//
//   ModelRunner --profile P --seed N --count M   runs M sequences; prints each divergence, shrunk
//   ModelRunner --supervise ...                  the same in processes of their own, so that crashes
//                                                are found and shrunk, too
//   ModelRunner --first ...                      ends with the first divergence, as it is
//   ModelRunner --reference ...                  looks for contradictions in the reference alone
//   ModelRunner try                              runs the sequence that comes on standard input
//   ModelRunner work                             does another process's calls, from standard input

import Foundation
import ModelJudge
import SteadTestSupport

@main struct ModelRunner {
  static func main() {
    switch CommandLine.arguments.dropFirst().first {
    case "work": WorkerMain.run { _ in try ModelWorker.run() }
    case "try":
      WorkerMain.run(timeLimit: Supervisor.timeLimit) { _ in
        exit(try Supervisor.tryOne() ? 1 : 0)
      }
    default:
      // As long as its sequences take.
      WorkerMain.run(timeLimit: nil) { arguments in
        let options = try Options(arguments)
        exit(try (options.isSupervised ? Supervisor(options).run() : run(options)) == 0 ? 0 : 1)
      }
    }
  }

  /// Returns the number of divergences.
  private static func run(_ options: Options) throws -> Int {
    var (kinds, unspecified): ([String: Int], [String: Int]) = ([:], [:])
    for seed in options.seed..<(options.seed + options.count) {
      if options.tellsSeeds { say("seed \(seed)") }
      let trial = Trial(options.profile, seed: seed)
      if options.judgesReference {
        if let (reason, _) = trial.unspecified {
          unspecified[reason.filter { !$0.isNumber }, default: 0] += 1
        }
        guard let problem = trial.referenceProblem else { continue }
        say(trial.calls.map(\.description).joined(separator: "\n") + "\n// \(problem)\n")
        return 1
      }
      guard let divergence = try trial.firstDivergence() else { continue }
      if options.endsWithFirst {
        say("seed \(seed): \(divergence.mismatch)")
        return 1
      }
      kinds[divergence.kind, default: 0] += 1
      if kinds[divergence.kind] == 1, options.shrinks {
        say("\(try shrunk(trial, divergence))\n")
      }
    }
    let total = kinds.values.reduce(0, +)
    say("\(options.profile.rawValue): \(options.count) sequences, \(total) divergences")
    for (kind, number) in kinds.sorted(by: { $0.value > $1.value }) { say("  \(number) \(kind)") }
    for (reason, number) in unspecified.sorted(by: { $0.value > $1.value }) {
      say("  \(number) without a verdict: \(reason)")
    }
    return total
  }

  private static func shrunk(_ trial: Trial, _ divergence: Divergence) throws -> Divergence {
    var shrinker = Shrinker(divergence)
    return try shrinker.shrunk(trial).firstDivergence() ?? divergence
  }
}

struct Options {
  var profile = Profile.oneContext
  var seed: UInt64 = 1
  var count: UInt64 = 100
  /// Prints each seed before it is run, so that a crash names its own.
  var tellsSeeds = false
  var shrinks = true
  var endsWithFirst = false
  var isSupervised = false
  /// Looks for contradictions in the reference, without the engine.
  var judgesReference = false

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    while let name = rest.popFirst() {
      switch name {
      case "--tell-seeds": tellsSeeds = true
      case "--reference": judgesReference = true
      case "--supervise": isSupervised = true
      case "--no-shrinking": shrinks = false
      case "--first": endsWithFirst = true
      case "--seed": seed = try Self.number(rest.popFirst())
      case "--count": count = try Self.number(rest.popFirst())
      case "--profile":
        guard let found = rest.popFirst().flatMap(Profile.init(rawValue:)) else {
          throw Failure(description: "Profiles: \(Profile.allCases.map(\.rawValue))")
        }
        profile = found
      default: throw Failure(description: "Unknown option \(name)")
      }
    }
  }

  private static func number(_ text: String?) throws -> UInt64 {
    guard let number = text.flatMap(UInt64.init) else {
      throw Failure(description: "A number is missing.")
    }
    return number
  }

  struct Failure: Error, CustomStringConvertible { let description: String }
}
