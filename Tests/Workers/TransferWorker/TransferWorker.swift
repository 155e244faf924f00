// A second process for tests of transfers, which is killed in the middle of one.
//
//   TransferWorker <directory> <workload> run [stop]
//   TransferWorker <directory> <workload> dump
//   TransferWorker foundation
//   TransferWorker container set|get
//
// `run` runs the workload's transfer between stores in the directory, and prints each progress as
// `PHASE COMPLETED`, then `done` and the report. Where another process was quicker, that is `changed`, it
// runs again. With a number it kills itself, as by `kill -9`, when it has heard of so many. `dump` prints
// the texts of the destination. The workloads are in Workload.swift. `foundation` is another program, which
// keeps settings with Foundation; `container` one in a container, see Container.swift. Failures and the deadline: WorkerMain.

import Foundation
import SteadTransfer

@main struct TransferWorker {
  static func main() {
    WorkerMain.run { arguments in
      if arguments == ["foundation"] { return keepSettings() }
      if arguments.count == 2, arguments[0] == "container" { return Container.run(arguments[1]) }
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
