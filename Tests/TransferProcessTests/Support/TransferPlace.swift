import Foundation
import SteadPreferences
import Testing

/// A directory with the stores of a workload of the TransferWorker.
struct TransferPlace {
  let workload: String
  let directory: TemporaryDirectory
  private let source: Preferences
  /// The history that the workload moves from, nil where that is the array.
  private let history: PayloadHistory<Note>?

  init(_ workload: String) throws {
    self.workload = workload
    let directory = try TemporaryDirectory(inMemory: true)
    self.directory = directory
    source = try Preferences(
      domain: "old", directory: directory.url,
      environment: Preferences.Environment(
        appID: "old", variables: ["HOME": directory.url.filePath]))
    history =
      workload == "history" ? try PayloadHistory("notes", limit: Note.limit, in: source) : nil
  }

  /// The table that the workload moves from, nil where that is none.
  private var table: URL? { workload == "table" ? directory.file("drafts.csv") : nil }

  /// The texts of the source.
  var left: [String] {
    if let table {
      let lines = (try? String(contentsOf: table, encoding: .utf8))?.split(separator: "\n") ?? []
      return lines.dropFirst().map { String($0) }
    }
    return history?.items.map(\.text) ?? source.stringArray(forKey: "drafts") ?? []
  }

  func add(_ texts: [String]) throws {
    if let table {
      let lines = ["text"] + left + texts
      try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: table, options: .atomic)
      return
    }
    guard let history else { return source.set(left + texts, forKey: "drafts") }
    try history.prepend(contentsOf: texts.map { Note(text: $0) })
  }

  /// The texts of the destination, as often as they are there, as a new process sees them.
  func moved() throws -> [String] {
    let worker = try worker("dump")
    let lines = worker.rest()
    #expect(worker.finish() == 0, "\(lines.suffix(2))")
    return lines
  }

  /// - Parameter launcher: A program that is given the worker's command line.
  func worker(_ arguments: String..., launcher: [String] = []) throws -> WorkerProcess {
    let program = try WorkerProcess.program("TransferWorker")
    return try WorkerProcess(launcher + [program, directory.url.filePath, workload] + arguments)
  }
}
