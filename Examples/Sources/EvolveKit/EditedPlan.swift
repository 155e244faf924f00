import SwiftData

/// The plan after a mistake: somebody has edited the first version instead of making a new one.
public enum EditedPlan: SchemaMigrationPlan {
  public static var schemas: [any VersionedSchema.Type] {
    [EditedV1.self] + PackagePlan.schemas.dropFirst()
  }
  public static var stages: [MigrationStage] {
    [.lightweight(fromVersion: EditedV1.self, toVersion: V2.self)]
      + PackagePlan.stages.dropFirst()
  }
}

enum EditedV1: VersionedSchema {
  static var versionIdentifier: Schema.Version { V1.versionIdentifier }
  static var models: [any PersistentModel.Type] { [Package.self] }

  @Model final class Package {
    var name: String
    var version: String
    var size: Double
    var maintainer: String
    var homepage: String?
    var section: String?
    var summary: String

    init(name: String, version: String, size: Double, maintainer: String) {
      self.name = name
      self.version = version
      self.size = size
      self.maintainer = maintainer
      summary = ""
    }
  }
}
