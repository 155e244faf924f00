private let flaw = RuleID(id: "P20", name: "migration-plan-gap", level: .error)

extension Rule {
  static let migrationPlanGap = Rule(
    flaw,
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

private func problems(of plan: PlanFact, in index: ProjectIndex) -> [Finding] {
  var findings: [Finding] = []
  let stages = index.files.flatMap(\.stages).filter {
    $0.plan.lastComponent == plan.name.lastComponent
  }
  for (from, to) in zip(plan.schemas, plan.schemas.dropFirst()) {
    let isCovered = stages.contains {
      $0.from.lastComponent == from.lastComponent && $0.to.lastComponent == to.lastComponent
    }
    if !isCovered, !isRollback(plan, from: from, to: to, in: index) {
      findings.append(
        Finding(flaw, "No stage leads from `\(from)` to `\(to)`; add one.", at: plan.place))
    }
  }
  let known = plan.schemas.compactMap { name in
    index.schema(name).flatMap { schema in schema.version.map { (schema, $0) } }
  }
  for (one, next) in zip(known, known.dropFirst()) {
    if one.1 == next.1 {
      findings.append(
        Finding(
          flaw, "`\(next.0.name)` has the same version as `\(one.0.name)`; raise it.",
          at: next.0.place))
    } else if next.1.lexicographicallyPrecedes(one.1) {
      findings.append(
        Finding(
          flaw,
          "`\(next.0.name)` comes after `\(one.0.name)`, but its version is lower; put them in order.",
          at: plan.place))
    }
  }
  return findings + outside(plan, in: index)
}

/// Whether a plan leads back from a version that another plan leads to.
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
private func outside(_ plan: PlanFact, in index: ProjectIndex) -> [Finding] {
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
      flaw, "`\(schema.name)` isn't in the plan `\(plan.name)`; list it, with a stage.",
      at: schema.place)
  }
}

/// A schema's name without its number.
private func family(_ name: String) -> String {
  name.lastComponent.filter { !$0.isNumber && $0 != "_" }
}

private func missingPlan(in index: ProjectIndex) -> [Finding] {
  let schemas = index.schemas.filter { index.isShipped($0.place) }
  guard index.plans.isEmpty, Set(schemas.map(\.name)).count > 1,
    Set(schemas.map { family($0.name) }).count == 1,
    let last = schemas.max(by: { ($0.version ?? []).lexicographicallyPrecedes($1.version ?? []) })
  else { return [] }
  return [
    Finding(
      flaw, "There are \(schemas.count) schemas and no migration plan; add one.", at: last.place)
  ]
}
