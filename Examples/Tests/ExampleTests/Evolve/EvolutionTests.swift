import EvolveKit
import ExampleSupport
import ExampleTestSupport
import Foundation
import SwiftData
import Testing

/// The app as it was when a version was its newest.
private enum Shipped<Newest: VersionedSchema>: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] {
    PackagePlan.schemas.filter { $0.versionIdentifier <= Newest.versionIdentifier }
  }
  static var stages: [MigrationStage] { Array(PackagePlan.stages.prefix(schemas.count - 1)) }
}

@Suite struct EvolutionTests {
  private let workshop: Workshop
  private let store: PackageStore

  init() throws {
    workshop = try Workshop()
    store = PackageStore(url: workshop.file("packages.store"))
  }

  private static let status = """
    Package: one
    Section: libs
    Installed-Size: 12
    Maintainer: The Team <team@example.org>
    Version: 1:1.0-9
    Description: the first

    Package: two
    Section: misc
    Installed-Size: 20
    Maintainer: Ann <ann@example.org>
    Version: 3.0

    Package: one
    Section: libs
    Installed-Size: 50
    Maintainer: The Team <team@example.org>
    Version: 1:1.0-10
    Description: the first, again

    Package: one
    Installed-Size: 99
    Maintainer: Zoe <zoe@example.org>
    Version: 2.0-1

    Package: three
    Installed-Size: 7
    Maintainer: A Team <team@example.org>
    Version: 0.1~rc1
    """

  private func makeFirst() throws -> Totals {
    let records = DebianStatus.parse(Self.status)
    return try Totals(first: ModelContext(store.makeFirst(records)))
  }

  private let shipped: [any SchemaMigrationPlan.Type] = [
    Shipped<V1>.self, Shipped<V2>.self, Shipped<V3>.self, Shipped<V4>.self, Shipped<V5>.self,
    Shipped<V6>.self,
  ]

  @Test(arguments: 1...6)
  func `a store of each version goes to the newest`(version: Int) throws {
    let before = try makeFirst()
    _ = try ModelContainer(
      for: Schema(versionedSchema: PackagePlan.schemas[version - 1]),
      migrationPlan: shipped[version - 1], configurations: ModelConfiguration(url: store.url))

    let container = try store.open()
    #expect(container.migrations.first?.stages.count ?? 0 == 6 - version)
    let context = ModelContext(container)
    #expect(try Totals(newest: context) == before)
    let packages = try context.fetch(
      FetchDescriptor<Package>(sortBy: [SortDescriptor(\.name, comparator: .lexical)]))
    #expect(packages.map(\.name) == ["one", "three", "two"])
    #expect(packages.map(\.version.description) == ["1:1.0-10", "0.1~rc1", "3.0"])
    #expect(packages.map(\.version.epoch) == [1, nil, nil])
    #expect(packages.map(\.installedSize) == [50, 7, 20])
    #expect(packages.map(\.section) == ["libs", "misc", "misc"])
    #expect(packages.map(\.isHeld) == [false, false, false])
    let team = try #require(packages.first?.maintainer)
    #expect(team === packages[1].maintainer && team.packages.count == 2)
    #expect(try store.open().migrations.isEmpty)
  }

  @Test func `a dry run says what opening does`() throws {
    _ = try makeFirst()
    let expected = try #require(try store.dryRun())
    let container = try store.open()
    let migration = try #require(container.migrations.first)
    #expect(migration.stages.map(\.name) == expected.stages.map(\.name))
    #expect(migration.counts == expected.counts)
    #expect(migration.counts.map(\.entity) == ["Maintainer", "Package"])
    #expect(migration.counts.map(\.before) == [nil, 5])
    #expect(migration.counts.map(\.after) == [3, 3])
    #expect(try store.dryRun() == nil)
  }

  @Test func `the backup is the store of the first version`() throws {
    let before = try makeFirst()
    let backup = try #require(try store.open().migrations.first?.backup)
    let container = try ModelContainer(
      for: Schema(versionedSchema: V1.self), configurations: ModelConfiguration(url: backup))
    #expect(try Totals(first: ModelContext(container)) == before)
  }

  // MARK: The lock

  @Test func `shipped schemas stay as they are`() throws {
    try SchemaLock.check(PackagePlan.self, against: #require(PackageStore.lock))
  }

  @Test func `an edited schema is found`() throws {
    let lock = try #require(PackageStore.lock)
    let error = try #require(throws: SwiftDataError.unknownSchema) {
      try SchemaLock.check(EditedPlan.self, against: lock)
    }
    #expect(error.message.contains("EditedV1, version 1.0.0, was shipped and then edited"))
    #expect(error.message.contains("Package.homepage") && error.message.contains("Package.size"))
  }

  // MARK: The program

  @Test func `the program has nothing to do in its second run`() throws {
    let program = try Workshop.program("evolve")
    let first = try workshop.succeed(program, workshop.directory.path)
    #expect(first.contains("as before, and all values are the same"))
    #expect(first.contains("stage 5 of 5"))
    #expect(workshop.has("packages.store.backup"))
    let second = try workshop.succeed(program, workshop.directory.path)
    #expect(second.contains("nothing is to be done"))
    #expect(!second.contains("stage 1 of"))
  }
}
