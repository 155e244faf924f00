import ExampleSupport
import SwiftData

/// Each package has a section. The rest of the app knows these models alone.
public enum V6: VersionedSchema {
  public static var versionIdentifier: Schema.Version { Schema.Version(6, 0, 0) }
  public static var models: [any PersistentModel.Type] { [Package.self, Maintainer.self] }

  @Model public final class Package {
    @Attribute(.unique) public var name: String
    public var version: DebianVersion
    public var installedSize: Int
    public var maintainer: Maintainer?
    public var section: String = "misc"
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

public typealias Package = V6.Package
public typealias Maintainer = V6.Maintainer
