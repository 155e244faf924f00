import Foundation

/// Takes the rows of a table one after the other from a file of any length, of which it holds a piece.
///
/// A quote within a field that does not begin with one stands for itself. Lines end with CR LF or LF, or
/// all with CR where the header does.
struct CSVReader {
  /// How much is read at once, at least.
  private static let blockSize = 1 << 18
  private static let quote = UInt8(ascii: "\"")
  private static let lineFeed = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Thrown where the bytes end that have been read so far: the row is begun again with more of them.
  private struct NeedsMore: Error {}

  /// The names of the columns.
  private(set) var columns: [String] = []
  /// The first line as it is in the file, with a byte order mark where there is one.
  private(set) var header = Data()
  private let separator: UInt8
  private let read: (_ limit: Int) throws -> [UInt8]
  private var bytes: [UInt8] = []
  private var position = 0
  private var isAtEnd = false
  private var line = 1
  /// Whether a CR alone ends a line, as programs for the first Macintosh wrote it.
  private var usesBareReturns = false

  /// Reads the header.
  ///
  /// - Parameter read: Reads so many of the next bytes, or fewer, and none at the end.
  /// - Throws: ``TransferError`` `.unreadable`, with the line, for bytes that aren't such a table.
  init(separator: UInt8, reading read: @escaping (_ limit: Int) throws -> [UInt8]) throws {
    self.separator = separator
    self.read = read
    let mark = try readMark()
    usesBareReturns = try retrying { try $0.detectsBareReturns() }
    guard let row = try nextRow() else { throw Self.unreadable("It has no header.", line: 1) }
    columns = row.fields
    header = mark + row.bytes
    guard Set(columns).count == columns.count else {
      throw Self.unreadable("Two columns have the same name.", line: 1)
    }
  }

  /// The next row under the header, nil at the end.
  mutating func row() throws -> CSVTable.Row? {
    while let row = try nextRow() {
      // A line without a byte is no row, unless there is one column, which may be empty.
      if row.fields != [""] || columns.count == 1 { return row }
    }
    return nil
  }

  // MARK: - Bytes

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

  /// Whether there is a byte; throws where that is not known yet.
  private func hasByte(at index: Int) throws -> Bool {
    if index < bytes.count { return true }
    guard isAtEnd else { throw NeedsMore() }
    return false
  }

  /// Does what looks at bytes from the position on, again with more of them where they do not suffice.
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

  /// Drops what is behind the position, and doubles what is before it.
  private mutating func readMore() throws {
    bytes.removeFirst(position)
    position = 0
    let more = try read(max(Self.blockSize, bytes.count))
    isAtEnd = more.isEmpty
    bytes += more
  }

  // MARK: - Rows

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
      if try reader.hasByte(at: reader.position) {
        reader.position += try reader.isCRLF ? 2 : 1
        reader.line += 1
      }
      return CSVTable.Row(
        line: first, fields: fields, bytes: Data(reader.bytes[start..<reader.position]))
    }
  }

  /// Whether the first end of a line outside quotes is a CR alone.
  private func detectsBareReturns() throws -> Bool {
    var isQuoted = false
    var index = position
    while try hasByte(at: index) {
      switch bytes[index] {
      case Self.quote: isQuoted.toggle()
      case Self.lineFeed where !isQuoted: return false
      case Self.carriageReturn where !isQuoted:
        return try !hasByte(at: index + 1) || bytes[index + 1] != Self.lineFeed
      default: break
      }
      index += 1
    }
    return false
  }

  private mutating func field() throws -> String {
    if try hasByte(at: position), bytes[position] == Self.quote { return try quotedField() }
    let start = position
    while try hasByte(at: position), bytes[position] != separator, try !isEndOfLine {
      position += 1
    }
    return try text(bytes[start..<position])
  }

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
      if byte == (usesBareReturns ? Self.carriageReturn : Self.lineFeed) { line += 1 }
      content.append(byte)
    }
    throw Self.unreadable("A quote is not closed.", line: first)
  }

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

  private func text(_ bytes: ArraySlice<UInt8>) throws -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Self.unreadable("It is not in UTF-8.", line: line)
    }
    return text
  }

  private static func unreadable(_ what: String, line: Int) -> TransferError {
    TransferError(
      code: .unreadable,
      message: "The table cannot be read, and was left as it is. \(what) (line \(line))")
  }
}

// MARK: - A whole table

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
