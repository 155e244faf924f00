import SteadSQLite

/// The default value of a property, as a statement has it that adds a column.
struct DefaultLiteral {
  let value: SQLValue

  init(value: SQLValue) { self.value = value }

  /// nil for a property without a default value.
  init?(_ property: PropertyLayout) {
    guard case .attribute(let encoding) = property.kind, let value = property.defaultValue,
      let stored = DefaultValueEncoder.encode(value, as: encoding)
    else { return nil }
    self.value = stored
  }

  /// The string; nil if SQLite would read another value from it.
  func checked(_ connection: StoreConnection) throws -> String? {
    guard let text else { return nil }
    return try connection.rows("SELECT \(text)").first?.first == value ? text : nil
  }

  private var text: String? {
    switch value {
    case .null: nil
    case .integer(let number): number == .min ? nil : "\(number)"
    case .real(let number): number.isFinite && number.sign == .plus ? "\(number)" : nil
    case .text(let text):
      text.utf8.contains(0) ? nil : "'\(text.replacing("'", with: "''"))'"
    case .blob(let data):
      "x'"
        + data.map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined()
        + "'"
    }
  }
}
