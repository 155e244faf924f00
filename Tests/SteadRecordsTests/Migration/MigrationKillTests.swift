import Foundation
import RecordsTestSupport
import SteadSQLite
import SteadTestSupport
import SwiftData
import Testing
import WorkerModels

@testable import SteadRecords

/// Processes that are killed while they migrate a store.
@Suite(.hangLimit, .ownThread) struct MigrationKillTests {
  /// How many processes are killed.
  private static let kills = Effort.times(6, long: 300)

  /// What a store holds: the columns and rows of every table, and the large values.
  private struct Content: Equatable {
    var tables: [String: [[SQLValue]]] = [:]
    var missingValues: [String] = []

    init(_ store: RecordsTestSupport.StoreFile, isSlim: Bool = false) throws {
      try self.init(store.url, isSlim: isSlim)
    }

    /// Whether a store's parcels have followed ``SlimParcels``.
    static func isSlim(_ store: RecordsTestSupport.StoreFile) throws -> Bool {
      let file = SteadRecords.StoreFile(ModelConfiguration(url: store.url))
      return try file.open(writable: false).integer(
        "SELECT 1 FROM pragma_table_xinfo('Parcel') WHERE name = 'weight'") != nil
    }

    /// - Parameter isSlim: Whether the parcels have no large values.
    init(_ url: URL, isSlim: Bool = false) throws {
      let file = SteadRecords.StoreFile(ModelConfiguration(url: url))
      let connection = try file.open(writable: false)
      let names = try connection.rows(
        "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
      for case .text(let name) in names.map({ $0[0] })
      where name.hasPrefix("Parcel") || name == "Sender" {
        let columns = try connection.rows("SELECT name FROM pragma_table_xinfo('\(name)')")
        tables[name] = columns + (try connection.rows("SELECT * FROM \(name) ORDER BY 1"))
      }
      if isSlim { return }
      let blobs = BlobFiles(directory: file.blobDirectory)
      for case .text(let reference) in try connection.rows(
        "SELECT label FROM Parcel WHERE typeof(label) = 'text'"
      ).map({ $0[0] }) where (try? blobs.read(reference)) == nil {
        missingValues.append(reference)
      }
    }
  }

  private func makeStore() throws -> RecordsTestSupport.StoreFile {
    let store = try RecordsTestSupport.StoreFile()
    try ParcelPlan.makeStore(at: store.url, codes: 40, labels: 4)
    return store
  }

  /// Old or new, and never anything between; the next one who opens it migrates it.
  @Test func `a killed migration leaves the old content or the new`() throws {
    let first = try makeStore()
    let old = try Content(first)
    let worker = try Worker(first.url, "migrate")
    worker.endInput()
    let steps = try #require(worker.numbers().last)
    let new = try Content(first)
    try #require(old != new && new.tables["Sender"]?.count == 7 + 2 && steps > 8)
    var random = SplitMix(seed: Effort.seed)
    var seen = (old: 0, new: 0)
    for kill in 0..<Self.kills {
      let store = try makeStore()
      let worker = try Worker(store.url, "migrate")
      // At a step, and then at any moment until the next. The last step is after the migration. The first two
      // kills see both contents, however few kills there are and however slow the disk is.
      let step = kill < 2 ? kill * steps : Int.random(in: 0...steps, using: &random)
      for _ in 0..<step { _ = worker.number() }
      usleep(UInt32.random(in: 0...2_000, using: &random))
      worker.end()
      let content = try Content(store)
      #expect(content == old || content == new, "kill \(kill)")
      #expect(content.missingValues.isEmpty, "kill \(kill)")
      if content == old { seen.old += 1 } else { seen.new += 1 }
      let container = try ParcelPlan.open(store.url)
      #expect(try ModelContext(container).fetchCount(FetchDescriptor<ParcelsV2.Parcel>()) == 40)
      #expect(try Content(store) == new, "kill \(kill)")
      let names = try FileManager.default.contentsOfDirectory(atPath: store.directory.path)
      #expect(!names.contains { $0.contains("migrating") || $0.contains("-new") }, "kill \(kill)")
      try? FileManager.default.removeItem(at: store.directory)
    }
    #expect(seen.old > 0 && seen.new > 0 || !Effort.isRepresentative)
  }

  /// A process that was killed after the replacement left the large values that the new version no longer needed: the next
  /// one removed the copy alone.
  @Test func `the next opening removes what a migration leaves that is killed at its end`() throws {
    let store = try makeStore()
    _ = try ParcelPlan.open(store.url)
    let files = SteadRecords.StoreFile(ModelConfiguration(url: store.url)).blobDirectory
    try Data("old".utf8).write(to: files.file(String(repeating: "a", count: 64)))
    let copy = URL(filePath: store.url.path + StoreCopy.migrationSuffix)
    try Data("copy".utf8).write(to: copy)
    let check = try ParcelPlan.open(store.url).check()
    #expect(check.problems.isEmpty, "\(check)")
    #expect(try Content(store).missingValues.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: copy.path))
  }

  /// The calls that change files.
  private static let calls = [
    "fallocate", "fdatasync", "fsync", "ftruncate", "linkat", "mkdir", "openat", "pwrite64",
    "rename", "renameat2", "unlink", "unlinkat",
  ]
  /// More than a migration makes of any call.
  private static let callLimit = 10_000

  /// One transaction, with a backup before it, since data is dropped: old or new, and the backup is whole.
  @Test(.needs(.tracing))
  func `a migration without a plan leaves the old content or the new, wherever it is killed`()
    throws
  {
    let template = try makeStore()
    let old = try Content(template)
    let first = try copy(of: template)
    let worker = try Worker(first.url, "slim")
    try #require(worker.rest() == ["done"] && worker.finish() == 0)
    let new = try Content(first, isSlim: true)
    try #require(old != new)
    var seen = (old: 0, new: 0, backups: 0)
    for call in Self.calls {
      // In a short run every second call, of which there are many alike.
      let counts = stride(from: 0, to: Self.callLimit, by: Effort.isLong ? 1 : 4)
      let count = try counts.first { count in
        let store = try copy(of: template)
        defer { try? FileManager.default.removeItem(at: store.directory) }
        if try isDone(store, orKilledAt: call, after: count) { return true }
        let kill = "\(call) \(count)"
        let isSlim = try Content.isSlim(store)
        #expect(try Content(store, isSlim: isSlim) == (isSlim ? new : old), "\(kill)")
        let backup = URL(filePath: store.url.path + ".backup")
        let isBackedUp = FileManager.default.fileExists(atPath: backup.path)
        if isSlim { seen.new += 1 } else { seen.old += 1 }
        if isBackedUp { seen.backups += 1 }
        #expect(isBackedUp || !isSlim, "\(kill)")
        if isBackedUp { #expect(try Content(backup) == old, "\(kill)") }
        let parcels = try ModelContext(SlimParcels.open(store.url)).all(SlimParcels.Parcel.self)
        #expect(parcels.count == 80 && parcels.allSatisfy { $0.note == "none" }, "\(kill)")
        #expect(try Content(store, isSlim: true) == new, "\(kill)")
        #expect(try Content(backup) == old, "\(kill)")
        let names = try FileManager.default.contentsOfDirectory(atPath: store.directory.path)
        #expect(!names.contains { $0.contains("-new") }, "\(kill): \(names)")
        return false
      }
      try #require(count != nil, "\(call)")
    }
    #expect(seen.old > 0 && seen.new > 0 && seen.backups > 0, "\(seen)")
  }

  private func copy(
    of store: RecordsTestSupport.StoreFile
  ) throws -> RecordsTestSupport.StoreFile {
    let copy = try RecordsTestSupport.StoreFile()
    for name in try FileManager.default.contentsOfDirectory(atPath: store.directory.path) {
      try FileManager.default.copyItem(
        at: store.directory.appending(path: name), to: copy.directory.appending(path: name))
    }
    return copy
  }

  /// True when the migration comes to its end before that many calls.
  private func isDone(
    _ store: RecordsTestSupport.StoreFile, orKilledAt call: String, after count: Int
  ) throws -> Bool {
    let worker = try WorkerProcess([
      "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)",
      "-e", "inject=\(call):signal=KILL:when=\(count + 1)",
      WorkerProcess.program("StoreWorker"), store.url.filePath, "slim",
    ])
    let lines = worker.rest()
    #expect(lines == ["done"] || lines.isEmpty)
    worker.finish()
    return !lines.isEmpty
  }
}
