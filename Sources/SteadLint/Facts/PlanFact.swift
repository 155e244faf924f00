/// A `SchemaMigrationPlan`.
struct PlanFact: Codable, Sendable {
  let name: String
  let schemas: [String]
  /// Whether the schemas are a list that can be read.
  let isComplete: Bool
  let place: Place
}
