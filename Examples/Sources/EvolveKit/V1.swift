import ExampleSupport
import SwiftData

/// The app's first version: names may come twice, and a maintainer is a string.
public enum V1: VersionedSchema {
  public static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
  public static var models: [any PersistentModel.Type] { [Package.self] }

  @Model public final class Package {
    public var name: String
    public var version: String
    /// In KiB.
    public var size: Int
    /// `Name <address>`.
    public var maintainer: String
    /// nil for packages of no section, and of the section `misc`.
    public var section: String?
    public var summary: String

    public init(_ record: PackageRecord) {
      name = record.name
      version = record.version
      size = record.installedSize
      maintainer = record.maintainer.description
      section = record.section == "misc" ? nil : record.section
      summary = record.summary
    }
  }
}
