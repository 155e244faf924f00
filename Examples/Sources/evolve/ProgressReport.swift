import ExampleSupport
import Foundation
import SwiftData

/// Prints each phase of a migration, with its time and the most memory that the program had meanwhile.
final class ProgressReport {
  private let report: Report
  private let clock = ContinuousClock()
  private var step: MigrationProgress?
  private var start: ContinuousClock.Instant

  init(_ report: Report) {
    self.report = report
    start = clock.now
  }

  /// Called for each step of each phase.
  func note(_ next: MigrationProgress) {
    if let step, (step.phase, step.stage) != (next.phase, next.stage) { end() }
    if step == nil { begin() }
    step = next
  }

  private func begin() {
    // Forgets the peak until now, as Linux lets a program do (proc(5)).
    try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
    start = clock.now
  }

  /// Prints the phase that has ended.
  func end() {
    guard let step else { return }
    let time = start.duration(to: clock.now) / .milliseconds(1)
    let stage = step.stage > 0 ? "stage \(step.stage) of \(step.stages), " : ""
    let memory = Self.peak.map { ", at most \($0 / 1_024) MiB of memory" } ?? ""
    report.row(String(format: "%.1f ms", time), "\(stage)\(step.phase.rawValue)\(memory)")
    self.step = nil
  }

  /// The most memory that the program has had, in KiB, where the system has a file that says it.
  private static var peak: Int? {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else {
      return nil
    }
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line.flatMap { Int($0.filter(\.isNumber)) }
  }
}
