public import Foundation
import SteadFiles
import SteadFormats

extension TransferSource {
  /// A table of comma separated values: an item for each row under the header.
  ///
  /// RFC 4180 in UTF-8: the first line names the columns, and a row decodes by these names. An empty field is
  /// nil for an optional. Dates are ISO 8601 or seconds since 2001, data is Base64. The file is only read,
  /// unless it is opened to remove items: then the rows that stay keep their bytes, and the header stays. A
  /// file that does not exist has no rows.
  ///
  /// - Parameters:
  ///   - url: The place of the file.
  ///   - type: What a row decodes as.
  ///   - separator: What is between two fields; `;` and tab are in use, too. ASCII, and no quote.
  ///   - removesItems: Whether rows that were moved are taken out of the file.
  public static func csv(
    _ url: URL, of type: Value.Type = Value.self, separator: Character = ",",
    removesItems: Bool = false
  ) -> Self where Value: Decodable & Sendable {
    Self(CSVFile<Value>(url, separator: separator, removesItems: removesItems))
  }
}

/// A table of comma separated values as a source: an item for each row under the header.
struct CSVFile<Value: Decodable & Sendable>: ItemSource {
  private let file: ItemFile<CSVRows>

  /// A file; one that is not there has no rows.
  ///
  /// - Parameters:
  ///   - url: The place of the file.
  ///   - type: What a row decodes as.
  ///   - separator: What is between two fields; `;` and tab are in use, too. ASCII, and no quote.
  ///   - removesItems: Whether rows that were moved are taken out of the file.
  init(
    _ url: URL, of type: Value.Type = Value.self, separator: Character = ",",
    removesItems: Bool = false
  ) {
    file = ItemFile(
      url: url, format: CSVRows(separator: separator.asciiValue), isRemovable: removesItems)
  }

  /// The file's name, with that of its directory.
  var name: String { "table \(file.name)" }
  /// Whether it was opened to remove items.
  var isRemovable: Bool { file.isRemovable }

  func mark() throws -> String? { try file.mark() }

  /// The rows, named by the line on which they begin, and read again in each pass.
  func open(_ progress: TransferProgress.Report) throws -> ItemReading<Value> {
    let separator = try file.format.checkedSeparator()
    return ItemReading { [file] progress, body in
      try file.withBytes { read in
        var reader = try CSVReader(separator: separator, reading: read)
        let columns = Dictionary(uniqueKeysWithValues: zip(reader.columns, 0...))
        var count = 0
        while let row = try reader.row() {
          try progress(.init(phase: .reading, completed: count, total: nil))
          count += 1
          try body(Self.item(row, columns))
        }
      }
    }
  }

  private static func item(_ row: CSVTable.Row, _ columns: [String: Int]) -> TransferItem<Value> {
    TransferItem(
      name: "line \(row.line)", identity: row.identity,
      value: Result {
        guard row.fields.count == columns.count else {
          throw TransferError(
            code: .unreadable,
            message: "It has \(row.fields.count) fields, and the header names \(columns.count).")
        }
        return try Value(from: CSVRowDecoder(columns: columns, fields: row.fields))
      }, size: row.bytes.count)
  }

  /// Writes the file without the rows. Throws `.unsupported` where it may only be read.
  func remove(_ entries: [TransferReceipt.Entry]) throws -> Int {
    try file.remove(entries)
  }
}
