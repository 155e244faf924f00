import ExampleSupport
import SwiftData

/// The versions that were shipped, and how a store gets from each to the next.
public enum PackagePlan: SchemaMigrationPlan {
  public static var schemas: [any VersionedSchema.Type] {
    [V1.self, V2.self, V3.self, V4.self, V5.self, V6.self]
  }
  public static var stages: [MigrationStage] {
    [sizeRenamed, versionsParsed, maintainersSplit, duplicatesRemoved, sectionsRequired]
  }

  private static var sizeRenamed: MigrationStage {
    .lightweight(fromVersion: V1.self, toVersion: V2.self)
  }

  /// `version` keeps its name and changes its type: the string is read before, and the value is set afterwards.
  private static var versionsParsed: MigrationStage {
    // Each run asks for the stages again, so these are its own.
    var texts: [PersistentIdentifier: String] = [:]
    return .custom(
      fromVersion: V2.self, toVersion: V3.self,
      willMigrate: { context in
        try context.enumerate(FetchDescriptor<V2.Package>()) { package in
          texts[package.persistentModelID] = package.version
        }
      },
      didMigrate: { context in
        try context.change(FetchDescriptor<V3.Package>()) { package in
          package.version = DebianVersion(texts[package.persistentModelID] ?? "")
        }
        texts = [:]
      })
  }

  /// A maintainer's string becomes an object, which all packages of the address share.
  private static var maintainersSplit: MigrationStage {
    var people: [PersistentIdentifier: Person] = [:]
    return .custom(
      fromVersion: V3.self, toVersion: V4.self,
      willMigrate: { context in
        // One value for each string, however many packages have it.
        var known: [String: Person] = [:]
        try context.enumerate(FetchDescriptor<V3.Package>()) { package in
          let text = package.maintainer
          let person = known[text] ?? Person(text)
          known[text] = person
          people[package.persistentModelID] = person
        }
      },
      didMigrate: { context in
        var maintainers: [String: V4.Maintainer] = [:]
        try context.change(FetchDescriptor<V4.Package>()) { package in
          guard let person = people[package.persistentModelID] else { return }
          let maintainer = maintainers[person.address] ?? V4.Maintainer(person)
          maintainers[person.address] = maintainer
          package.maintainer = maintainer
        }
        people = [:]
      })
  }

  /// Of packages with one name the newest stays, and of equal versions the larger one.
  private static var duplicatesRemoved: MigrationStage {
    .custom(
      fromVersion: V4.self, toVersion: V5.self,
      willMigrate: { context in
        var kept: V4.Package?
        let sorted = FetchDescriptor<V4.Package>(sortBy: [
          SortDescriptor(\.name, comparator: .lexical),
          SortDescriptor(\.installedSize, order: .reverse),
        ])
        try context.change(sorted) { package in
          guard let other = kept, other.name == package.name else {
            kept = package
            return
          }
          let isNewer = package.version.isNewer(than: other.version)
          context.delete(isNewer ? other : package)
          if isNewer { kept = package }
        }
      },
      didMigrate: nil)
  }

  private static var sectionsRequired: MigrationStage {
    .lightweight(fromVersion: V5.self, toVersion: V6.self)
  }
}
