import Foundation
import SteadPreferences
import Testing

/// A directory with the stores of a workload of the TransferWorker.
struct TransferPlace {
  let workload: String
  let directory: TemporaryDirectory
  let source: Preferences

  init(_ workload: String) throws {
    self.workload = workload
    let directory = try TemporaryDirectory(inMemory: true)
    self.directory = directory
    source = try Preferences(
      domain: "old", directory: directory.url,
      environment: Preferences.Environment(
        appID: "old", variables: ["HOME": directory.url.filePath]))
  }

  /// The texts of the source.
  var left: [String] {
    get { source.stringArray(forKey: "drafts") ?? [] }
    nonmutating set { source.set(newValue, forKey: "drafts") }
  }

  /// The texts of the destination, as often as they are there, as a new process sees them.
  func moved() throws -> [String] {
    let worker = try worker("dump")
    let lines = worker.rest()
    #expect(worker.finish() == 0, "\(lines.suffix(2))")
    return lines
  }

  func worker(_ arguments: String...) throws -> WorkerProcess {
    try WorkerProcess(
      [try WorkerProcess.program("TransferWorker"), directory.url.filePath, workload] + arguments)
  }
}
