import SteadRecords

/// How rows of one entity are written.
final class RowForm: Sendable {
  let shape: RowShape
  /// Where a column is among the shape's.
  let columnIndices: [String: Int]
  /// The relationships by their own names and their earlier ones.
  let relationships: [String: RowShape.Relationship]
  /// The names of attributes, earlier ones included.
  private let attributes: Set<String>

  init(_ shape: RowShape) {
    self.shape = shape
    columnIndices = Dictionary(uniqueKeysWithValues: zip(shape.columns, 0...))
    attributes = Set(shape.attributes.flatMap { [$0.name, $0.originalName] })
    let known = shape.relationships
    relationships = Dictionary(
      known.map { ($0.name, $0) } + known.map { ($0.originalName, $0) }
    ) { first, _ in first }
  }

  /// What is wrong with a row by itself.
  func problems(
    of row: StoredRow, _ options: StoreDestination.Options, _ rows: RowTransaction
  ) throws -> [String] {
    var problems = unknown(in: row, options)
    do {
      _ = try rows.convert(row.attributes, for: shape)
    } catch let error as RowProblems {
      problems += error.problems
    }
    return problems
  }

  /// The properties that the row has values of, and the model has not.
  func unknown(
    in row: StoredRow, _ options: StoreDestination.Options
  ) -> [String] {
    if options.dropsUnknownProperties { return [] }
    let values = row.attributes.filter { $0.value != .null && !attributes.contains($0.key) }
    let targets = row.relationships.filter { !$0.value.isEmpty && relationships[$0.key] == nil }
    return (Array(values.keys) + Array(targets.keys)).sorted().map { "the model has no \($0)" }
  }
}
