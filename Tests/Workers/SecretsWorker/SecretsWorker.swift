// A second process, for tests of secrets that several programs share.
//
//   SecretsWorker <store> <directory> <command> ...
//
// The store is `vault` or `plaintext`, and is in the directory with all that belongs to it.
//
//   dump                       prints every account with what it holds, and a full stop
//   step <writer> <seed>       dumps the writer's accounts, then changes them without end, and says of
//                              each change when it begins and when it is done
//   write <writer> <count>     waits for a line, keeps secrets and counts them in one that all share
//   read <count>               looks at all secrets again and again until that many have been counted
//   create <writer>            waits for a line, opens or makes the store, keeps one secret
//   serve                      does what the lines of its input say, and answers each
//   accept                     accepts that the vault is an older one
//   fork <children> <count>    keeps secrets in parent and children at once
//
//   SecretsWorker automatic ...
//
// Does the work of `Automatic.swift`, on the store that the library chooses.
//
// Failures and the deadline: WorkerMain.

import Foundation
import SteadSecrets

@main struct SecretsWorker {
  static func main() {
    WorkerMain.run { arguments in
      if arguments.first == "automatic" {
        return try Automatic.run(Array(arguments.dropFirst()))
      }
      guard arguments.count >= 3, let kind = Place.Kind(rawValue: arguments[0]) else {
        WorkerMain.misuse()
      }
      let place = Place(kind: kind, directory: URL(filePath: arguments[1]))
      try run(arguments[2], Array(arguments.dropFirst(3)), on: place)
    }
  }

  private static func run(_ command: String, _ arguments: [String], on place: Place) throws {
    let numbers = arguments.compactMap { Int($0) }
    switch (command, arguments.count, numbers.count) {
    case ("dump", 0, 0): say(try place.secrets().dump())
    case ("step", 2, 1): try Stepper(place.secrets(), arguments[0], seed: numbers[0]).run()
    case ("write", 2, 1): try Crowd(place.secrets()).write(arguments[0], numbers[0])
    case ("read", 1, 1): try Crowd(place.secrets()).read(until: numbers[0])
    case ("create", 1, 0): try create(place, arguments[0])
    case ("serve", 0, 0): try Server(place.secrets()).run()
    case ("accept", 0, 0): try accept(place)
    case ("fork", 2, 2): try Forker(place.secrets(), numbers[0], numbers[1]).run()
    default: WorkerMain.misuse()
    }
  }

  private static func create(_ place: Place, _ writer: String) throws {
    WorkerMain.waitForStart()
    try place.secrets().insert("of \(writer)", for: writer)
    say("done")
  }
}

private func accept(_ place: Place) throws {
  try place.acceptRollback()
  say("accepted")
}
