public import Foundation
import SteadFiles
import SteadFormats
import SteadPreferences

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

  func versionTag() throws -> String? { try file.versionTag() }

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

// MARK: - Format

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

// MARK: - Decoding a row

/// Decodes the fields of one row by the names of their columns.
///
/// An empty field is nil if the property is optional, and an empty string if it is a string.
struct CSVRowDecoder: Decoder {
  /// The places of the columns' fields.
  let columns: [String: Int]
  let fields: [String]
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(CSVFieldsDecoder<Key>(columns: columns, fields: fields))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    throw mismatch([String].self, at: [])
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    throw mismatch(String.self, at: [])
  }
}

private func mismatch(_ type: Any.Type, at path: [any CodingKey]) -> DecodingError {
  .typeMismatch(
    type, .init(codingPath: path, debugDescription: "A row is decoded by the names of its columns.")
  )
}

private struct CSVFieldsDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let columns: [String: Int]
  let fields: [String]
  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { columns.keys.compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { columns[key.stringValue] != nil }
  func decodeNil(forKey key: Key) throws -> Bool { try field(key).decodeNil() }
  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try field(key).decode(type)
  }
  func superDecoder() throws -> any Decoder { throw mismatch(Any.self, at: []) }
  func superDecoder(forKey key: Key) throws -> any Decoder { try field(key) }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    throw mismatch([String: Any].self, at: [key])
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    throw mismatch([Any].self, at: [key])
  }

  private func field(_ key: Key) throws -> CSVFieldDecoder {
    guard let index = columns[key.stringValue] else {
      throw DecodingError.keyNotFound(
        key, .init(codingPath: [], debugDescription: "No column has that name."))
    }
    return CSVFieldDecoder(text: fields[index], codingPath: [key])
  }
}

/// One field, as a number, a date, an enum by its raw value, or what else reads from a text.
private struct CSVFieldDecoder: Decoder, SingleValueDecodingContainer {
  let text: String
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func decodeNil() -> Bool { text.isEmpty }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if type == Data.self {
      guard let data = Data(base64Encoded: text) as? Value else { throw corrupt(type) }
      return data
    }
    if type == Date.self {
      guard let date = date as? Value else { throw corrupt(type) }
      return date
    }
    guard let native = type as? any PreferenceValue.Type else { return try Value(from: self) }
    guard let value = try? native.init(propertyList: .string(text)) as? Value else {
      throw corrupt(type)
    }
    return value
  }

  func container<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> { throw mismatch(type, at: codingPath) }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    throw mismatch([Any].self, at: codingPath)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  private var date: Date? {
    guard let seconds = Double(text), seconds.isFinite else { return ISO8601Date.date(text) }
    return Date(timeIntervalSinceReferenceDate: seconds)
  }

  private func corrupt(_ type: Any.Type) -> DecodingError {
    .dataCorrupted(
      .init(codingPath: codingPath, debugDescription: "The field does not read as \(type)."))
  }
}
