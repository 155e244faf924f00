import ExampleSupport
import SwiftData

/// A package on the shelf: installed software, or a commit where there is no package database.
@Model public final class Package {
  #Index<Package>([\.installedSize])

  @Attribute(.unique) public var name: String
  public var version: String
  public var priority: Priority
  /// In KiB.
  public var installedSize: Int
  @Attribute(.spotlight) public var summary: String
  @Attribute(.spotlight) public var details: String
  public var section: Section?
  public var maintainer: Maintainer?
  @Relationship(deleteRule: .cascade, inverse: \Dependency.owner) public var dependencies:
    [Dependency] = []
  /// The dependencies of others that this package satisfies.
  @Relationship(inverse: \Dependency.alternatives) public var satisfies: [Dependency] = []

  public init(_ record: PackageRecord) {
    name = record.name
    version = record.version
    priority = record.priority
    installedSize = record.installedSize
    summary = record.summary
    details = record.details
  }
}

/// A group of packages.
@Model public final class Section {
  @Attribute(.unique) public var name: String
  @Relationship(deleteRule: .nullify, inverse: \Package.section) public var packages: [Package] = []

  public init(name: String) { self.name = name }
}

/// Who looks after packages.
@Model public final class Maintainer {
  @Attribute(.unique) public var address: String
  public var name: String
  @Relationship(deleteRule: .nullify, inverse: \Package.maintainer) public var packages: [Package] =
    []

  public init(name: String, address: String) {
    self.name = name
    self.address = address
  }
}

/// One need of a package, which any of several packages satisfies.
@Model public final class Dependency {
  /// As the database writes it: `default-mta | mail-transport-agent (>= 2)`.
  public var text: String
  public var owner: Package?
  public var alternatives: [Package] = []

  public init(text: String) { self.text = text }
}
