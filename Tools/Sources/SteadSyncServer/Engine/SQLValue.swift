/// A value of a statement's parameter or column.
enum SQLValue: Hashable, Sendable {
  case null
  case integer(Int64)
  case text(String)
  case bytes([UInt8])

  init(_ value: Int64?) { self = value.map(SQLValue.integer) ?? .null }
  init(_ value: String?) { self = value.map(SQLValue.text) ?? .null }
}

/// A row of a statement's result.
struct SQLRow: Hashable, Sendable {
  let values: [SQLValue]

  func integer(_ column: Int) throws -> Int64 {
    guard case .integer(let value) = values[column] else { throw EngineError.unexpectedType }
    return value
  }

  func text(_ column: Int) throws -> String {
    guard case .text(let value) = values[column] else { throw EngineError.unexpectedType }
    return value
  }

  func bytes(_ column: Int) throws -> [UInt8] {
    guard case .bytes(let value) = values[column] else { throw EngineError.unexpectedType }
    return value
  }

  func optionalText(_ column: Int) throws -> String? {
    values[column] == .null ? nil : try text(column)
  }

  func optionalBytes(_ column: Int) throws -> [UInt8]? {
    values[column] == .null ? nil : try bytes(column)
  }
}
