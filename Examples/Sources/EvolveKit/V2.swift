import SwiftData

/// `size` is called `installedSize`, and packages can be held.
public enum V2: VersionedSchema {
  public static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
  public static var models: [any PersistentModel.Type] { [Package.self] }

  @Model public final class Package {
    public var name: String
    public var version: String
    @Attribute(originalName: "size") public var installedSize: Int
    public var maintainer: String
    public var section: String?
    public var summary: String
    /// Whether the package stays at its version.
    public var isHeld: Bool = false

    public init(name: String, version: String, installedSize: Int, maintainer: String) {
      self.name = name
      self.version = version
      self.installedSize = installedSize
      self.maintainer = maintainer
      summary = ""
    }
  }
}
