import SwiftData

/// A version has parts.
public enum V3: VersionedSchema {
  public static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }
  public static var models: [any PersistentModel.Type] { [Package.self] }

  @Model public final class Package {
    public var name: String
    public var version: DebianVersion
    public var installedSize: Int
    public var maintainer: String
    public var section: String?
    public var summary: String
    public var isHeld: Bool = false

    public init(name: String, version: DebianVersion, installedSize: Int, maintainer: String) {
      self.name = name
      self.version = version
      self.installedSize = installedSize
      self.maintainer = maintainer
      summary = ""
    }
  }
}
