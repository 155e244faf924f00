// A second process for tests of transfers, which is killed in the middle of one.
//
//   TransferWorker <directory> <workload> [stop]
//
// Runs the workload's transfer between stores in the directory, and prints each progress as
// `PHASE COMPLETED`, then `done` and the report. With a number it kills itself, as by `kill -9`, when it
// has heard of so many. The workloads are in Workload.swift. What fails is printed as a line that begins
// with `error`.

import Foundation
import SteadTransfer

@main struct TransferWorker {
  static func main() {
    // One that hangs ends all the same, and its test fails.
    alarm(240)
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.count >= 2, let directory = arguments.first,
      let workload = Workload(rawValue: arguments[2])
    else { exit(64) }
    let stop = arguments.count > 2 ? Int(arguments[3]) : nil
    do {
      var heard = 0
      let report = try workload.run(in: URL(filePath: directory, directoryHint: .isDirectory)) {
        say("\($0.phase.rawValue) \($0.completed)")
        heard += 1
        if heard == stop { kill(getpid(), SIGKILL) }
      }
      say("done \(report)")
    } catch {
      say("error \(error)")
      exit(1)
    }
  }
}
