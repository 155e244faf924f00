import BenchmarkHarness
import Foundation
import SteadTransfer
import SwiftData

/// A move of a table into records, in a process of its own, since a process keeps its peak of memory.
enum TableMove {
  /// In the child: runs once, or so often that a time can be told. Prints nanoseconds and bytes.
  static func run(_ table: URL, _ store: URL, rounds: Int) throws {
    let container = try ModelContainer(
      for: Book.self, configurations: ModelConfiguration(url: store))
    let transfer = Transfer("books", from: .csv(table, of: BookRow.self), to: .records(container)) {
      Book($0)
    }
    var times: [Double] = []
    for _ in 0..<rounds { times.append(try timed { keep(try transfer.run()) }) }
    print(times.sorted()[times.count / 2], try peak)
  }

  /// In the parent.
  static func measure(
    _ table: URL, _ store: URL, rounds: Int = 1
  ) throws -> (nanoseconds: Double, peak: Double) {
    let output = try BenchmarkProgram.output(
      of: ["--child", table.path, store.path, String(rounds)])
    let values = output.split(separator: " ").compactMap { Double($0) }
    guard values.count == 2 else { throw UsageError() }
    return (values[0], values[1])
  }

  /// The most memory that the process has had, in bytes. What `getrusage` tells begins with the parent's.
  private static var peak: Int {
    get throws {
      let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
      return (line.flatMap { Int($0.filter(\.isNumber)) } ?? 0) * 1024
    }
  }
}
