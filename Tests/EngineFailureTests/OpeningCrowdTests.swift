import SteadSQLite
import WorkerModels

/// Of three programs that created one store at once, one failed in a few of a hundred runs: "Another process has kept the
/// store locked for 60 seconds", after a millisecond. SQLite takes the write lock within a read to have a file use a
/// log, and then waits for nobody.
@Suite("Programs that create one store at the same time") struct OpeningCrowdTests {
  private let file: RecordsTestSupport.StoreFile

  init() throws { file = try RecordsTestSupport.StoreFile() }

  private func worker(_ arguments: String...) throws -> WorkerProcess {
    try WorkerProcess(
      [WorkerProcess.program("StoreWorker"), file.url.filePath] + arguments)
  }

  /// Whether a worker has ended, or waits with the store open.
  private func isAtLock(_ worker: WorkerProcess) -> Bool {
    let process = "/proc/\(worker.id)"
    guard let status = try? String(contentsOfFile: "\(process)/stat", encoding: .utf8) else {
      return true
    }
    let state = status.split(separator: ")").last?.split(separator: " ").first
    if state == "Z" { return true }
    let files = (try? FileManager.default.contentsOfDirectory(atPath: "\(process)/fd")) ?? []
    let isOpen = files.contains {
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(process)/fd/\($0)"))
        == file.url.filePath
    }
    return isOpen && state == "S"
  }

  @Test(.needs(.program("true")), arguments: 1...3)
  func `programs wait for the one that creates the store`(count: Int) throws {
    // Another program between its first write and its commit.
    let creator = try SQLiteConnection(SQLiteOptions(.file(file.url.filePath)))
    try creator.execute("BEGIN IMMEDIATE")
    let workers = try (0..<count).map { try worker("write", "w\($0)", "\($0 * 10)", "3") }
    while !workers.allSatisfy(isAtLock) { sched_yield() }
    try creator.execute("COMMIT")
    for worker in workers {
      let lines = worker.rest()
      #expect(worker.finish() == 0, "\(lines)")
    }
    let context = ModelContext(try openLedgers(at: file.url))
    #expect(try context.fetchCount(FetchDescriptor<Ledger>()) == count * 3)
  }

  @Test func `programs that create one store at once all write to it`() throws {
    for _ in 0..<Effort.times(3) {
      let place = try OpeningCrowdTests()
      let workers = try (0..<4).map { try place.worker("write", "w\($0)", "\($0 * 10)", "2") }
      for worker in workers {
        let lines = worker.rest()
        #expect(worker.finish() == 0, "\(lines)")
      }
      let context = ModelContext(try openLedgers(at: place.file.url))
      #expect(try context.fetchCount(FetchDescriptor<Ledger>()) == 8)
    }
  }
}
