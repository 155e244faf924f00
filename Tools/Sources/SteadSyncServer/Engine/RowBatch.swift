/// Statements over many rows at once. They have three sizes, so that few statements are prepared and 100 rows cost
/// one round trip to the database.
enum RowBatch {
  /// The numbers of rows of one statement, the greatest first.
  static let sizes = [100, 10, 1]

  /// Divides rows into parts for which a statement exists.
  static func parts<Row>(_ rows: [Row]) -> [ArraySlice<Row>] {
    var (parts, start) = ([ArraySlice<Row>](), 0)
    while start < rows.count {
      let size = sizes.first { $0 <= rows.count - start } ?? 1
      parts.append(rows[start..<(start + size)])
      start += size
    }
    return parts
  }

  /// Inserts rows of a table.
  struct Insert: Sendable {
    private let texts: [Int: String]

    /// - Parameter conflict: The clause after the values, as in `ON CONFLICT (zone, id) DO NOTHING`.
    init(into table: String, _ columns: [String], _ conflict: String) {
      texts = RowBatch.texts { size in
        let rows = (0..<size).map { row in
          "("
            + (1...columns.count).map { "$\(row * columns.count + $0)" }.joined(separator: ", ")
            + ")"
        }
        return "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES "
          + "\(rows.joined(separator: ", ")) \(conflict)"
      }
    }

    /// The statements that insert rows.
    func statements(_ rows: [[SQLValue]]) -> [SQLStatement] {
      RowBatch.parts(rows).compactMap { part in
        texts[part.count].map { SQLStatement($0, part.flatMap { $0 }) }
      }
    }
  }

  /// A statement about rows of one zone whose key is in a list: `$1` is the zone, and the list replaces `%`.
  struct Keyed: Sendable {
    private let texts: [Int: String]

    init(_ text: String) {
      texts = RowBatch.texts { size in
        let list = (2...(size + 1)).map { "$\($0)" }.joined(separator: ", ")
        return text.replacing("%", with: "(\(list))")
      }
    }

    func rows(_ zone: SQLValue, _ keys: [SQLValue], in session: any SQLSession) throws -> [SQLRow] {
      try RowBatch.parts(keys).flatMap { part in
        try texts[part.count].map { try session.rows($0, [zone] + part) } ?? []
      }
    }
  }

  private static func texts(_ text: (Int) -> String) -> [Int: String] {
    Dictionary(uniqueKeysWithValues: sizes.map { ($0, text($0)) })
  }
}
