// A second process for tests of stores that several programs share.
//
//   StoreWorker <store> write <name> <first> <count>   saves groups, prints each number once saved
//   StoreWorker <store> revise <name> <count>          changes the groups that are there
//   StoreWorker <store> count                          prints the number of groups
//   StoreWorker <store> watch <number>                 waits until a group is there, prints it
//   StoreWorker <store> migrate                        migrates parcels, prints a number at each step and one at the
//                                                      end, then waits for the end of its input
//   StoreWorker <store> slim                           opens parcels without a plan, prints `done`
//   StoreWorker <store> read                           opens the store read only, prints the number of groups, and the
//                                                      error of a save
//   StoreWorker - history                              does the commands of its input, prints `done` after each
//   StoreWorker <store> hold <first>                   keeps the store open, and does the commands of its input: `save`
//                                                      prints how many groups it has saved, `look` how many exist,
//                                                      `close` closes the store, `exit` and `_exit` end the process, as the end of
//                                                      its input does, and `exit in a transaction` prints `begun` and waits for
//                                                      another line or the end of the input first
//   StoreWorker <store> starve <count>                 opens and closes the store, has only so many descriptors left, prints how
//                                                      many groups there are or the error's code, and the same once
//                                                      descriptors are free again
//   StoreWorker <store> past                           saves twice, holds the store as of the first time, and prints `ready`;
//                                                      waits for the end of its input
//   StoreWorker <store> ready                          prints `ready`, and opens nothing
//
// Failures and the deadline: WorkerMain.

import Foundation
import SteadTestSupport
import SwiftData
import WorkerModels

@main struct StoreWorker {
  static func main() {
    // A history has as many commands as its test, whose end is the end of the input.
    let isHistory = CommandLine.arguments.dropFirst(2).first == "history"
    WorkerMain.run(timeLimit: isHistory ? nil : WorkerMain.timeLimit, run)
  }

  private static func run(_ arguments: [String]) throws {
    guard arguments.count >= 2 else { WorkerMain.misuse() }
    if arguments[1] == "ready" { return say("ready") }
    let url = URL(filePath: arguments[0])
    if arguments[1] == "history" { return try writeHistory() }
    if arguments[1] == "migrate" { return try migrate(url) }
    if arguments[1] == "slim" {
      _ = try SlimParcels.open(url)
      return say("done")
    }
    if arguments[1] == "read" { return try readOnly(url) }
    if arguments[1] == "past" { return try holdPast(url) }
    if arguments[1] == "hold" { return try hold(url, from: arguments.dropFirst(2).first) }
    let container = try openLedgers(at: url)
    let numbers = arguments.compactMap(Int.init)
    switch arguments[1] {
    case "write": try write(container, arguments[2], from: numbers[0], count: numbers[1])
    case "revise": try revise(container, count: numbers[0])
    case "count": report(try ModelContext(container).fetchCount(FetchDescriptor<Ledger>()))
    case "watch": try watch(container, for: numbers[0])
    case "starve": starve(container, leaving: numbers[0])
    default: WorkerMain.misuse()
    }
  }

  /// Nothing has read yet, so that the first reading of all begins what readings need.
  private static func starve(_ container: ModelContainer, leaving count: Int) {
    var limit = rlimit(rlim_cur: 100, rlim_max: 100)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    var taken: [Int32] = []
    while case let descriptor = open("/dev/null", O_RDONLY), descriptor >= 0 {
      taken.append(descriptor)
    }
    for descriptor in taken.suffix(count) { close(descriptor) }
    for _ in 0..<2 {
      do {
        report(try ModelContext(container).fetchCount(FetchDescriptor<Ledger>()))
      } catch let error as SwiftDataError {
        say("\(error.code): \(error.message)")
      } catch {
        say("\(error)")
      }
      for descriptor in taken.dropLast(count) { close(descriptor) }
      taken = []
    }
  }

  /// A program's global variable, which nothing ever releases.
  private nonisolated(unsafe) static var held: ModelContainer?

  // `held` is used by the main thread alone.
  private static func hold(_ url: URL, from first: String?) throws {
    held = try openLedgers(at: url)
    var number = first.flatMap { Int($0) } ?? 0
    var saves = 0
    say("ready")
    while let line = readLine() {
      guard line != "close", let container = held else {
        held = nil
        say("closed")
        continue
      }
      let context = ModelContext(container)
      switch line {
      case "save":
        context.insert(Ledger(number: number, writer: "holder", amounts: amounts(number)))
        try context.save()
        number += 1
        saves += 1
        report(saves)
      case "exit": exit(0)
      case "_exit": _exit(0)
      case "exit in a transaction":
        try context.transaction {
          context.insert(Ledger(number: number, writer: "holder", amounts: amounts(number)))
          say("begun")
          _ = readLine()
          exit(0)
        }
      default: report(try context.fetchCount(FetchDescriptor<Ledger>()))
      }
    }
  }

  /// Keeps old values, and then a container of the past in the global variable.
  private static func holdPast(_ url: URL) throws {
    let container = try ModelContainer(
      for: Ledger.self, Entry.self,
      configurations: ModelConfiguration(url: url, history: .withOldValues))
    let context = ModelContext(container)
    for number in 1...2 {
      context.insert(Ledger(number: number, writer: "past", amounts: amounts(number)))
      try context.save()
    }
    let first = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).first
    held = try first.map { try container.asOf($0.token) }
    say("ready")
    while readLine() != nil {}
  }

  private static func migrate(_ url: URL) throws {
    var steps = 0
    _ = try ParcelPlan.open(url) { _ in
      steps += 1
      report(steps)
    }
    report(steps + 1)
    while readLine() != nil {}
  }

  private static func writeHistory() throws {
    let writer = YardWriter()
    let decoder = JSONDecoder()
    while let line = readLine() {
      try writer.perform(decoder.decode(YardCommand.self, from: Data(line.utf8)))
      say("done")
    }
  }

  private static func report(_ number: Int) { say("\(number)") }

  private static func amounts(_ seed: Int) -> [Int] {
    (0..<(3 + seed % 6)).map { seed &* 7919 &+ $0 &* 104_729 }
  }

  private static func write(
    _ container: ModelContainer, _ name: String, from first: Int, count: Int
  ) throws {
    let context = ModelContext(container)
    for number in first..<(first + count) {
      context.insert(Ledger(number: number, writer: name, amounts: amounts(number)))
      // Changes and deletions of older groups belong to the same save.
      if number % 3 == 0 {
        let older = number - 2
        let descriptor = FetchDescriptor<Ledger>(predicate: #Predicate { $0.number == older })
        try context.fetch(descriptor).first?.revise(amounts(number))
      }
      try context.save()
      report(number)
    }
  }

  private static func readOnly(_ url: URL) throws {
    let configuration = ModelConfiguration(url: url, allowsSave: false)
    let context = ModelContext(
      try ModelContainer(for: Ledger.self, Entry.self, configurations: configuration))
    report(try context.fetch(FetchDescriptor<Ledger>()).count { $0.isWhole })
    context.insert(Ledger(number: 1_000_000, writer: "reader", amounts: [1]))
    do {
      try context.save()
    } catch {
      say("\(error)")
    }
  }

  private static func revise(_ container: ModelContainer, count: Int) throws {
    let context = ModelContext(container)
    for round in 0..<count {
      for ledger in try context.fetch(FetchDescriptor<Ledger>()) {
        ledger.revise(amounts(round + ledger.number))
      }
      try context.save()
      report(round)
    }
  }

  private static func watch(_ container: ModelContainer, for number: Int) throws {
    let context = ModelContext(container)
    let descriptor = FetchDescriptor<Ledger>(predicate: #Predicate { $0.number == number })
    report(try context.fetchCount(descriptor))
    // The other process answers each line with a commit, and this one sees it in its next fetch.
    while let line = readLine() {
      if line == "look" { report(try context.fetchCount(descriptor)) }
    }
  }
}
