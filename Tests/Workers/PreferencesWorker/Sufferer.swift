import Foundation
import SteadPreferences

/// Sets keys in bursts while a test takes the journal away from under it, and stops when it is asked to.
///
/// Each line of the input says what comes before the stop, and is answered with the number of the last set:
///
///     sets    every key once
///     set     one key
///     read    one key is read
///     flush   what was set is made durable
///     go      nothing, and no stop: it says so, and goes on. The next line is sent after that, since it would wait in
///             a buffer otherwise
struct Sufferer {
  /// How many keys it sets, in turn, each to the number of the set.
  static let keyCount = 100
  /// Keys that are set once, at the beginning.
  static let oldKeyCount = 20

  let preferences: Preferences
  let writer: String
  private var random: SplitMix
  private var number = 0

  init?(_ preferences: Preferences, _ arguments: [String]) {
    guard let seed = UInt64(arguments[1]) else { return nil }
    self.preferences = preferences
    writer = arguments[0]
    random = SplitMix(seed: seed)
    // What happens to the file is reported, as it should be, and so is another writer that keeps the lock for long.
    preferences.onError = { error in
      guard error.code != .damaged, error.code != .locked else { return }
      say("error \(error) \(error.cause.map { "\($0)" } ?? "")")
    }
  }

  mutating func run() {
    for number in 0..<Self.oldKeyCount {
      preferences.set(number, forKey: "\(writer).old.\(number)")
    }
    for _ in 0..<Self.keyCount { set() }
    say("ready")
    while true {
      // Long bursts keep the lock from one set to the next, and short ones do not.
      for _ in 0..<Int.random(in: 1...2_000, using: &random) { set() }
      if Bool.random(using: &random) { usleep(useconds_t.random(in: 0...3_000, using: &random)) }
      guard hasInput else { continue }
      while let line = readLine(), line != "go" {
        obey(line)
        say("\(number)")
      }
      say("going")
    }
  }

  private mutating func obey(_ line: String) {
    switch line {
    case "sets": for _ in 0..<Self.keyCount { set() }
    case "set": set()
    case "flush": flush(preferences)
    default: _ = preferences.integer(forKey: "\(writer).0")
    }
  }

  private mutating func set() {
    number += 1
    preferences.set(number, forKey: "\(writer).\(number % Self.keyCount)")
  }

  private var hasInput: Bool {
    var question = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    return poll(&question, 1, 0) == 1
  }
}
