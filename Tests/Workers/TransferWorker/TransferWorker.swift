// A second process for tests of transfers, which is killed in the middle of one.
//
//   TransferWorker <directory> <workload> run [stop]
//   TransferWorker <directory> <workload> dump
//   TransferWorker foundation
//
// `run` runs the workload's transfer between stores in the directory, and prints each progress as
// `PHASE COMPLETED`, then `done` and the report. Where another process was quicker, that is `changed`, it
// runs again. With a number it kills itself, as by `kill -9`, when it has heard of so many. `dump` prints
// the texts of the destination. The workloads are in Workload.swift. What fails is printed as a line that
// begins with `error`. `foundation` is another program, which keeps settings with Foundation.

import Foundation
import SteadTransfer

@main struct TransferWorker {
  static func main() {
    // One that hangs ends all the same, and its test fails.
    alarm(240)
    let arguments = CommandLine.arguments
    if arguments.dropFirst() == ["foundation"] { return keepSettings() }
    guard arguments.count >= 4, let name = Workload.Name(rawValue: arguments[2]) else { exit(64) }
    let workload = Workload(
      name: name, directory: URL(filePath: arguments[1], directoryHint: .isDirectory))
    do {
      switch (arguments[3], arguments.count) {
      case ("run", 4): try run(workload, stop: nil)
      case ("run", 5): try run(workload, stop: Int(arguments[4]))
      case ("dump", 4): for text in try workload.moved() { say(text) }
      default: exit(64)
      }
    } catch {
      say("error \(error)")
      exit(1)
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
