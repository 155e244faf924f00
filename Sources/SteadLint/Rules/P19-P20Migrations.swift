// MARK: - P19 old-schema-names-live-model

private let p19 = RuleID(id: "P19", name: "old-schema-names-live-model", level: .warning)

extension Rule {
  /// Earlier schemas that list a class which still changes.
  ///
  /// Only schemas in a migration plan count, since the plan's versions say which one is the newest.
  static let oldSchemaNamesLiveModel = Rule(
    p19,
    summary: "An earlier `VersionedSchema` lists models that aren't its own: the newest ones.",
    why: """
      The list of an earlier version describes existing stores. If it contains the live class, each change of the \
      class also changes the earlier version. Its stores then have an unknown version, and the container fails to \
      open them.
      """,
    bad: """
      enum SchemaV1: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Note.self] }
      }
      enum SchemaV2: VersionedSchema {
        static let versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [Note.self] }
      }
      enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [SchemaV1.self, SchemaV2.self] }
        static var stages: [MigrationStage] {
          [.lightweight(fromVersion: SchemaV1.self, toVersion: SchemaV2.self)]
        }
      }
      @Model final class Note { var title = ""; var date = Date.now }
      """,
    good: """
      enum SchemaV1: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Note.self] }
        @Model final class Note { var title = "" }
      }
      """,
    avoids: [
      "The newest schema, and a single schema.",
      "Models nested in the schema, in an extension of it, or in an earlier schema.",
      "Models that the newest schema doesn't list.",
      "Schemas of a cache, by their names: a note.",
    ],
    inProject: { index in
      index.olderSchemas.compactMap { older, newest in
        let live = older.models.filter { isLive($0.name, in: older, newest: newest, index: index) }
        guard let first = live.first else { return nil }
        // One finding for each schema: nesting a copy is one decision.
        let names = live.map { "`\($0.name)`" }.joined(separator: ", ")
        return Finding(
          p19,
          "The earlier schema `\(older.name)` lists live models (\(names)); nest a copy that nobody changes.",
          at: first.place,
          level: NameWords(older.name).contains(anyOf: ["cache", "cached"]) ? .note : nil)
      }
    })
}

/// Whether a name means a model outside of the earlier schemas.
///
/// The cases in their order: an alias, a member of the newest schema, a class that the newest
/// schema doesn't list, and a class at the top level.
private func isLive(_ name: String, in schema: SchemaFact, newest: SchemaFact, index: ProjectIndex)
  -> Bool
{
  let found = index.declarations(of: name, in: schema.name)
  guard let model = found.first(where: \.isModel) ?? found.first else {
    // The name may be an alias for the newest schema's model.
    return !name.contains(".") && index.model(newest.name + "." + name) != nil
  }
  if model.name.hasPrefix(newest.name + ".") { return true }
  // A model outside of the schemas is frozen, too, if the newest schema doesn't list it.
  let live = newest.models.compactMap { index.model($0.name, in: newest.name)?.name }
  // If none of its models is known, the newest schema can't tell.
  guard live.isEmpty || live.contains(model.name) else { return false }
  // A class in any schema is a copy. One that isn't compiled or is for tests is in no store of a
  // user.
  return !index.schemas.contains { model.name.hasPrefix($0.name + ".") }
    && index.isShipped(model.place)
}

// MARK: - P20 migration-plan-gap

private let p20 = RuleID(id: "P20", name: "migration-plan-gap", level: .error)

extension Rule {
  /// Migration plans that can't take every store to the newest version.
  ///
  /// An error, and one that developers don't meet: their own stores never skip a version.
  static let migrationPlanGap = Rule(
    p20,
    summary:
      "A migration plan is missing, lacks a schema or a stage, or has versions that are repeated or out of order.",
    why: """
      A store doesn't open if the plan can't migrate its version to the newest one. This happens to users who \
      skipped an update, and not to developers.
      """,
    bad: """
      enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [SchemaV1.self, SchemaV2.self, SchemaV3.self] }
        static var stages: [MigrationStage] {
          [.lightweight(fromVersion: SchemaV1.self, toVersion: SchemaV2.self)]
        }
      }
      """,
    good: """
      static var stages: [MigrationStage] {
        [
          .lightweight(fromVersion: SchemaV1.self, toVersion: SchemaV2.self),
          .lightweight(fromVersion: SchemaV2.self, toVersion: SchemaV3.self),
        ]
      }
      """,
    avoids: [
      "A single schema, with or without a plan.",
      "Stages that are properties of the plan or in an extension of it.",
      "Plans whose schemas are made by code, and schemas of another family.",
      "A plan that leads back to an earlier version, if another plan leads forward.",
    ],
    inProject: { index in
      index.plans.filter(\.isComplete).flatMap { problems(of: $0, in: index) }
        + missingPlan(in: index)
    })
}

/// What a store could stumble over on its way through a plan: a missing stage, equal versions, versions out of order,
/// and schemas that aren't listed.
///
/// Names are compared by their last parts, since a plan inside a type names its schemas without that type.
private func problems(of plan: PlanFact, in index: ProjectIndex) -> [Finding] {
  var findings: [Finding] = []
  let stages = index.files.flatMap(\.stages).filter {
    $0.plan.lastComponent == plan.name.lastComponent
  }
  // A store takes one step after the other, so a stage that skips a schema leaves a gap as well.
  for (from, to) in zip(plan.schemas, plan.schemas.dropFirst()) {
    let isCovered = stages.contains {
      $0.from.lastComponent == from.lastComponent && $0.to.lastComponent == to.lastComponent
    }
    // Some programs have a plan that takes a store back to an older version, for a user who returns to it.
    if !isCovered, !isRollback(plan, from: from, to: to, in: index) {
      findings.append(
        Finding(p20, "No stage leads from `\(from)` to `\(to)`; add one.", at: plan.place))
    }
  }
  // Versions that are no literals can't be compared, and their schemas are passed over.
  let known = plan.schemas.compactMap { name in
    index.schema(name).flatMap { schema in schema.version.map { (schema, $0) } }
  }
  for (one, next) in zip(known, known.dropFirst()) {
    if one.1 == next.1 {
      findings.append(
        Finding(
          p20, "`\(next.0.name)` has the same version as `\(one.0.name)`; raise it.",
          at: next.0.place))
    } else if next.1.lexicographicallyPrecedes(one.1) {
      findings.append(
        Finding(
          p20,
          "`\(next.0.name)` comes after `\(one.0.name)`, but its version is lower; put them in order.",
          at: plan.place))
    }
  }
  return findings + unlisted(plan, in: index)
}

/// Whether a plan leads back from a version that another plan leads to.
///
/// Both halves are needed: this plan leads back, and another one leads on.
private func isRollback(_ plan: PlanFact, from: String, to: String, in index: ProjectIndex) -> Bool
{
  func leads(from: String, to: String, ofPlan isOfPlan: Bool) -> Bool {
    index.files.flatMap(\.stages).contains { stage in
      (stage.plan.lastComponent == plan.name.lastComponent) == isOfPlan
        && stage.from.lastComponent == from.lastComponent
        && stage.to.lastComponent == to.lastComponent
    }
  }
  return leads(from: to, to: from, ofPlan: true) && leads(from: from, to: to, ofPlan: false)
}

/// Schemas that belong to the plan by their names, but aren't in its list.
///
/// A schema that another plan lists belongs to that one. A program may have several stores.
private func unlisted(_ plan: PlanFact, in index: ProjectIndex) -> [Finding] {
  let families = Set(plan.schemas.map(family))
  let listed = Set(plan.schemas.map(\.lastComponent))
  return index.schemas.filter { schema in
    families.contains(family(schema.name)) && !listed.contains(schema.name.lastComponent)
      && index.isShipped(schema.place)
      && index.plans.allSatisfy {
        !$0.schemas.map(\.lastComponent).contains(schema.name.lastComponent)
      }
  }.map { schema in
    Finding(
      p20, "`\(schema.name)` isn't in the plan `\(plan.name)`; list it, with a stage.",
      at: schema.place)
  }
}

/// A schema's name without its number.
///
/// `NotesV1` and `NotesV2` are one family, and `CacheV1` is of another store.
private func family(_ name: String) -> String {
  name.lastComponent.filter { !$0.isNumber && $0 != "_" }
}

/// A finding for several schemas of one family without any plan.
///
/// Versions of one schema are of use only in a plan, so it was forgotten or isn't in the folder.
private func missingPlan(in index: ProjectIndex) -> [Finding] {
  let schemas = index.schemas.filter { index.isShipped($0.place) }
  // With any plan its own list is checked; this is for a program that forgot to make one.
  guard index.plans.isEmpty, Set(schemas.map(\.name)).count > 1,
    Set(schemas.map { family($0.name) }).count == 1,
    let last = schemas.max(by: { ($0.version ?? []).lexicographicallyPrecedes($1.version ?? []) })
  else { return [] }
  return [
    Finding(
      p20, "There are \(schemas.count) schemas and no migration plan; add one.", at: last.place)
  ]
}
