import SteadRecords

/// How rows of each entity are written.
struct RowForms {
  /// One entity's.
  final class Form {
    let shape: RowShape
    /// Where a column is among the shape's.
    let places: [String: Int]
    /// Takes the number and the shape's columns.
    let insertion: String
    /// The relationships by their own names and their earlier ones.
    let relationships: [String: RowShape.Relationship]
    /// The names of attributes, earlier ones included.
    let attributes: Set<String>

    init(_ shape: RowShape) {
      self.shape = shape
      places = Dictionary(uniqueKeysWithValues: zip(shape.columns, 0...))
      let names = (["_id"] + shape.columns).map(quoted).joined(separator: ", ")
      let marks = (0...shape.columns.count).map { "?\($0 + 1)" }.joined(separator: ", ")
      insertion = "INSERT INTO \(quoted(shape.root)) (\(names)) VALUES (\(marks))"
      attributes = Set(shape.attributes.flatMap { [$0.name, $0.originalName] })
      let known = shape.relationships
      relationships = Dictionary(
        known.map { ($0.name, $0) } + known.map { ($0.originalName, $0) }
      ) { first, _ in first }
    }
  }

  private let rows: RowTransaction
  private let options: RecordGraphDestination.Options
  private var forms: [String: Form] = [:]

  init(_ rows: RowTransaction, _ options: RecordGraphDestination.Options) {
    self.rows = rows
    self.options = options
  }

  mutating func form(named entity: String) -> Form? {
    if let form = forms[entity] { return form }
    guard let shape = rows.rows.shapes[entity] else { return nil }
    let form = Form(shape)
    forms[entity] = form
    return form
  }

  /// What is wrong with a row by itself.
  mutating func problems(of row: StoredRow) throws -> [String] {
    guard let form = form(named: row.entity) else { return ["the container has no such model"] }
    var problems = unknown(in: row, form)
    do {
      _ = try rows.convert(row.attributes, for: form.shape)
    } catch let error as RowProblems {
      problems += error.problems.map { "\($0.property) \($0.reason)" }
    }
    return problems
  }

  /// The properties that the row has values of, and the model has not.
  func unknown(in row: StoredRow, _ form: Form) -> [String] {
    if options.dropsUnknownProperties { return [] }
    let attributes = row.attributes.filter {
      $0.value != .null && !form.attributes.contains($0.key)
    }.keys
    let relationships = row.relationships.filter {
      !$0.value.isEmpty && form.relationships[$0.key] == nil
    }.keys
    return (Array(attributes) + Array(relationships)).sorted().map { "the model has no \($0)" }
  }
}

/// An SQL identifier in quotes.
func quoted(_ name: String) -> String {
  "\"\(name.replacing("\"", with: "\"\""))\""
}
