import Foundation
import SteadPreferences

/// Changes a writer's keys without end, and tells of each change before and after.
///
///     b <number> <key> <new value>    a change begins; the value is `none` where the key goes
///     e <number>                      it is done: from here on it must not be lost
///     s <number> / t <number>         the same for a step that changes nothing
///
/// The numbers grow from start to start, since every value holds the number that made it.
///
/// Other writers may hold the lock for longer than the library waits, on a busy machine. It is not told of: what was set is
/// somewhere where the next program finds it, and that is what the test looks at.
struct Stepper {
  /// How often, of 100 steps, each kind of step is taken; what is left over sets small values.
  struct Workload {
    var large = 0
    var removals = 5
    var synchronizations = 0
    var flushes = 0
    var keys = 40

    static let named: [String: Workload] = [
      "small": Workload(synchronizations: 1),
      "large": Workload(large: 40, synchronizations: 1, keys: 16),
      "compactions": Workload(large: 80, flushes: 1, keys: 24),
      "checkpoints": Workload(large: 5, synchronizations: 30, flushes: 5),
    ]
  }

  let preferences: Preferences
  let writer: String
  let seed: UInt64
  let workload: Workload

  init?(_ preferences: Preferences, _ arguments: [String]) {
    guard let seed = UInt64(arguments[1]), let workload = Workload.named[arguments[2]]
    else { return nil }
    self.preferences = preferences
    writer = arguments[0]
    self.seed = seed
    self.workload = workload
    preferences.onError = { error in if error.code != .locked { say("error \(error)") } }
  }

  func run() throws {
    try dump(preferences, prefix: "\(writer).")
    var number = UInt64(lastNumber) + 1
    var done = ""
    while true {
      done = take(number, after: done)
      number += 1
    }
  }

  /// The greatest number of which a value is left.
  private var lastNumber: Int64 {
    var last: Int64 = 0
    for key in preferences.keys where key.hasPrefix("\(writer).") {
      switch preferences.propertyList(forKey: key) {
      case .integer(let number)?: last = max(last, number)
      case .data(let data)?:
        let number = data.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
        last = max(last, Int64(truncatingIfNeeded: number))
      default: break
      }
    }
    return last
  }

  /// One step; returns what is to be said of it with the next.
  private func take(_ number: UInt64, after done: String) -> String {
    var random = SplitMix(seed: seed &+ number &* 0x9E37_79B9)
    let key = "\(writer).\(random.next() % UInt64(workload.keys))"
    var choice = Int(random.next() % 100)
    func isChosen(_ share: Int) -> Bool {
      choice -= share
      return choice < 0
    }
    if isChosen(workload.synchronizations) {
      say("\(done)s \(number)")
      if !preferences.synchronize(), preferences.lastError?.code != .locked {
        say("error synchronize() gave false")
      }
      return "t \(number)\n"
    }
    if isChosen(workload.flushes) {
      say("\(done)s \(number)")
      flush(preferences)
      return "t \(number)\n"
    }
    if isChosen(workload.removals) {
      say("\(done)b \(number) \(key) none")
      preferences.removeObject(forKey: key)
    } else if isChosen(workload.large) {
      let count = 8 * (500 + Int(random.next() % 6_000))
      say("\(done)b \(number) \(key) data \(count) of \(number)")
      preferences.set(Data(repeating: number, count: count), forKey: key)
    } else {
      say("\(done)b \(number) \(key) integer \(number)")
      preferences.set(Int(number), forKey: key)
    }
    return "e \(number)\n"
  }
}
