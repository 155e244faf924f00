public import ExampleSupport
public import Foundation
public import SwiftData

/// The app's store.
public struct PackageStore: Sendable {
  /// The schemas that were shipped.
  public static var lock: URL? {
    Bundle.module.url(forResource: "schema.lock", withExtension: "json")
  }
  /// How many objects are made before they are saved.
  private static let batchSize = 5_000

  public let url: URL

  public init(url: URL) { self.url = url }

  public var exists: Bool { FileManager.default.fileExists(atPath: url.path) }

  private var configurations: [ModelConfiguration] { [ModelConfiguration(url: url)] }

  /// Makes the store as the app's first version does.
  ///
  /// - Parameter copies: How often each record is put in; each time under names of its own.
  public func makeFirst(_ records: [PackageRecord], copies: Int = 1) throws -> ModelContainer {
    let container = try ModelContainer(
      for: Schema(versionedSchema: V1.self), configurations: configurations)
    let context = ModelContext(container)
    var count = 0
    for copy in 0..<copies {
      for record in records {
        let package = V1.Package(record)
        if copy > 0 { package.name += "#\(copy)" }
        context.insert(package)
        count += 1
        if count.isMultiple(of: Self.batchSize) { try context.save() }
      }
    }
    try context.save()
    return container
  }

  /// Says what ``open(progress:)`` would change; nil for nothing.
  public func dryRun() throws -> StoreMigration? {
    try ModelContainer.dryRun(
      for: Schema(versionedSchema: V6.self), migrationPlan: PackagePlan.self,
      configurations: configurations
    ).first
  }

  /// Opens the store as the app does at each start, whichever version has written it.
  public func open(
    progress: @escaping MigrationProgress.Report = { _ in }
  ) throws -> ModelContainer {
    try ModelContainer(
      for: Schema(versionedSchema: V6.self), migrationPlan: PackagePlan.self,
      configurations: configurations, migrationProgress: progress)
  }
}
