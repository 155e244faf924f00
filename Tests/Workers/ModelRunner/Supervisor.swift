import Foundation
import ModelJudge
import SteadTestSupport

/// Runs sequences in other processes, and goes on after one that crashes.
struct Supervisor {
  /// A sequence takes milliseconds; one that takes this many seconds never ends.
  static let timeLimit: UInt32 = 60

  private let options: Options
  private let program: String

  init(_ options: Options) throws {
    self.options = options
    program = try WorkerProcess.program("ModelRunner")
  }

  /// Returns the number of processes that found divergences or crashed.
  func run() throws -> Int {
    var (next, failures) = (options.seed, 0)
    let end = options.seed + options.count
    while next < end {
      let process = try WorkerProcess([
        program, "--profile", options.profile.rawValue, "--seed", "\(next)",
        "--count", "\(end - next)", "--tell-seeds",
      ])
      var last = next
      while let line = process.line() {
        if line.hasPrefix("seed "), let seed = UInt64(line.dropFirst(5)) {
          last = seed
        } else {
          say(line)
        }
      }
      let status = process.finish()
      if status != 0 { failures += 1 }
      if status >= 0, status <= 2 { return failures }
      try report(last, status)
      next = last + 1
    }
    return failures
  }

  /// Shrinks what ended a process: a sequence that crashes, or one that crashed when it was shrunk.
  private func report(_ seed: UInt64, _ status: Int32) throws {
    let trial = Trial(options.profile, seed: seed)
    let diverges = try outcome(of: trial).status == 1
    var shrinker = Shrinker { candidate in
      guard let status = try? self.outcome(of: candidate).status else { return false }
      return diverges ? status == 1 : status < 0 || status > 2
    }
    let shorter = shrinker.shrunk(trial)
    if diverges { return say(try outcome(of: shorter).output + "\n") }
    say(
      """
      \(shorter.calls.map(\.description).joined(separator: "\n"))
      // The process crashed with status \(status).
      // Profile \(options.profile.rawValue), seed \(seed), \(shorter.steps.count) steps, \
      reading \(shorter.reading).

      """)
  }

  private func outcome(of trial: Trial) throws -> (status: Int32, output: String) {
    // A backtrace takes longer than the sequence, and would be printed for each candidate.
    let process = try WorkerProcess(
      [program, "try"], environment: ["SWIFT_BACKTRACE": "enable=no"])
    _ = process.tell(String(decoding: try JSONEncoder().encode(trial), as: UTF8.self))
    let output = process.rest().joined(separator: "\n")
    return (process.finish(), output)
  }

  /// Runs one sequence; whether the engine differs.
  static func tryOne() throws -> Bool {
    _ = dup2(open("/dev/null", O_WRONLY), STDERR_FILENO)
    guard let line = readLine() else { return false }
    let trial = try JSONDecoder().decode(Trial.self, from: Data(line.utf8))
    guard let divergence = try trial.firstDivergence() else { return false }
    say("\(divergence)")
    return true
  }
}
