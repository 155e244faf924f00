import BenchmarkHarness
import Foundation
import SwiftData

/// A custom stage over all rows of a store, in a process of its own, since a process keeps its peak of memory.
enum CustomStage {
  /// Above a process that opens a store of the same models without rows.
  static let memoryLimit = 100e6
  static let rowCount = 100_000

  /// In the child: migrates a store, and prints nanoseconds and bytes.
  static func runChild(_ path: String) throws {
    let time = try timed {
      try ModelContainer(
        for: Schema(versionedSchema: ParcelsV3.self), migrationPlan: ParcelPlan.self,
        configurations: ModelConfiguration(url: URL(filePath: path)))
    }
    print(time, try peak())
  }

  /// In the parent; returns whether the limit was kept.
  static func run(in directory: URL) throws -> Bool {
    var results: [(time: Double, peak: Double)] = []
    for count in [0, rowCount] {
      let url = directory.appending(path: "stage-\(count).store")
      try ParcelStore.make(ParcelsV2.self, url, count: count) {
        ParcelsV2.Parcel(number: $0, title: "parcel \($0)", weight: Double($0))
      }
      let output = try BenchmarkProgram.output(
        of: ["--stage", url.path], environment: BenchmarkProgram.plainEnvironment)
      let values = output.split(separator: " ").compactMap { Double($0) }
      guard values.count == 2 else { throw UsageError() }
      results.append((values[0], values[1]))
    }
    let memory = results[1].peak - results[0].peak
    let isMet = memory <= memoryLimit
    print("\nstage  a custom stage that changes \(rowCount.grouped) objects")
    print(
      "  \(timeText(results[1].time)), \(String(format: "%.1f", memory / 1e6)) MB more than without rows"
        + "  limit \(Int(memoryLimit / 1e6)) MB  \(isMet ? "ok" : "MISSED")")
    return isMet
  }

  /// The most memory that the process has had, in bytes. What `getrusage` tells begins with the parent's.
  private static func peak() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return (line.flatMap { Int($0.filter(\.isNumber)) } ?? 0) * 1024
  }
}
