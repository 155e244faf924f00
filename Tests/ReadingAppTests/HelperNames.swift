import Foundation
import SwiftData
import Testing

@testable import SteadRecords

// Helpers that apps write on their context. Some once were ambiguous with functions of the same name
// that come with the package.

extension ModelContext {
  fileprivate func count<T: PersistentModel>(
    _ type: T.Type, _ predicate: Predicate<T>? = nil
  ) throws -> Int {
    try fetchCount(FetchDescriptor(predicate: predicate)) + 1000
  }

  fileprivate func count<T: PersistentModel>(of type: T.Type) -> Int { -1 }

  fileprivate func sum<T: PersistentModel>(of path: KeyPath<T, Int>) throws -> Int { 1000 }

  fileprivate func average<T: PersistentModel>(of path: KeyPath<T, Int>) -> Double { 1000 }

  fileprivate func minimum<T: PersistentModel>(of path: KeyPath<T, Int>) -> Int? { 1000 }

  fileprivate func maximum<T: PersistentModel>(of path: KeyPath<T, Int>) -> Int? { 1000 }

  fileprivate func distinct<T: PersistentModel, V: Hashable>(_ path: KeyPath<T, V>) -> [V] { [] }

  fileprivate func first<T: PersistentModel>(
    _ type: T.Type, where predicate: Predicate<T>? = nil
  ) throws -> T? { try fetch(FetchDescriptor(predicate: predicate)).first }

  fileprivate func all<T: PersistentModel>(_ type: T.Type) throws -> [T] {
    try fetch(FetchDescriptor())
  }

  fileprivate func fetchAll<T: PersistentModel>(_ type: T.Type = T.self) throws -> [T] {
    try fetch(FetchDescriptor())
  }

  fileprivate func exists<T: PersistentModel>(
    _ type: T.Type, where predicate: Predicate<T>? = nil
  ) throws -> Bool { try first(type, where: predicate) != nil }

  fileprivate func deleteAll<T: PersistentModel>(_ type: T.Type) throws { try delete(model: type) }

  fileprivate func upsert<T: PersistentModel>(_ model: T) { insert(model) }

  fileprivate func refresh<T: PersistentModel>(_ model: T) -> Bool { true }

  fileprivate func search<T: PersistentModel>(_ type: T.Type, for text: String) -> [T] { [] }

  fileprivate func updates<T: PersistentModel>(of descriptor: FetchDescriptor<T>) -> Int { 1000 }

  fileprivate func sql<T: PersistentModel>(for descriptor: FetchDescriptor<T>) -> String { "" }

  fileprivate var registeredModelCount: Int { -1 }

  fileprivate func saveIfNeeded() throws { if hasChanges { try save() } }
}

@Model final class Crate {
  var name: String
  var count: Int

  init(name: String, count: Int) {
    self.name = name
    self.count = count
  }
}

@Suite struct HelperNames {
  @Test func `helpers of the app win`() throws {
    let container = try ModelContainer(
      for: Crate.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    let crate = Crate(name: "a", count: 2)
    context.upsert(crate)
    try context.saveIfNeeded()
    #expect(try context.count(Crate.self) == 1001)
    #expect(try context.count(Crate.self, #Predicate { $0.count > 2 }) == 1000)
    #expect(context.count(of: Crate.self) == -1)
    #expect(try context.sum(of: \Crate.count) == 1000)
    #expect(context.average(of: \Crate.count) == 1000)
    #expect(context.minimum(of: \Crate.count) == context.maximum(of: \Crate.count))
    let names: [String] = context.distinct(\Crate.name)
    #expect(names.isEmpty)
    #expect(context.refresh(crate))
    #expect(context.search(Crate.self, for: "a").isEmpty)
    #expect(context.updates(of: FetchDescriptor<Crate>()) == 1000)
    #expect(context.sql(for: FetchDescriptor<Crate>()).isEmpty)
    #expect(context.registeredModelCount == -1)
    #expect(try context.all(Crate.self).count == context.fetchAll(Crate.self).count)
    #expect(try context.exists(Crate.self))
    try context.deleteAll(Crate.self)
    #expect(try !context.exists(Crate.self, where: #Predicate { $0.name == "a" }))
  }
}

// A stage as a constant of a plan: in Swift 6 it must be Sendable, though its closures are not.
enum CratePlan: SchemaMigrationPlan {
  enum One: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
    static var models: [any PersistentModel.Type] { [Crate.self] }
  }

  static var schemas: [any VersionedSchema.Type] { [One.self] }
  static var stages: [MigrationStage] { [oneToOne, light] }

  static let oneToOne = MigrationStage.custom(
    fromVersion: One.self, toVersion: One.self,
    willMigrate: { context in
      for crate in try context.fetch(FetchDescriptor<Crate>()) { crate.count += 1 }
      try context.save()
    }, didMigrate: nil)
  static let light = MigrationStage.lightweight(fromVersion: One.self, toVersion: One.self)
}

@Suite struct ErrorTexts {
  @Test func `alerts show the message`() {
    let error: any Error = SwiftDataError(.storageFull, "The disk is full; free some space.")
    #expect(error.localizedDescription == "The disk is full; free some space.")
    #expect((SwiftDataError.storageFull as any Error).localizedDescription == "storageFull")
    let cause = SwiftDataError(.storeFailure, "Cannot save.", cause: CocoaError(.fileNoSuchFile))
    #expect(cause.failureReason != nil)
  }
}
