// A second process for tests of transfers, which is killed in the middle of one.
//
//   TransferWorker <directory> <workload> run [stop]
//   TransferWorker <directory> <workload> dump
//   TransferWorker foundation
//   TransferWorker container set|get
//   TransferWorker table <table> <store>
//
// `run` runs the workload's transfer between stores in the directory, and prints each progress as
// `PHASE COMPLETED`, then `done` and the report. Where another process was quicker, that is `changed`, it
// runs again. With a number it kills itself, as by `kill -9`, when it has heard of so many. `dump` prints
// the texts of the destination. The workloads are in Workload.swift. `foundation` is another program, which
// keeps settings with Foundation; `container` one in a container, see Container.swift. `table` moves a table into
// a store, and prints how many items it moved and the most KiB of memory that it had. Failures and the deadline: WorkerMain.

import Foundation
import SteadTransfer
import SwiftData

@main struct TransferWorker {
  static func main() {
    WorkerMain.run { arguments in
      if arguments == ["foundation"] { return keepSettings() }
      if arguments.count == 2, arguments[0] == "container" { return Container.run(arguments[1]) }
      if arguments.count == 3, arguments[0] == "table" {
        return try moveTable(URL(filePath: arguments[1]), URL(filePath: arguments[2]))
      }
      guard arguments.count >= 3, let name = Workload.Name(rawValue: arguments[1]) else {
        WorkerMain.misuse()
      }
      let workload = Workload(
        name: name, directory: URL(filePath: arguments[0], directoryHint: .isDirectory))
      switch (arguments[2], arguments.count) {
      case ("run", 3): try run(workload, stop: nil)
      case ("run", 4): try run(workload, stop: Int(arguments[3]))
      case ("dump", 3): for text in try workload.moved() { say(text) }
      default: WorkerMain.misuse()
      }
    }
  }

  private static func keepSettings() {
    let defaults = UserDefaults.standard
    defaults.set(7, forKey: "count")
    defaults.set(0.5, forKey: "ratio")
    defaults.set(true, forKey: "isOn")
    defaults.set(["one", "two"], forKey: "names")
    defaults.set(Data([1, 2]), forKey: "blob")
    if !defaults.synchronize() { say("error not kept") }
  }

  private struct Row: Decodable, Sendable { let text: String }

  private static func moveTable(_ table: URL, _ store: URL) throws {
    let container = try ModelContainer(
      for: Draft.self, configurations: ModelConfiguration(url: store))
    let transfer = Transfer("table", from: .csv(table, of: Row.self), to: .records(container)) {
      Draft(content: $0.text)
    }
    let report = try transfer.run()
    say("\(report.moved) \(try peak())")
  }

  /// The most memory that the process has had, in KiB. What `getrusage` tells begins with the parent's.
  private static func peak() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
  }

  private static func run(_ workload: Workload, stop: Int?) throws {
    var heard = 0
    while true {
      do {
        let report = try workload.run {
          say("\($0.phase.rawValue) \($0.completed)")
          heard += 1
          if heard == stop { kill(getpid(), SIGKILL) }
        }
        return say("done \(report)")
      } catch let error as TransferError where error.code == .changed {
        say("changed")
      }
    }
  }
}
