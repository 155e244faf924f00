import Foundation

/// Values without their own column type: JSON, with dates as seconds since 2001.
enum JSONColumn {
  static func decode<T: Codable>(_ type: T.Type, _ row: _RowReader, _ column: Int32) throws -> T {
    if row._isNull(column) {
      if let optional = T.self as? any ExpressibleByNilLiteral.Type,
        let value = optional.init(nilLiteral: ()) as? T
      {
        return value
      }
      throw ColumnError.missingValue
    }
    if let fast = T.self as? any FastJSON.Type,
      let value = row.withText(column, { fast.parse($0) }) as? T
    {
      return value
    }
    return try JSONDecoder().decode(T.self, from: Data(row.string(column).utf8))
  }

  static func encode<T: Codable>(_ value: T, _ row: _RowWriter, _ parameter: Int32) throws {
    if let optional = value as? any OptionalValue, optional.isNil { return }
    if let fast = value as? any FastJSON {
      row.bind(fast.jsonText, parameter)
      return
    }
    row.bind(try text(value), parameter)
  }

  static func text<T: Encodable>(_ value: T) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .throw
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }
}
