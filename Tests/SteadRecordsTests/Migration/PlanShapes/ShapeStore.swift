import Foundation
import RecordsTestSupport
import SwiftData

/// A store that one version of an app has written, for another version to open.
struct ShapeStore {
  let file: StoreFile

  init(_ version: any VersionedSchema.Type, _ fill: (ModelContext) throws -> Void) throws {
    file = try StoreFile()
    let context = ModelContext(
      try ModelContainer(
        for: Schema(versionedSchema: version),
        configurations: ModelConfiguration(url: file.url)))
    try fill(context)
    try context.save()
  }

  /// What the app sees that has a version's models and a plan.
  func open(
    _ version: any VersionedSchema.Type, _ plan: any SchemaMigrationPlan.Type
  ) throws -> ModelContext {
    ModelContext(
      try ModelContainer(
        for: Schema(versionedSchema: version), migrationPlan: plan,
        configurations: ModelConfiguration(url: file.url)))
  }
}
