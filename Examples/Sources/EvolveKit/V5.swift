import ExampleSupport
import SwiftData

/// Names are unique.
public enum V5: VersionedSchema {
  public static var versionIdentifier: Schema.Version { Schema.Version(5, 0, 0) }
  public static var models: [any PersistentModel.Type] { [Package.self, Maintainer.self] }

  @Model public final class Package {
    @Attribute(.unique) public var name: String
    public var version: DebianVersion
    public var installedSize: Int
    public var maintainer: Maintainer?
    public var section: String?
    public var summary: String
    public var isHeld: Bool = false

    public init(name: String, version: DebianVersion, installedSize: Int) {
      self.name = name
      self.version = version
      self.installedSize = installedSize
      summary = ""
    }
  }

  @Model public final class Maintainer {
    @Attribute(.unique) public var address: String
    public var name: String
    @Relationship(inverse: \Package.maintainer) public var packages: [Package] = []

    public init(_ person: Person) {
      address = person.address
      name = person.name
    }
  }
}
