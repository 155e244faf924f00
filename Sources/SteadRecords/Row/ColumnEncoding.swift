/// How values of one type lie in a column.
public enum _ColumnEncoding: Sendable {
  case boolean, integer, unsigned64, real, date, decimal, text, uuid, url, data, json, composite,
    external, opaque
}

typealias ColumnEncoding = _ColumnEncoding

/// Not-a-number in a column, which is text, since SQLite turns it into NULL.
enum RealColumn {
  static let notANumber = "NaN"

  static func decode(_ text: String) -> Double {
    text == notANumber ? .nan : Double(text) ?? 0
  }
}
