/// The versions of a migration plan in their order, and the stages between them.
///
/// It compares schemas alone, and reads no store.
struct MigrationPath {
  /// Where in the plan a store is.
  enum Position {
    /// It has the models of a version; the value is the version's index.
    case version(Int)
    /// It has a version's number, or one between two, but models that differ from that version's.
    case likeVersion(Int, SchemaDifference)
  }

  /// The versions, oldest first; ``schemas`` has the schema of each at the same index.
  private let versions: [any VersionedSchema.Type]
  private let schemas: [Schema]
  /// The stages as the plan lists them; any may lead from any version to any other.
  private let stages: [MigrationStage]

  /// Reads a plan, which may have versions that only its stages name: apps add a stage, and forget the list.
  ///
  /// - Throws: ``SwiftDataError`` `.loadIssueModelContainer` for a plan without versions, or with versions out of
  ///   order.
  init(_ plan: any SchemaMigrationPlan.Type) throws {
    stages = plan.stages
    guard !plan.schemas.isEmpty else {
      throw Self.problem("has no schemas. List every version that was shipped.")
    }
    // The list of the plan first: sorted, two versions in the wrong order would no longer show.
    try Self.checkOrder(plan.schemas)
    var versions = plan.schemas
    for version in stages.flatMap({ [$0.from, $0.to] })
    where !versions.contains(where: { $0 == version }) {
      versions.append(version)
    }
    versions.sort { $0.versionIdentifier < $1.versionIdentifier }
    try Self.checkOrder(versions)
    self.versions = versions
    schemas = versions.map { Schema(versionedSchema: $0) }
  }

  /// Throws unless the numbers of the versions rise.
  private static func checkOrder(_ versions: [any VersionedSchema.Type]) throws {
    for (before, after) in zip(versions, versions.dropFirst())
    where before.versionIdentifier >= after.versionIdentifier {
      throw problem(
        "has \(after) of version \(after.versionIdentifier) after \(before) of version "
          + "\(before.versionIdentifier). Give each version a different number, and list the oldest first."
      )
    }
  }

  /// The error for a plan that cannot be used, whatever the store has.
  private static func problem(_ text: String) -> SwiftDataError {
    SwiftDataError(
      .loadIssueModelContainer, "The migration plan \(text) The store was left as it was.")
  }

  /// The version's place in the order; nil for one that neither the plan nor a stage names.
  private func index(of version: any VersionedSchema.Type) -> Int? {
    versions.firstIndex { $0 == version }
  }

  /// Finds the version that a store has: by its models, and by its number if several versions have the same models.
  /// If the program lacks a property's stored type, the storage of its values is compared instead.
  ///
  /// - Returns: Nil if the store's tables follow automatically: the plan has no stages, or the store has the app's
  ///   models, which no version has.
  /// - Throws: ``SwiftDataError``: `.backwardMigration` for a store of a later version than the plan's last one;
  ///   `.unknownSchema` for one older than the first.
  func position(of stored: Schema, for schema: Schema) throws -> Position? {
    if stages.isEmpty { return nil }
    let differences = schemas.map { SchemaDifference(from: stored, to: $0) }
    // The models decide; numbers only choose between versions with the same models.
    var same = schemas.indices.filter { differences[$0].isEmpty }
    if same.isEmpty { same = schemas.indices.filter { differences[$0].isOfUnknownTypes } }
    same = exact(same, as: stored)
    if let index = same.last(where: { versions[$0].versionIdentifier == stored.version })
      ?? same.last
    {
      return .version(index)
    }
    // The store has the app's models, which no version has: its tables follow automatically.
    if SchemaDifference(from: stored, to: schema).isOfUnknownTypes { return nil }
    if let newest = versions.last, stored.version > newest.versionIdentifier {
      throw SwiftDataError(
        .backwardMigration,
        "The store has version \(stored.version), and the newest in the migration plan is "
          + "\(newest.versionIdentifier). Open it with the app that wrote it; it was left as it was."
      )
    }
    guard let index = versions.lastIndex(where: { $0.versionIdentifier <= stored.version }) else {
      throw SwiftDataError(
        .unknownSchema,
        "The store has version \(stored.version), and the oldest in the migration plan is "
          + "\(versions[0].versionIdentifier). Add the schema that was shipped with it; the store was left as it was."
      )
    }
    return .likeVersion(index, SchemaDifference(from: schemas[index], to: stored))
  }

  /// The version that the container's models are, or the plan's last version if none has them. Of several with these
  /// models it is the one whose number the schema has, if that is a version's own; otherwise the newest.
  func target(of schema: Schema) -> Int {
    let same = versions(like: schema)
    // The number of a schema that lists classes is no version's choice.
    let own = schema.isVersioned ? same.last { isNumbered($0, schema.version) } : nil
    return own ?? same.last ?? schemas.count - 1
  }

  /// The number that a new store of a schema gets, if not the schema's: several versions have these models, and the
  /// schema names none of them. By its number the store is then found where opening it leads, so that no stage runs on
  /// what the newest version has written.
  func numberOfNewStore(of schema: Schema) -> Schema.Version? {
    guard !stages.isEmpty, versions(like: schema).count > 1 else { return nil }
    return versions[target(of: schema)].versionIdentifier
  }

  /// The versions that have a schema's models.
  private func versions(like schema: Schema) -> [Int] {
    exact(
      schemas.indices.filter { SchemaDifference(from: schemas[$0], to: schema).isEmpty }, as: schema
    )
  }

  /// Those of some versions with a schema's tables that also have its original names; all if none has. A version that
  /// only swaps names has the same tables as the one before.
  private func exact(_ same: [Int], as schema: Schema) -> [Int] {
    let exact = same.filter { schemas[$0].hasSameOriginalNames(as: schema) }
    return exact.isEmpty ? same : exact
  }

  private func isNumbered(_ index: Int, _ number: Schema.Version) -> Bool {
    versions[index].versionIdentifier == number
  }

  /// Throws for a store of a later version than the one that is asked for, to which no stage leads.
  ///
  /// Other models are refused when the tables follow. Here the two versions may have the same models, and only their
  /// numbers tell that the app is older than the store.
  func checkDirection(
    from stored: Schema, at start: Int, to target: Int, of schema: Schema
  ) throws {
    guard schema.isVersioned, target < start, isNumbered(target, schema.version),
      stored.version > schema.version
    else { return }
    throw SwiftDataError.ofLaterStore(stored.version, than: schema.version)
  }

  /// The fewest stages from one version to another, by breadth-first search. Empty if no stage leads back to an
  /// earlier version: opening the store then refuses it.
  ///
  /// - Throws: ``SwiftDataError`` `.loadIssueModelContainer` if the stages lead to no later version.
  func stages(from start: Int, to target: Int) throws -> [MigrationStage] {
    // The first path that reaches a version is one of the shortest.
    var paths: [Int: [MigrationStage]] = [start: []]
    var reached = [start]
    var next = 0
    while next < reached.count, paths[target] == nil {
      let version = reached[next]
      next += 1
      for stage in stages where index(of: stage.from) == version {
        // A version that was reached already has a path with no more stages than this one.
        guard let to = index(of: stage.to), paths[to] == nil else { continue }
        paths[to] = (paths[version] ?? []) + [stage]
        reached.append(to)
      }
    }
    if let path = paths[target] { return path }
    guard start < target else { return [] }
    // The error names where the chain of stages ends, which is where one is missing.
    let last = reached.filter { $0 < target }.max() ?? start
    throw Self.problem(
      "has no stage from \(versions[last]) to a later version. Add one; `.lightweight` is enough if data "
        + "needs no conversion.")
  }
}
