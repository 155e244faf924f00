import Foundation
import RecordsTestSupport
import SteadSQLite
import SteadTestSupport
import SwiftData
import Testing
import WorkerModels

@testable import SteadRecords

/// Processes that are killed while they migrate a store.
@Suite(.hangLimit) struct MigrationKillTests {
  /// How many processes are killed.
  private static let kills = Effort.times(300)

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
  @Test func aKilledMigrationLeavesTheOldContentOrTheNew() throws {
    let first = try makeStore()
    let old = try Content(first)
    let worker = try Worker(first.url, "migrate")
    let steps = try #require(worker.numbers().last)
    let new = try Content(first)
    try #require(old != new && new.tables["Sender"]?.count == 7 + 2 && steps > 8)
    var random = SplitMix(seed: Effort.seed)
    var seen = (old: 0, new: 0)
    for kill in 0..<Self.kills {
      let store = try makeStore()
      let worker = try Worker(store.url, "migrate")
      // At a step, and then at any moment until the next.
      for _ in 0..<Int.random(in: 0...steps, using: &random) { _ = worker.number() }
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
    #expect(seen.old > 0 && seen.new > 0)
  }

  /// One transaction, with a backup before it, since data is dropped: old or new, and the backup is whole.
  @Test func aKilledMigrationWithoutAPlanLeavesTheOldContentOrTheNew() throws {
    let first = try makeStore()
    let old = try Content(first)
    let clock = ContinuousClock()
    let worker = try Worker(first.url, "slim")
    #expect(worker.line() == "ready")
    let duration = try clock.measure {
      worker.send("go")
      try #require(worker.line() == "done")
    }
    let new = try Content(first, isSlim: true)
    try #require(old != new)
    let time = Int64(duration / .nanoseconds(1))
    // About when a store is the new one.
    var turn = time / 2
    var random = SplitMix(seed: Effort.seed)
    var seen = (old: 0, new: 0, backups: 0)
    for kill in 0..<Effort.times(100) {
      let store = try makeStore()
      let worker = try Worker(store.url, "slim")
      #expect(worker.line() == "ready")
      // Half of them near the commit.
      let moment =
        kill % 2 == 0
        ? Int64.random(in: 0...(time * 5 / 4), using: &random)
        : turn + Int64.random(in: -(time / 10)...(time / 10), using: &random)
      let end = clock.now + .nanoseconds(moment)
      worker.send("go")
      // Any moment: the kill is the test.
      while clock.now < end {}
      worker.end()
      let isSlim = try Content.isSlim(store)
      #expect(try Content(store, isSlim: isSlim) == (isSlim ? new : old), "kill \(kill)")
      let backup = store.url.path + ".backup"
      let isBackedUp = FileManager.default.fileExists(atPath: backup)
      if isSlim { seen.new += 1 } else { seen.old += 1 }
      turn += isSlim ? -time / 50 : time / 50
      if isBackedUp { seen.backups += 1 }
      #expect(isBackedUp || !isSlim, "kill \(kill)")
      if isBackedUp { #expect(try Content(URL(filePath: backup)) == old, "kill \(kill)") }
      let context = ModelContext(try SlimParcels.open(store.url))
      let parcels = try context.fetch(FetchDescriptor<SlimParcels.Parcel>())
      #expect(parcels.count == 80 && parcels.allSatisfy { $0.note == "none" }, "kill \(kill)")
      #expect(try Content(store, isSlim: true) == new, "kill \(kill)")
      #expect(try Content(URL(filePath: backup)) == old, "kill \(kill)")
      let names = try FileManager.default.contentsOfDirectory(atPath: store.directory.path)
      #expect(!names.contains { $0.contains("-new") }, "kill \(kill): \(names)")
      try? FileManager.default.removeItem(at: store.directory)
    }
    #expect(seen.old > 0 && seen.new > 0 && seen.backups > 0, "\(seen)")
  }
}
