import EvolveKit
import ExampleSupport
import Foundation
import SwiftData

/// The life of a store, step by step: made by the first version, opened by the newest.
struct Tour {
  let store: PackageStore
  let report = Report()

  func run(copies: Int) throws {
    let before = try store.exists ? nil : make(copies)
    report.title("Dry run")
    if let migration = try report.step("open a copy", dryRun) {
      print(migration)
      try migrate()
    }
    report.title("Open")
    let container = try report.step("open") {
      let container = try store.open()
      let isSame = container.migrations.isEmpty
      return (container, isSame ? "nothing is to be done" : "\(container.migrations)")
    }
    try query(ModelContext(container), before)
    try checkLock()
  }

  /// What the first version of the app did.
  private func make(_ copies: Int) throws -> Totals {
    report.title("Version 1")
    var records: [PackageRecord] = []
    // Twice, since nothing in the first version keeps a name from coming again.
    for source in [PackageSource.ofThisMachine, .before] {
      records += try report.step("read \(source)") {
        let records = try source.records()
        return (records, "\(records.count) packages")
      }
    }
    let context = try report.step("insert and save") {
      let context = ModelContext(try store.makeFirst(records, copies: copies))
      return (context, "\(try context.fetchCount(FetchDescriptor<V1.Package>())) rows")
    }
    return try report.step("add up the newest of each name") {
      let totals = try Totals(first: context)
      return (totals, "\(totals)")
    }
  }

  private func dryRun() throws -> (StoreMigration?, String) {
    let migration = try store.dryRun()
    return (migration, migration == nil ? "nothing is to be done" : "the store would change")
  }

  private func migrate() throws {
    report.title("Migration")
    let progress = ProgressReport(report)
    let container = try store.open { progress.note($0) }
    progress.end()
    for migration in container.migrations {
      print("\nStages: \(migration.stages.map(\.name).joined(separator: ", "))")
      for count in migration.counts {
        let (before, after) = (count.before ?? 0, count.after ?? 0)
        print("\(count.entity): \(before) before, \(after) afterwards")
      }
      guard let backup = migration.backup else { continue }
      let size = try backup.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
      print("The store as it was: \(backup.path), \(size / 1_024) KiB")
    }
  }

  // MARK: The newest version

  private func query(_ context: ModelContext, _ before: Totals?) throws {
    report.title("Version 6")
    try report.step("add up") {
      let totals = try Totals(newest: context)
      guard let before else { return ((), "\(totals)") }
      guard totals == before else { throw Difference(before: before, after: totals) }
      return ((), "\(totals), as before, and all values are the same")
    }
    try report.step("sum of installedSize, in SQL") {
      ((), "\(try context.sum(of: \Package.installedSize)) KiB")
    }
    try report.step("packages of the section misc") {
      ((), "\(try context.count(Package.self, where: #Predicate { $0.section == "misc" }))")
    }
    try report.step("versions with an epoch, by a part of the version") {
      let count = try context.count(
        Package.self, where: #Predicate { ($0.version.epoch ?? 0) > 0 })
      return ((), "\(count)")
    }
    let busiest = try report.step("maintainers with their packages") {
      let maintainers = try context.fetch(FetchDescriptor<Maintainer>())
      let sorted = maintainers.sorted { $0.packages.count > $1.packages.count }
      return (sorted.prefix(3), "\(maintainers.count)")
    }
    for maintainer in busiest { report.row(maintainer.packages.count, maintainer.name) }
  }

  private struct Difference: Error, CustomStringConvertible {
    let before: Totals
    let after: Totals

    var description: String { "The store had \(before), and now it has \(after)." }
  }

  // MARK: The lock

  private func checkLock() throws {
    guard let lock = PackageStore.lock else { return }
    report.title("Lock of the schemas")
    try SchemaLock.check(PackagePlan.self, against: lock)
    print("\(lock.lastPathComponent): each version is as it was shipped.")
    do {
      try SchemaLock.check(EditedPlan.self, against: lock)
    } catch let error as SwiftDataError {
      print("With an edited version 1 the check throws:\n  \(error.message)")
    }
  }
}
