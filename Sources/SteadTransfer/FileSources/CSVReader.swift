import Foundation

/// Parses a table of comma-separated values of any length, one block of it in memory at a time.
///
/// A quotation mark within a field that doesn't begin with one is literal. Lines end with CR LF or
/// LF, or all with CR alone if the header does.
///
/// Parsing is restartable: if a row isn't complete in the bytes read so far, it is parsed again
/// from its beginning after more were read. Blocks double each time, so that the total cost stays
/// linear in the size of the row.
struct CSVReader {
  /// The minimum number of bytes that are read at once.
  private static let blockSize = 1 << 18
  private static let quote = UInt8(ascii: "\"")
  private static let lineFeed = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Thrown at the end of the bytes that were read so far.
  private struct NeedsMore: Error {}

  /// The names of the columns.
  private(set) var columns: [String] = []
  /// The bytes of the header, with a byte order mark if there is one.
  private(set) var header = Data()
  /// The byte between two fields.
  private let separator: UInt8
  /// Reads up to so many of the next bytes; none at the end.
  private let read: (_ limit: Int) throws -> [UInt8]
  /// The bytes that were read and aren't consumed yet.
  private var bytes: [UInt8] = []
  /// The index of the next byte in `bytes`.
  private var position = 0
  /// Whether all bytes of the file were read.
  private var isAtEnd = false
  /// The current line, counted from 1.
  private var line = 1
  /// Whether a CR alone ends a line, as on the first Macintosh.
  private var usesBareReturns = false

  /// Parses the header.
  ///
  /// - Parameter read: Reads up to so many of the next bytes; none at the end.
  /// - Throws: ``TransferError/Code/unreadable``, with the line, for bytes that aren't such a
  ///   table.
  init(separator: UInt8, reading read: @escaping (_ limit: Int) throws -> [UInt8]) throws {
    self.separator = separator
    self.read = read
    let mark = try readMark()
    // After the mark, and before the header, whose end depends on it.
    usesBareReturns = try retrying { try $0.detectsBareReturns() }
    guard let row = try nextRow() else { throw Self.unreadable("It has no header.", line: 1) }
    columns = row.fields
    header = mark + row.bytes
    // Rows decode by the names of columns.
    guard Set(columns).count == columns.count else {
      throw Self.unreadable("Two columns have the same name.", line: 1)
    }
  }

  /// The next row; nil at the end.
  mutating func row() throws -> CSVTable.Row? {
    while let row = try nextRow() {
      // An empty line is no row, unless the table has one column, whose field may be empty.
      if row.fields != [""] || columns.count == 1 { return row }
    }
    return nil
  }

  // MARK: - Bytes

  /// Consumes the byte order mark, and returns it.
  private mutating func readMark() throws -> Data {
    let isMarked = try retrying { reader in
      for (index, byte) in Self.byteOrderMark.enumerated() {
        guard try reader.hasByte(at: index), reader.bytes[index] == byte else { return false }
      }
      return true
    }
    guard isMarked else { return Data() }
    position = Self.byteOrderMark.count
    return Data(Self.byteOrderMark)
  }

  /// Whether a byte exists; throws if that isn't known yet.
  private func hasByte(at index: Int) throws -> Bool {
    if index < bytes.count { return true }
    // Not the end of the file: the caller starts again with more bytes.
    guard isAtEnd else { throw NeedsMore() }
    return false
  }

  /// Runs a body that looks at bytes from the position on, again with more bytes until it doesn't
  /// need more. The body must not have other side effects than on position and line.
  private mutating func retrying<Result>(
    _ body: (inout CSVReader) throws -> Result
  ) throws -> Result {
    let firstLine = line
    while true {
      let start = position
      do {
        return try body(&self)
      } catch is NeedsMore {
        position = start
        line = firstLine
        try readMore()
      }
    }
  }

  /// Drops the consumed bytes, and reads at least as many as are left.
  private mutating func readMore() throws {
    // Only the row that isn't complete yet stays in memory.
    bytes.removeFirst(position)
    position = 0
    let more = try read(max(Self.blockSize, bytes.count))
    // `read` may return fewer bytes than asked for before the end.
    isAtEnd = more.isEmpty
    bytes += more
  }

  // MARK: - Rows

  /// The next line as a row, the header or an empty line included.
  private mutating func nextRow() throws -> CSVTable.Row? {
    try retrying { reader in
      guard try reader.hasByte(at: reader.position) else { return nil }
      let (start, first) = (reader.position, reader.line)
      var fields: [String] = []
      fields.reserveCapacity(reader.columns.count)
      while true {
        fields.append(try reader.field())
        guard try reader.hasByte(at: reader.position),
          reader.bytes[reader.position] == reader.separator
        else { break }
        reader.position += 1
      }
      // The end of the line; the last row may lack it.
      if try reader.hasByte(at: reader.position) {
        reader.position += try reader.isCRLF ? 2 : 1
        reader.line += 1
      }
      return CSVTable.Row(
        line: first, fields: fields, bytes: Data(reader.bytes[start..<reader.position]))
    }
  }

  /// Whether the first end of a line outside quotation marks is a CR alone.
  private func detectsBareReturns() throws -> Bool {
    var isQuoted = false
    var index = position
    while try hasByte(at: index) {
      switch bytes[index] {
      // Two quotation marks that stand for one toggle twice.
      case Self.quote: isQuoted.toggle()
      case Self.lineFeed where !isQuoted: return false
      case Self.carriageReturn where !isQuoted:
        // A CR LF pair may be cut by the end of the bytes read so far, so the next byte is needed.
        return try !hasByte(at: index + 1) || bytes[index + 1] != Self.lineFeed
      default: break
      }
      index += 1
    }
    return false
  }

  /// Parses a field, up to a separator or the end of a line.
  private mutating func field() throws -> String {
    if try hasByte(at: position), bytes[position] == Self.quote { return try quotedField() }
    let start = position
    while try hasByte(at: position), bytes[position] != separator, try !isEndOfLine {
      position += 1
    }
    return try text(bytes[start..<position])
  }

  /// Parses a quoted field, in which two quotation marks stand for one.
  private mutating func quotedField() throws -> String {
    let first = line
    var content: [UInt8] = []
    position += 1
    while try hasByte(at: position) {
      let byte = bytes[position]
      position += 1
      if byte == Self.quote {
        guard try hasByte(at: position), bytes[position] == Self.quote else {
          guard try !hasByte(at: position) || bytes[position] == separator || isEndOfLine else {
            throw Self.unreadable(
              "A closing quote is followed by something else than a separator.", line: line)
          }
          return try text(content[...])
        }
        position += 1
      }
      // Quoted fields may have line ends, which count for the numbers in errors.
      if byte == (usesBareReturns ? Self.carriageReturn : Self.lineFeed) { line += 1 }
      content.append(byte)
    }
    throw Self.unreadable("A quote is not closed.", line: first)
  }

  /// Whether the next byte ends a line.
  private var isEndOfLine: Bool {
    get throws {
      guard bytes[position] == Self.carriageReturn else { return bytes[position] == Self.lineFeed }
      return try usesBareReturns || isCRLF
    }
  }

  /// Whether CR and LF are next.
  private var isCRLF: Bool {
    get throws {
      try bytes[position] == Self.carriageReturn && hasByte(at: position + 1)
        && bytes[position + 1] == Self.lineFeed
    }
  }

  /// A field's bytes as a string.
  private func text(_ bytes: ArraySlice<UInt8>) throws -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Self.unreadable("It is not in UTF-8.", line: line)
    }
    return text
  }

  /// The error for bytes that aren't a table.
  private static func unreadable(_ what: String, line: Int) -> TransferError {
    TransferError(
      code: .unreadable,
      message: "The table cannot be read, and was left as it is. \(what) (line \(line))")
  }
}

// MARK: - A whole table

/// A whole table of RFC 4180 in memory, for rewriting it without some rows.
struct CSVTable: Sendable {
  /// A row, parsed and in bytes.
  struct Row: Sendable {
    /// The line on which it begins, counted from 1.
    var line: Int
    /// The values of the fields.
    var fields: [String]
    /// The bytes in the file, with the end of the line.
    var bytes: Data

    /// The digest of the fields, not of the bytes, so that another program may rewrite the table
    /// with other quotation marks.
    var identity: String { ItemDigest.text(of: fields) }
  }

  /// The names of the columns.
  let columns: [String]
  /// The bytes of the header, with a byte order mark if there is one.
  let header: Data
  /// The rows in the order of the file.
  let rows: [Row]

  /// Parses a table.
  ///
  /// - Throws: ``TransferError/Code/unreadable``, with the line, for bytes that aren't such a
  ///   table.
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
