import Foundation
import SteadTestSupport
import SwiftData
import Testing
import WorkerModels

@Suite("Stores that cannot be written", .serialized) struct ReadOnlyStoreTests {
  /// What lies beside the store's file.
  enum Left: String, CaseIterable, Sendable { case nothing, log, logAndIndex }

  /// Saves a group in a process that is killed, which leaves the log, or that ends.
  private func fill(_ url: URL, _ left: Left) throws {
    if left == .nothing {
      let context = ModelContext(try openLedgers(at: url))
      context.insert(Ledger(number: 1, writer: "test", amounts: [1, 2]))
      try context.save()
    } else {
      let worker = try Worker(url, "write", "worker", "1", "100000")
      #expect(worker.number() == 1)
      worker.end()
      if left == .log { try FileManager.default.removeItem(atPath: url.path + "-shm") }
    }
  }

  private func readOnly(_ url: URL) throws -> ModelContainer {
    try ModelContainer(
      for: Ledger.self, Entry.self,
      configurations: ModelConfiguration(url: url, allowsSave: false))
  }

  @Test(.needs(.smallDisk), arguments: Left.allCases)
  func
    `a store on a file system that is mounted read-only is read, and a save says why it is refused`(
      left: Left
    ) throws
  {
    let disk = try SmallDisk(byteCount: 32 << 20)
    let url = disk.directory.file("test.store")
    try fill(url, left)
    let before = try disk.directory.names.sorted()
    try disk.makeReadOnly()
    do {
      let context = ModelContext(try readOnly(url))
      let ledgers = try context.all(Ledger.self)
      #expect(ledgers.count >= 1 && ledgers.allSatisfy { $0.isWhole })
      #expect(try context.container.check().isSound)
      ledgers[0].writer = "other"
      let error = try #require(throws: SwiftDataError.self) { try context.save() }
      #expect(error.code == .readOnlyStore)
      #expect(error.message.contains("mounted read-only"), "\(error)")
    }
    #expect(try disk.directory.names.sorted() == before)
    // Opened for writing it is refused, or each save is: where the log's index exists SQLite opens it.
    #expect(throws: SwiftDataError.self) {
      let context = ModelContext(try openLedgers(at: url))
      context.insert(Ledger(number: 1_000_000, writer: "test", amounts: [1]))
      try context.save()
    }
  }

  @Test(
    .needs(
      Requirement(
        otherUser != nil,
        orElse: "other users cannot run the worker: build in a directory that they can reach")),
    arguments: Left.allCases, [false, true])
  func
    `a store of another user, in a directory of theirs, is read, and a save says why it is refused`(
      left: Left, isDirectoryWritable: Bool
    ) throws
  {
    let launcher = try #require(otherUser)
    let directory = try TemporaryDirectory()
    let url = directory.file("test.store")
    try fill(url, left)
    for name in try directory.names { try directory.file(name).setMode(0o444) }
    try directory.url.setMode(isDirectoryWritable ? 0o777 : 0o555)
    defer { try? directory.url.setMode(0o755) }
    let worker = try WorkerProcess(
      launcher + [WorkerProcess.program("StoreWorker"), url.filePath, "read"])
    let count = try #require(worker.line().flatMap { Int($0) })
    #expect(count >= 1)
    let refusal = try #require(worker.line())
    #expect(refusal.contains("readOnlyStore") && refusal.contains("may not write"), "\(refusal)")
    // Its end removes the copy that it may have made.
    worker.endInput()
    #expect(worker.finish() == 0)
  }
}

/// What to begin a command line with for a user who is not the superuser; nil when there is no way.
private let otherUser: [String]? = {
  guard getuid() == 0 else { return [] }
  let launcher = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
  guard let url = try? StoreFile().url else { return nil }
  let worker = try? WorkerProcess(
    launcher + [WorkerProcess.program("StoreWorker"), url.filePath, "ready"])
  return worker?.line() == "ready" ? launcher : nil
}()
