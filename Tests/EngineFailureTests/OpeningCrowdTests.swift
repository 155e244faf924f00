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

  /// A program that had found no store, and then waited for the one that made it, took its tables for new ones of its own
  /// models: it recorded these, and added no column.
  @Test(.needs(.program("true")))
  func `a store that another program makes meanwhile is not taken for a new one`() throws {
    let other = try RecordsTestSupport.StoreFile()
    do {
      let container = try ModelContainer(
        for: Elder.Ledger.self, configurations: ModelConfiguration(url: other.url))
      let context = ModelContext(container)
      context.insert(Elder.Ledger(number: 7))
      try context.save()
    }
    let creator = try SQLiteConnection(SQLiteOptions(.file(file.url.filePath)))
    #expect(try creator.useLog())
    try creator.execute("ATTACH '\(other.url.filePath)' AS other")
    try creator.execute("BEGIN IMMEDIATE")
    let worker = try worker("write", "w", "10", "3")
    while !isAtLock(worker) { sched_yield() }
    // What a program with the older models commits.
    let tables = try creator.rows(
      "SELECT name, sql FROM other.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    for case let (.text(name), .text(sql)) in tables.map({ ($0[0], $0[1]) }) {
      try creator.execute(sql)
      try creator.execute("INSERT INTO main.\"\(name)\" SELECT * FROM other.\"\(name)\"")
    }
    for name in ["user_version", "application_id"] {
      let value = try #require(try creator.integer("PRAGMA other.\(name)"))
      try creator.execute("PRAGMA main.\(name) = \(value)")
    }
    try creator.execute("COMMIT")
    // Its models have properties without a default, which no migration can add.
    let lines = worker.rest()
    #expect(worker.finish() != 0)
    #expect(lines.contains { $0.contains("Ledger.writer") }, "\(lines)")
    let container = try ModelContainer(
      for: Elder.Ledger.self, configurations: ModelConfiguration(url: file.url))
    #expect(try ModelContext(container).all(Elder.Ledger.self).map(\.number) == [7])
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

/// The models of an older program.
private enum Elder {
  @Model final class Ledger {
    var number: Int
    init(number: Int) { self.number = number }
  }
}
