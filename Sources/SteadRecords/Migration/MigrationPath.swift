/// The versions of a migration plan in their order, and the stages from one to the next.
struct MigrationPath {
  /// Where a store is.
  enum Place {
    /// It has the models of a version, by its index.
    case version(Int)
    /// It has the number of a version, or one between two, and other models than that version.
    case likeVersion(Int, SchemaDifference)
  }

  private let versions: [any VersionedSchema.Type]
  private let schemas: [Schema]
  private let stages: [MigrationStage]

  /// - Throws: ``SwiftDataError`` `.loadIssueModelContainer` for a plan whose versions are none, or not in their
  ///   order, or whose stages lead to versions that it does not have.
  init(_ plan: any SchemaMigrationPlan.Type) throws {
    versions = plan.schemas
    stages = plan.stages
    schemas = versions.map { Schema(versionedSchema: $0) }
    guard !versions.isEmpty else {
      throw Self.problem("has no schemas. List every version that was shipped.")
    }
    for (before, after) in zip(versions, versions.dropFirst())
    where before.versionIdentifier >= after.versionIdentifier {
      throw Self.problem(
        "has \(after) of version \(after.versionIdentifier) behind \(before) of version "
          + "\(before.versionIdentifier). Give each version a number of its own, and list the oldest first."
      )
    }
    for stage in stages {
      for version in [stage.from, stage.to] where index(of: version) == nil {
        throw Self.problem(
          "has a stage with \(version), which is not among its schemas. List it there.")
      }
    }
  }

  private static func problem(_ text: String) -> SwiftDataError {
    SwiftDataError(
      .loadIssueModelContainer, "The migration plan \(text) The store was left as it was.")
  }

  private func index(of version: any VersionedSchema.Type) -> Int? {
    versions.firstIndex { $0 == version }
  }

  /// Finds the version that a store has: by its models, and by its number where several have the same models.
  ///
  /// - Throws: ``SwiftDataError``: `.backwardMigration` for a store of a later version than the plan's last one;
  ///   `.unknownSchema` for one that is older than the first.
  func place(of stored: Schema) throws -> Place {
    let same = schemas.indices.filter { SchemaDifference(from: stored, to: schemas[$0]).isEmpty }
    if let index = same.last(where: { versions[$0].versionIdentifier == stored.version })
      ?? same.last
    {
      return .version(index)
    }
    if let newest = versions.last, stored.version > newest.versionIdentifier {
      throw SwiftDataError(
        .backwardMigration,
        "The store has version \(stored.version), and the newest that the migration plan knows is "
          + "\(newest.versionIdentifier). Open it with the app that wrote it; it was left as it was."
      )
    }
    guard let index = versions.lastIndex(where: { $0.versionIdentifier <= stored.version }) else {
      throw SwiftDataError(
        .unknownSchema,
        "The store has version \(stored.version), and the oldest that the migration plan knows is "
          + "\(versions[0].versionIdentifier). Add the schema that was shipped with it; the store was left as it was."
      )
    }
    return .likeVersion(index, SchemaDifference(from: schemas[index], to: stored))
  }

  /// The stages from a version to the newest one.
  func stages(from index: Int) throws -> [MigrationStage] {
    var result: [MigrationStage] = []
    var place = index
    while place < versions.count - 1 {
      // Of several the one that comes furthest.
      let next = stages.filter { self.index(of: $0.from) == place }
        .max { (self.index(of: $0.to) ?? 0) < (self.index(of: $1.to) ?? 0) }
      guard let next, let target = self.index(of: next.to), target > place else {
        throw Self.problem(
          "has no stage from \(versions[place]) to a later version. Add one; `.lightweight` is enough where data "
            + "follows by itself.")
      }
      result.append(next)
      place = target
    }
    return result
  }
}
