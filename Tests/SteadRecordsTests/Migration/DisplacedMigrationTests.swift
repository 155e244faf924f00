import Foundation
import RecordsTestSupport
import SteadTestSupport
import SwiftData
import Testing
import WorkerModels

/// A backup was put in a store's place while that was migrated. The migrated content replaced it, or was written to its log. Later,
/// the migration was refused, but had removed large values of the other store, and its copy had replaced the backup of an earlier
/// migration.
struct DisplacedMigrationTests {
  enum Fate: CaseIterable { case moved, replaced }

  enum Way: CaseIterable {
    case plan, automatically

    func open(_ url: URL, _ report: @escaping MigrationProgress.Report) throws {
      switch self {
      case .plan: _ = try ParcelPlan.open(url, report)
      case .automatically:
        _ = try ModelContainer(
          for: Schema([SlimParcels.Parcel.self]), migrationPlan: nil,
          configurations: [ModelConfiguration(url: url)], migrationProgress: report)
      }
    }
  }

  private static let directory = ".test.store_external"
  private static let store = ["test.store", "test.store-wal", "test.store-shm", directory]
  private static let oldBackup = Data("older".utf8)

  /// The directory of a store of the first version, which needs no log.
  private func makeStore(codes: Int, labels: Int) throws -> URL {
    let file = try RecordsTestSupport.StoreFile()
    try ParcelPlan.makeStore(at: file.url, codes: codes, labels: labels)
    return file.directory
  }

  private func move(from directory: URL, to other: URL, copies: Bool = false) throws {
    let files = FileManager.default
    for name in try files.contentsOfDirectory(atPath: directory.path)
    where Self.store.contains(name) {
      let (old, new) = (directory.file(name), other.file(name))
      if copies {
        try files.copyItem(at: old, to: new)
      } else {
        try files.moveItem(at: old, to: new)
      }
    }
  }

  /// The store's files with anything in them, but for the index of the log.
  private func content(of directory: URL) throws -> [String: Data] {
    var found: [String: Data] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: directory.path) {
      let first = name.split(separator: "/")[0]
      guard Self.store.contains(String(first)), !name.hasSuffix("-shm") else { continue }
      let data = try? Data(contentsOf: directory.file(name))
      if let data, !data.isEmpty { found[name] = data }
    }
    return found
  }

  /// All of its files are moved, or others put there, at each step in turn. The stores have some large values alike.
  @Test(arguments: Way.allCases, Fate.allCases)
  func `a store that is not at its path any more is not migrated`(way: Way, fate: Fate) throws {
    let before = try makeStore(codes: 10, labels: 4)
    let other = try makeStore(codes: 4, labels: 6)
    let expected = fate == .replaced ? try content(of: other) : [:]
    var isDone = false
    for stop in 1...100 where !isDone {
      let (file, away) = (try RecordsTestSupport.StoreFile(), try TestFiles.directory())
      try move(from: before, to: file.directory, copies: true)
      let backup = file.directory.file("test.store.backup")
      try Self.oldBackup.write(to: backup)
      var steps = 0
      do {
        try way.open(file.url) { _ in
          steps += 1
          guard steps == stop else { return }
          try move(from: file.directory, to: away)
          if fate == .replaced { try move(from: other, to: file.directory, copies: true) }
        }
        #expect(steps < stop, "step \(stop)")
        isDone = true
      } catch let error as SwiftDataError {
        #expect(steps >= stop, "step \(stop): \(error)")
        #expect(error.message.contains("replaced or moved away"), "step \(stop): \(error)")
        #expect(try content(of: file.directory) == expected, "step \(stop)")
        try checkBackup(at: backup, "step \(stop)")
        try checkStore(of: file, in: away, from: before, "step \(stop)")
      }
    }
    #expect(isDone)
  }

  /// The backup is that of an earlier migration, or a whole one of the store.
  private func checkBackup(at url: URL, _ step: Comment) throws {
    if try Data(contentsOf: url) == Self.oldBackup { return }
    let container = try ModelContainer(
      for: Schema(versionedSchema: ParcelsV1.self), configurations: ModelConfiguration(url: url))
    let count = try ModelContext(container).fetchCount(FetchDescriptor<ParcelsV1.Parcel>())
    #expect(count == 20, step)
    #expect(try container.check().problems.isEmpty, step)
  }

  /// The store that was moved away is as it was, but for files that no row names, and is migrated once it is back.
  private func checkStore(
    of file: RecordsTestSupport.StoreFile, in away: URL, from before: URL, _ step: Comment
  ) throws {
    let left = try content(of: away)
    for (name, data) in try content(of: before) { #expect(left[name] == data, step) }
    for name in Self.store { try? FileManager.default.removeItem(at: file.directory.file(name)) }
    try move(from: away, to: file.directory)
    let container = try ParcelPlan.open(file.url)
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<ParcelsV2.Parcel>()) == 10)
    #expect(try container.check().problems.isEmpty, step)
  }
}
