import Foundation

/// A table of RFC 4180: lines of fields, the first of which names the columns.
struct CSVTable: Sendable {
  struct Row: Sendable {
    /// The line on which it begins, counted from 1.
    var line: Int
    var fields: [String]
    /// The row in the file, with the end of its line.
    var bytes: Data

    /// By the fields, so that another program may write the table with other quotes.
    var identity: String { ItemDigest.text(of: fields) }
  }

  let columns: [String]
  let header: Data
  let rows: [Row]

  /// - Throws: ``TransferError`` `.unreadable`, with the line, for bytes that aren't such a table.
  init(_ data: Data, separator: UInt8) throws {
    var rest = data[...]
    var reader = try CSVReader(separator: separator) { limit in
      defer { rest = rest.dropFirst(limit) }
      return Array(rest.prefix(limit))
    }
    var rows: [Row] = []
    while let row = try reader.row() { rows.append(row) }
    columns = reader.columns
    header = reader.header
    self.rows = rows
  }

  /// The file with some of the rows, each as it was.
  func data(keeping rows: [Row]) -> Data {
    rows.reduce(into: header) { $0.append($1.bytes) }
  }
}
