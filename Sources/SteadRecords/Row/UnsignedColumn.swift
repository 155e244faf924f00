/// Unsigned numbers: INTEGER while they fit, then text of 20 digits, which SQLite sorts after them.
enum UnsignedColumn {
  static let digits = 20

  static func text(_ value: UInt64) -> String {
    let text = String(value)
    return String(repeating: "0", count: digits - text.count) + text
  }

  static func decode(_ row: _RowReader, _ column: Int32) -> UInt64 {
    if row.isText(column) { return UInt64(row.string(column)) ?? 0 }
    return UInt64(clamping: row.integer(column))
  }

  static func encode(_ value: UInt64, _ row: _RowWriter, _ parameter: Int32) {
    if let small = Int64(exactly: value) {
      row.bind(small, parameter)
    } else {
      row.bind(text(value), parameter)
    }
  }
}
