import Foundation
import SteadFiles
import SteadPreferences

/// The rows of a table.
struct CSVRows: ItemFormat {
  /// Nil for a character that cannot be one.
  let separator: UInt8?

  func contents(of data: Data) throws -> CSVTable {
    guard let separator, separator != UInt8(ascii: "\""), separator >= 0x20 || separator == 9 else {
      throw TransferError(
        code: .unsupported, message: "What separates fields is one ASCII character, and no quote.")
    }
    return try CSVTable(data, separator: separator)
  }

  func pieces(of contents: CSVTable) -> [CSVTable.Row] { contents.rows }

  /// By the fields, so that another program may write the table with other quotes.
  func identity(of piece: CSVTable.Row) throws -> String {
    try PropertyList.array(piece.fields.map { .string($0) }).digest()
  }

  func data(of contents: CSVTable, keeping pieces: [CSVTable.Row]) -> Data {
    contents.data(keeping: pieces)
  }
}
