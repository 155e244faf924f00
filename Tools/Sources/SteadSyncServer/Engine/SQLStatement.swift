/// A statement that returns no rows, with the values of its parameters.
struct SQLStatement: Sendable {
  let text: String
  let values: [SQLValue]

  init(_ text: String, _ values: [SQLValue]) {
    self.text = text
    self.values = values
  }
}

extension SQLSession {
  /// Runs statements in their order.
  func run(_ statements: [SQLStatement]) throws {
    for statement in statements { try change(statement.text, statement.values) }
  }
}
