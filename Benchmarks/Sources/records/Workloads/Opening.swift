import BenchmarkHarness
import Foundation
import SwiftData

/// What opening a container of fifty models costs, in nanoseconds.
///
/// Each value is of a process of its own, which this program starts: what a process learns of its
/// models it keeps.
struct Opening: Sendable {
  /// What the process finds.
  enum Start: String, CaseIterable {
    /// No file.
    case new
    /// A store of the same models.
    case existing
    /// The same, and models that another container of the process has opened.
    case again
  }

  let name: String
  let title: String
  let limit: Double?
  let start: Start
  let part: KeyPath<Times, Double> & Sendable

  /// The two steps of opening.
  struct Times {
    var schema = 0.0
    var container = 0.0
    var both: Double { schema + container }
  }

  static let all = [
    Opening(
      name: "opening-schema", title: "the schema of 50 models, first in its process", limit: nil,
      start: .existing, part: \.schema),
    Opening(
      name: "opening", title: "schema and container, existing store", limit: Goals.opening,
      start: .existing, part: \.both),
    Opening(
      name: "opening-new", title: "schema and container, new store", limit: nil, start: .new,
      part: \.both),
    Opening(
      name: "opening-again", title: "schema and container, the process's second",
      limit: Goals.opening,
      start: .again, part: \.both),
  ]

  // MARK: In the child process

  /// Opens a store, and prints what both steps took.
  static func runChild(_ start: Start, path: String) throws {
    if start == .again { _ = try times(path) }
    let times = try times(path)
    print(times.schema, times.container)
  }

  private static func times(_ path: String) throws -> Times {
    var times = Times()
    let before = Clock.now
    let schema = Schema(Tables.all)
    let middle = Clock.now
    let container = try ModelContainer(
      for: schema, configurations: ModelConfiguration(url: URL(filePath: path)))
    times.container = Clock.now - middle
    times.schema = middle - before
    keep(container)
    return times
  }

  // MARK: In the parent process

  func measure(_ fixtures: Fixtures) throws -> Double {
    let path = fixtures.newPath()
    defer { fixtures.discard(path) }
    if start != .new { _ = try Self.runProcess(.new, path) }
    return try Self.runProcess(start, path)[keyPath: part]
  }

  private static func runProcess(_ start: Start, _ path: String) throws -> Times {
    let output = try BenchmarkProgram.output(of: ["--opening", start.rawValue, path])
    let values = output.split(separator: " ").compactMap { Double($0) }
    guard values.count == 2 else { return Times(schema: .nan, container: .nan) }
    return Times(schema: values[0], container: values[1])
  }
}
