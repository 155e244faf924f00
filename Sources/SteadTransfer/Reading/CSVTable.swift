import Foundation

/// A table of RFC 4180: lines of fields, the first of which names the columns.
struct CSVTable: Sendable {
  struct Row: Sendable {
    /// The line on which it begins, counted from 1.
    var line: Int
    var fields: [String]
    /// The row in the file, with the end of its line.
    var bytes: Data
  }

  let columns: [String]
  let header: Data
  let rows: [Row]

  /// - Throws: ``TransferError`` `.unreadable`, with the line, for bytes that are no such table.
  init(_ data: Data, separator: UInt8) throws {
    var reader = CSVReader(data, separator: separator)
    guard let header = try reader.row() else {
      throw CSVReader.unreadable("It has no header.", line: 1)
    }
    let columns = header.fields
    guard Set(columns).count == columns.count else {
      throw CSVReader.unreadable("Two columns have one name.", line: 1)
    }
    var rows: [Row] = []
    while let row = try reader.row() {
      // A line without a byte is no row, unless there is one column, which may be empty.
      let isBlank = row.fields == [""] && columns.count > 1
      if !isBlank { rows.append(row) }
    }
    self.columns = columns
    self.header = header.bytes
    self.rows = rows
  }

  /// The file with some of the rows, each as it was.
  func data(keeping rows: [Row]) -> Data {
    rows.reduce(into: header) { $0.append($1.bytes) }
  }
}

/// Takes the rows of a table from its bytes, one after the other.
///
/// A quote within a field that does not begin with one stands for itself. Lines end with CR LF or LF, or
/// all with CR where the header does.
private struct CSVReader {
  private let bytes: [UInt8]
  private let separator: UInt8
  private var position: Int
  private var line = 1
  /// Whether a CR alone ends a line, as programs for the first Macintosh wrote it.
  private let endsWithReturn: Bool

  private static let quote = UInt8(ascii: "\"")
  private static let lineFeed = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  init(_ data: Data, separator: UInt8) {
    bytes = Array(data)
    self.separator = separator
    position = data.starts(with: Self.byteOrderMark) ? Self.byteOrderMark.count : 0
    endsWithReturn = Self.endsWithReturn(bytes[position...])
  }

  /// Whether the first end of a line outside quotes is a CR alone.
  private static func endsWithReturn(_ bytes: ArraySlice<UInt8>) -> Bool {
    var isQuoted = false
    for index in bytes.indices {
      switch bytes[index] {
      case quote: isQuoted.toggle()
      case lineFeed where !isQuoted: return false
      case carriageReturn where !isQuoted:
        return index + 1 == bytes.endIndex || bytes[index + 1] != lineFeed
      default: break
      }
    }
    return false
  }

  /// The next row, nil at the end. The header keeps a byte order mark, so that it is written again.
  mutating func row() throws -> CSVTable.Row? {
    guard position < bytes.count else { return nil }
    let start = line == 1 ? 0 : position
    let first = line
    var fields: [String] = []
    while true {
      fields.append(try field())
      guard position < bytes.count, bytes[position] == separator else { break }
      position += 1
    }
    if position < bytes.count {
      let isPair =
        bytes[position] == Self.carriageReturn && position + 1 < bytes.count
        && bytes[position + 1] == Self.lineFeed
      position += isPair ? 2 : 1
      line += 1
    }
    return CSVTable.Row(line: first, fields: fields, bytes: Data(bytes[start..<position]))
  }

  private mutating func field() throws -> String {
    guard position < bytes.count, bytes[position] == Self.quote else {
      let start = position
      while position < bytes.count, bytes[position] != separator, !isEndOfLine { position += 1 }
      return try text(bytes[start..<position])
    }
    return try quotedField()
  }

  private mutating func quotedField() throws -> String {
    let first = line
    var content: [UInt8] = []
    position += 1
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if byte == Self.quote {
        guard position < bytes.count, bytes[position] == Self.quote else {
          guard position == bytes.count || bytes[position] == separator || isEndOfLine else {
            throw Self.unreadable("There is something behind a closing quote.", line: line)
          }
          return try text(content[...])
        }
        position += 1
      }
      if byte == (endsWithReturn ? Self.carriageReturn : Self.lineFeed) { line += 1 }
      content.append(byte)
    }
    throw Self.unreadable("A quote is not closed.", line: first)
  }

  private var isEndOfLine: Bool {
    bytes[position] == Self.lineFeed
      || bytes[position] == Self.carriageReturn
        && (endsWithReturn
          || position + 1 < bytes.count && bytes[position + 1] == Self.lineFeed)
  }

  private func text(_ bytes: ArraySlice<UInt8>) throws -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Self.unreadable("It is not in UTF-8.", line: line)
    }
    return text
  }

  static func unreadable(_ what: String, line: Int) -> TransferError {
    TransferError(
      code: .unreadable,
      message: "The table cannot be read, and was left as it is. \(what) (line \(line))")
  }
}
