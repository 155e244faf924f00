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

  /// The rows, named by the line on which they begin.
  func read(_ progress: TransferProgress.Report) throws -> [TransferItem<Value>] {
    try file.items(progress, name: { "line \($1.line)" }) { row, table in
      guard row.fields.count == table.columns.count else {
        throw TransferError(
          code: .unreadable,
          message: "It has \(row.fields.count) fields, and the header names \(table.columns.count)."
        )
      }
      let fields = Dictionary(uniqueKeysWithValues: zip(table.columns, row.fields))
      return try Value(from: CSVRowDecoder(fields: fields))
    }
  }

  /// Writes the file without the rows. Throws `.unsupported` where it may only be read.
  func remove(_ entries: [TransferReceipt.Entry]) throws -> Int {
    try file.remove(entries)
  }
}
