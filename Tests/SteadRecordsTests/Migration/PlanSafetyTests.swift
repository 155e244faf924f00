import Foundation
import RecordsTestSupport
import SteadTestSupport
import SwiftData
import Testing
import WorkerModels

@testable import SteadRecords

/// What a migration plan leaves of a store when it fails, and what it tells.
@Suite(.serialized) struct PlanSafetyTests {
  private let file: RecordsTestSupport.StoreFile

  init() throws {
    file = try RecordsTestSupport.StoreFile()
    try ParcelPlan.makeStore(at: file.url, codes: 10, labels: 3)
  }

  /// The bytes of every file beside the store, and of the store.
  private func bytes() throws -> [String: Data] {
    let files = FileManager.default
    var result: [String: Data] = [:]
    for name in try files.subpathsOfDirectory(atPath: file.directory.path) {
      let url = file.directory.appending(path: name)
      // SQLite's index of the log says nothing about the store.
      if name.hasSuffix("-shm") { continue }
      guard (try? url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true else {
        continue
      }
      let data = try Data(contentsOf: url)
      if name.hasSuffix("-wal"), data.isEmpty { continue }
      result[name] = data
    }
    return result
  }

  private func open(_ plan: any SchemaMigrationPlan.Type) throws -> ModelContainer {
    try ModelContainer(
      for: Schema(versionedSchema: ParcelsV2.self), migrationPlan: plan,
      configurations: ModelConfiguration(url: file.url))
  }

  // MARK: Failures

  @Test(arguments: FailingParcelPlan.Place.allCases)
  func `a stage that fails leaves every file as it was`(place: FailingParcelPlan.Place) throws {
    let before = try bytes()
    FailingParcelPlan.place.withLock { $0 = place }
    let error = try #require(throws: SwiftDataError.self) { try open(FailingParcelPlan.self) }
    #expect(error.message.contains("ParcelsV1 to ParcelsV2"))
    #expect(try bytes() == before)
  }

  @Test func `a store with a log stays as it is too`() throws {
    let container = try ModelContainer(
      for: Schema(versionedSchema: ParcelsV1.self),
      configurations: ModelConfiguration(url: file.url))
    let context = ModelContext(container)
    context.insert(ParcelsV1.Parcel(code: "new", grams: 1, sender: "s"))
    try context.save()
    let before = try bytes()
    #expect(before.keys.contains("test.store-wal"))
    FailingParcelPlan.place.withLock { $0 = .didMigrate }
    #expect(throws: SwiftDataError.self) { try open(FailingParcelPlan.self) }
    #expect(try bytes() == before)
    withExtendedLifetime(context) {}
  }

  /// Each step in turn stops the migration.
  @Test func `whoever is told of progress may stop it`() throws {
    let before = try bytes()
    var steps: [MigrationProgress] = []
    for stop in 1...100 {
      steps = []
      do {
        _ = try ParcelPlan.open(file.url) { step in
          steps.append(step)
          if steps.count == stop { throw CancellationError() }
        }
        break
      } catch is CancellationError {
        #expect(try bytes().filter { !$0.key.contains(".backup") } == before, "step \(stop)")
      }
    }
    var phases: [MigrationProgress.Phase] = []
    for step in steps where phases.last != step.phase { phases.append(step.phase) }
    #expect(
      phases == [
        .copying, .counting, .willMigrate, .changing, .didMigrate, .counting, .copying, .replacing,
      ])
    #expect(Set(steps.map(\.stage)) == [0, 1] && Set(steps.map(\.stages)) == [1])
    #expect(try migratedCodes() == 10)
  }

  @Test func `a task that is cancelled stops its migration`() async throws {
    let (before, url) = (try bytes(), file.url)
    let task = Task {
      try ParcelPlan.open(url) { step in
        if step.phase == .didMigrate { withUnsafeCurrentTask { $0?.cancel() } }
      }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try bytes() == before)
  }

  // MARK: Success

  private func migratedCodes() throws -> Int {
    try ModelContext(ParcelPlan.open(file.url)).fetchCount(FetchDescriptor<ParcelsV2.Parcel>())
  }

  @Test func `a plan converts, splits and removes duplicates`() throws {
    let container = try ParcelPlan.open(file.url)
    let parcels = try ModelContext(container).fetch(
      FetchDescriptor<ParcelsV2.Parcel>(sortBy: [SortDescriptor(\.kilograms)]))
    #expect(parcels.map(\.code) == (0..<10).map { "c\($0)" })
    #expect(parcels.map(\.kilograms) == (0..<10).map { Double($0) / 1000 })
    #expect(parcels.map { $0.sender?.name } == (0..<10).map { "s\($0 % 7)" })
    #expect(parcels.prefix(4).map { $0.label?.count } == [200_000, 150_000, 200_000, nil])
    let migration = try #require(container.migrations.first)
    #expect(
      container.migrations.count == 1 && migration.stages.map(\.name) == ["ParcelsV1 to ParcelsV2"])
    #expect(
      migration.counts == [
        .init(entity: "Parcel", before: 20, after: 10),
        .init(entity: "Sender", before: nil, after: 2 + 5),
      ])
    #expect(migration.description.contains("Parcel: 20 before, 10 afterwards."))
    #expect(try ParcelPlan.open(file.url).migrations.isEmpty)
  }

  /// The large values of the store that was are in the backup, though some have gone from the store.
  @Test func `the backup is a store of its own`() throws {
    let container = try ParcelPlan.open(file.url)
    let backup = try #require(container.migrations.first?.backup)
    let old = try ModelContainer(
      for: Schema(versionedSchema: ParcelsV1.self), configurations: ModelConfiguration(url: backup))
    let parcels = try ModelContext(old).fetch(
      FetchDescriptor<ParcelsV1.Parcel>(sortBy: [SortDescriptor(\.grams)]))
    #expect(parcels.map(\.grams) == Array(0..<20))
    #expect(
      parcels.prefix(3).map { $0.label } == (0..<3).map { Data(repeating: $0, count: 150_000) })
    let names = try FileManager.default.contentsOfDirectory(atPath: file.directory.path)
    #expect(!names.contains { $0.contains("migrating") || $0.contains("-new") })
    // Values that no object has any more are gone from the store's files.
    let blobs = file.directory.appending(path: ".test.store_external").path
    #expect(try FileManager.default.contentsOfDirectory(atPath: blobs).count == 3)
  }

  // MARK: Dry run

  @Test func `a dry run tells what would change and changes nothing`() throws {
    let before = try bytes()
    let configurations = [ModelConfiguration(url: file.url)]
    let migrations = try ModelContainer.dryRun(
      for: Schema(versionedSchema: ParcelsV2.self), migrationPlan: ParcelPlan.self,
      configurations: configurations)
    let migration = try #require(migrations.first)
    #expect(migration.counts.first == .init(entity: "Parcel", before: 20, after: 10))
    #expect(migration.difference.description.contains("Parcel.grams is gone"))
    #expect(migration.backup == nil && migration.stages.count == 1)
    #expect(try bytes() == before)
    // Without a plan, and for a store that is as its models are.
    let light = try ModelContainer.dryRun(
      for: Schema(LooseParcel.models), configurations: configurations)
    #expect(light.first?.counts == [.init(entity: "Parcel", before: 20, after: 20)])
    #expect(try bytes() == before)
    let same = try ModelContainer.dryRun(
      for: Schema(versionedSchema: ParcelsV1.self), configurations: configurations)
    #expect(same.isEmpty)
  }

  @Test func `a dry run of one of two stores knows the models of both`() throws {
    let configurations = [
      ModelConfiguration(
        "looks", schema: Schema([DryRunLook.self]), url: file.directory.appending(path: "looks")),
      ModelConfiguration("names", url: file.directory.appending(path: "names")),
    ]
    let schema = Schema([DryRunLook.self, DryRunName.self])
    _ = try ModelContainer(for: schema, configurations: configurations)
    let same = try ModelContainer.dryRun(for: schema, configurations: configurations)
    #expect(same.isEmpty)
    let fewer = try ModelContainer.dryRun(
      for: Schema([DryRunLook.self]), configurations: configurations)
    #expect(fewer.count == 2)
  }

  /// In a process of its own, in which no other test opens containers.
  @Test(.exitTests) func `what is opened for a moment is not the current container`() async {
    await #expect(processExitsWith: .success) {
      let file = try RecordsTestSupport.StoreFile()
      try ParcelPlan.makeStore(at: file.url, codes: 10, labels: 3)
      let schema = Schema(LooseParcel.models)
      let open = try ModelContainer(
        for: schema, configurations: ModelConfiguration(url: file.directory.appending(path: "app")))
      _ = try ModelContainer.dryRun(
        for: schema, configurations: [ModelConfiguration(url: file.url)])
      #expect(ModelContainer.current === open)
      // Its stages open containers, too.
      _ = try ModelContainer.dryRun(
        for: Schema(versionedSchema: ParcelsV2.self), migrationPlan: ParcelPlan.self,
        configurations: [ModelConfiguration(url: file.url)])
      #expect(ModelContainer.current === open)
      let store = try DefaultStore(
        ModelConfiguration(schema: schema, url: file.directory.appending(path: "own")),
        migrationPlan: nil)
      #expect(ModelContainer.current === open)
      withExtendedLifetime((open, store)) {}
    }
  }

  @Test func `a dry run throws what opening would`() throws {
    let before = try bytes()
    #expect(throws: SwiftDataError.loadIssueModelContainer) {
      try ModelContainer.dryRun(
        for: Schema(versionedSchema: ParcelsV2.self),
        configurations: [ModelConfiguration(url: file.url)])
    }
    #expect(try bytes() == before)
  }

  // MARK: What stages have to see to

  @Test func `a custom stage must look at what it drops`() throws {
    let before = try bytes()
    let error = try #require(throws: SwiftDataError.self) { try open(CarelessPlan.self) }
    #expect(error.message.contains("Parcel.grams (20)"))
    #expect(!error.message.contains("Parcel.code"))
    #expect(try bytes() == before)
    let container = try ModelContainer(
      for: Schema(versionedSchema: NotedParcel.self), migrationPlan: DiscardingPlan.self,
      configurations: ModelConfiguration(url: file.url))
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<NotedParcel.Parcel>()) == 20)
  }

  /// A property that went without anything new beside it was refused in a custom stage, although a lightweight one drops it.
  @Test func `a custom stage that adds nothing drops what is gone, and the backup has it`() throws {
    let container = try ModelContainer(
      for: Schema(versionedSchema: LooseParcel.self), migrationPlan: PlainPlan.self,
      configurations: ModelConfiguration(url: file.url))
    let parcels = try ModelContext(container).fetch(FetchDescriptor<LooseParcel.Parcel>())
    #expect(parcels.count == 20 && parcels.allSatisfy { $0.code.hasSuffix("!") })
    let migration = try #require(container.migrations.first)
    #expect(migration.difference.description.contains("Parcel.grams is gone"))
    let backup = try ModelContainer(
      for: Schema(versionedSchema: ParcelsV1.self),
      configurations: ModelConfiguration(url: try #require(migration.backup)))
    let old = try ModelContext(backup).fetch(FetchDescriptor<ParcelsV1.Parcel>())
    #expect(old.count == 20 && old.allSatisfy { !$0.sender.isEmpty })
  }

  @Test func `a custom stage must set what is required`() throws {
    let before = try bytes()
    ForgetfulPlan.sets.withLock { $0 = false }
    let open = {
      try ModelContainer(
        for: Schema(versionedSchema: StampedParcel.self), migrationPlan: ForgetfulPlan.self,
        configurations: ModelConfiguration(url: file.url))
    }
    let error = try #require(throws: SwiftDataError.self) { try open() }
    #expect(error.message.contains("Parcel.stamp in rows 1, 2, 3"))
    #expect(try bytes() == before)
    ForgetfulPlan.sets.withLock { $0 = true }
    let parcels = try ModelContext(open()).fetch(FetchDescriptor<StampedParcel.Parcel>())
    #expect(Set(parcels.map(\.stamp)) == ["stamped"])
  }

  /// `didMigrate` could not fetch objects whose new property was a Codable value, an enum or external data: NULL was
  /// refused as damage, and so a property could not become one of these under its name.
  @Test func `a custom stage may set required properties of every type`() throws {
    let before = try bytes()
    let open = {
      try ModelContainer(
        for: Schema(versionedSchema: TypedParcel.self), migrationPlan: TypedParcelPlan.self,
        configurations: ModelConfiguration(url: file.url))
    }
    TypedParcelPlan.setsSizes.withLock { $0 = false }
    let error = try #require(throws: SwiftDataError.self) { try open() }
    #expect(error.message.contains("Parcel.size in rows 1, 2, 3"))
    #expect(!error.message.contains("Parcel.grams"))
    #expect(try bytes() == before)
    TypedParcelPlan.setsSizes.withLock { $0 = true }
    let container = try open()
    let parcels = try ModelContext(container).fetch(
      FetchDescriptor<TypedParcel.Parcel>(sortBy: [SortDescriptor(\.grams.grams)]))
    #expect(parcels.map(\.grams.grams) == Array(0..<20))
    #expect(parcels.map(\.size) == (0..<20).map { $0 < 10 ? .small : .large })
    #expect(parcels.map(\.label) == (0..<20).map { Data([$0]) })
    #expect(Set(parcels.map(\.days.count)) == [1])
    let text = try #require(container.migrations.first).description
    #expect(text.contains("Parcel.grams was a required Int and is a required Weight."))
    #expect(!text.contains("Convert it") && !text.contains("must have no rows"))
  }

  // MARK: Others who have the store open

  @Test func `a container is told when its store was migrated`() throws {
    let old = try ModelContainer(
      for: Schema(versionedSchema: ParcelsV1.self),
      configurations: ModelConfiguration(url: file.url))
    let context = ModelContext(old)
    let parcel = ParcelsV1.Parcel(code: "late", grams: 5, sender: "s")
    context.insert(parcel)
    _ = try ParcelPlan.open(file.url)
    let saving = try #require(throws: SwiftDataError.self) { try context.save() }
    #expect(saving.code == SwiftDataError.unknownSchema.code)
    #expect(saving.message.contains("Parcel.grams is gone"))
    // It said that this "has no default value, so there may be no rows". The store keeps no default values.
    #expect(saving.message.contains("Parcel.kilograms, a required Double, is new."))
    #expect(!saving.message.contains("default value"))
    #expect(context.hasChanges)
    let fetching = try #require(throws: SwiftDataError.self) {
      try ModelContext(old).fetch(FetchDescriptor<ParcelsV1.Parcel>())
    }
    #expect(fetching.code == SwiftDataError.unknownSchema.code)
    #expect(try migratedCodes() == 10)
  }

  @Test func `what another program wrote meanwhile is noticed`() throws {
    let source = try MigrationSource(StoreFile(ModelConfiguration(url: file.url)))
    #expect(try source.isUnchanged())
    source.unlock()
    let container = try ModelContainer(
      for: Schema(versionedSchema: ParcelsV1.self),
      configurations: ModelConfiguration(url: file.url))
    #expect(try source.isUnchanged())
    let context = ModelContext(container)
    context.insert(ParcelsV1.Parcel(code: "late", grams: 5, sender: "s"))
    try context.save()
    #expect(try !source.isUnchanged())
  }
}

@Model private final class DryRunLook {
  var color = ""
  init() {}
}

@Model private final class DryRunName {
  var text = ""
  init() {}
}
