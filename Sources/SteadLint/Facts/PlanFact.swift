/// A `SchemaMigrationPlan`.
struct PlanFact: Codable, Sendable {
  let name: String
  let schemas: [String]
  /// Whether the file has the plan's list of schemas.
  let isComplete: Bool
  let place: Place
}
