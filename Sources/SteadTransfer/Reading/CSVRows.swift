import Foundation

/// The rows of a table.
struct CSVRows: ItemFormat {
  /// Nil for a character that cannot be one.
  let separator: UInt8?

  func contents(of data: Data) throws -> CSVTable {
    try CSVTable(data, separator: checkedSeparator())
  }

  func checkedSeparator() throws -> UInt8 {
    guard let separator, separator != UInt8(ascii: "\""), separator >= 0x20 || separator == 9 else {
      throw TransferError(
        code: .unsupported, message: "What separates fields is one ASCII character, and no quote.")
    }
    return separator
  }

  func pieces(of contents: CSVTable) -> [CSVTable.Row] { contents.rows }

  func identity(of piece: CSVTable.Row) -> String { piece.identity }

  func data(of contents: CSVTable, keeping pieces: [CSVTable.Row]) -> Data {
    contents.data(keeping: pieces)
  }
}
