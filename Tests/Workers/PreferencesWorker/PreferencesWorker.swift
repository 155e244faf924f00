import Foundation
import SteadPreferences
@_exported import SteadTestSupport  // A second process for tests of preferences that several programs share.
//
//   PreferencesWorker <directory> <domain> <command> ...
//
//   dump [prefix]                      prints every key with its value, and a full stop
//   step <writer> <seed> <workload>    dumps the writer's keys, then changes them without end, and says
//                                      of each change when it begins and when it is done
//   write <board> <writer> <count>     sets keys, counts them on the board
//   burst <board>                      sets a hundred keys over and over without end, counts on the board
//   suffer <writer> <seed>             sets keys in bursts; stops, goes on and says how far it is as the input says
//   set <key> <number>                 sets one key, and ends
//   read <board> <writers> <count>     looks for every key on the board until the board is full
//   fork <threads> <count>             sets keys in parent and child at once
//   follow                             prints changes as they come; does what the input says
//   inspect                            opens the domain in each directory that the input names
//   url <key>                          prints a URL
//   standard [-key value ...]          counts a launch in the standard preferences, and is killed
//   history-dump <limit>               prints a history, the newest message first, and a full stop
//   history-prepend <limit> <writer> <first>   puts messages in front without end, and says of each when
//                                      it begins and when it is done
//   history-crowd <limit> <writer> <count> removing|keeping   puts so many messages in front
//   history-watch <limit> <last>,...   looks until the last message of each writer has been seen
//   history-open <limit>               opens a history when the input says so
//   history-batch <limit> <count>      puts so many messages in front as one, and flushes
//   history-fork <limit> <count>       forks while threads use a history, and children go on with it
//   suite                              opens the suites that the input names, percent-encoded
//
// Failures and the deadline: WorkerMain.

@main struct PreferencesWorker {
  static func main() {
    WorkerMain.run { arguments in
      guard arguments.count >= 3 else { WorkerMain.misuse() }
      let domain = Domain(directory: arguments[0], name: arguments[1])
      try run(arguments[2], Array(arguments.dropFirst(3)), on: domain)
    }
  }

  private static func run(_ command: String, _ arguments: [String], on domain: Domain) throws {
    switch (command, arguments.count) {
    case ("dump", 0): try dump(domain.open())
    case ("dump", 1): try dump(domain.open(), prefix: arguments[0])
    case ("step", 3): try Stepper(domain.open(), arguments)?.run()
    case ("write", 3): try Crowd.write(domain.open(), arguments)
    case ("burst", 1): try Crowd.burst(domain.open(), board: Board(arguments[0]))
    case ("suffer", 2):
      var sufferer = Sufferer(try domain.open(), arguments)
      sufferer?.run()
    case ("set", 2): try domain.open().set(Int(arguments[1]) ?? 0, forKey: arguments[0])
    case ("read", 3): try Crowd.read(domain.open(), arguments)
    case ("fork", 2): try Forker(domain.open(), arguments)?.run()
    case ("follow", 0): try Follower(domain.open()).run()
    case ("inspect", 0): Inspector(name: domain.name).run()
    case ("url", 1): say(try domain.open().url(forKey: arguments[0])?.absoluteString ?? "none")
    case ("standard", _): countLaunch()
    case ("suite", 0): try openSuites()
    case (_, 1...) where command.hasPrefix("history-"):
      try HistoryWorker(domain.open(), limit: arguments[0])?.run(
        command, Array(arguments.dropFirst()))
    default: WorkerMain.misuse()
    }
  }
}

/// A domain in a directory, and how every command opens it.
struct Domain {
  var directory: String
  var name: String

  func open() throws -> Preferences {
    let preferences = try Preferences(domain: name, directory: URL(filePath: directory))
    preferences.onError = { error in say("error \(error)") }
    return preferences
  }
}

/// Makes what was set durable, and tells of a failure, but of files that another writer keeps locked for long.
func flush(_ preferences: Preferences) {
  do { try preferences.flush() } catch let error as PreferencesError where error.code == .locked {
  } catch { say("error \(error)") }
}

func dump(_ preferences: Preferences, prefix: String = "") throws {
  var lines = ""
  for key in preferences.keys where key.hasPrefix(prefix) {
    guard let value = preferences.propertyList(forKey: key) else { continue }
    lines += "\(key.escaped) \(value.line)\n"
  }
  say(lines + ".")
}

// For all files of this target.

/// Opens suites by the names that the input has, percent-encoded and in quotation marks, and sets a key.
func openSuites() throws {
  while let line = readLine() {
    let name = line.dropFirst().dropLast().removingPercentEncoding ?? ""
    guard let preferences = Preferences(suiteName: name) else {
      say("refused")
      continue
    }
    preferences.onError = { error in say("error \(error)") }
    preferences.set(1, forKey: "key")
    say(preferences.synchronize() ? "opened" : "failed")
  }
}
