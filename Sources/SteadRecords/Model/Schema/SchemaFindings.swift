/// What is wrong or unclear in a schema's models.
struct SchemaFindings {
  /// What keeps a container from opening.
  var problems: [SchemaProblem] = []
  /// Models that are stored in a way that the app may not expect: inverses that cannot be chosen.
  var notes: [String] = []
  /// Classes in whose place others of their names are stored.
  var replacements: [String] = []

  /// Throws the problems, if there are any, as one error.
  func check() throws {
    guard let first = problems.first else { return }
    throw SchemaProblem(first.code, problems.map(\.message).joined(separator: " "))
  }
}
