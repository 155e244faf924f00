public import Foundation
import SteadFiles
import SteadFormats
import SteadPreferences

extension TransferSource {
  /// A table of comma-separated values: an item for each row under the header.
  ///
  /// ```swift
  /// struct Contact: Decodable, Sendable { var name: String; var born: Date? }
  /// let source = TransferSource<Contact>.csv(url, separator: ";")
  /// ```
  ///
  /// RFC 4180 in UTF-8: the first line names the columns, and a row decodes by these names. An
  /// empty field is nil for an optional. Dates are ISO 8601 or seconds since 2001, data is Base64.
  /// A file that doesn't exist has no rows.
  ///
  /// The file is read row by row, so it may be larger than memory. It is only read unless
  /// `removesItems` is true; then it is replaced as a whole, which takes memory for all of it, and
  /// header and remaining rows keep their bytes.
  ///
  /// - Parameters:
  ///   - url: The file.
  ///   - type: The type that a row decodes as.
  ///   - separator: The separator of fields, such as `;` or a tab; an ASCII character, and no
  ///     quotation mark.
  ///   - removesItems: Whether rows that were moved are removed from the file.
  public static func csv(
    _ url: URL, of type: Value.Type = Value.self, separator: Character = ",",
    removesItems: Bool = false
  ) -> Self where Value: Decodable & Sendable {
    Self(CSVFile<Value>(url, separator: separator, removesItems: removesItems))
  }
}

/// A table of comma-separated values as a source.
struct CSVFile<Value: Decodable & Sendable>: FileSource {
  let file: ItemFile<CSVRows>

  /// A table; one that doesn't exist has no rows.
  init(
    _ url: URL, of type: Value.Type = Value.self, separator: Character = ",",
    removesItems: Bool = false
  ) {
    file = ItemFile(
      url: url, format: CSVRows(separator: separator.asciiValue), isRemovable: removesItems)
  }

  /// The file's name, with that of its directory.
  var name: String { "table \(file.name)" }

  /// The rows, named by their first line, and read again in each pass.
  func open(_ progress: TransferProgress.Report) throws -> ItemReading<Value> {
    // Checked before the file is opened, so that the error doesn't depend on the file.
    let separator = try file.format.checkedSeparator()
    return ItemReading { [file] progress, body in
      try file.withBytes { read in
        var reader = try CSVReader(separator: separator, reading: read)
        // Unique: the reader refuses two columns of one name.
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

  /// A row as an item; one with too many or too few fields is an error.
  private static func item(_ row: CSVTable.Row, _ columns: [String: Int]) -> TransferItem<Value> {
    TransferItem(
      name: "line \(row.line)", identity: row.identity,
      value: Result {
        // Missing fields can't be assigned to columns, so the row fails rather than shifts.
        guard row.fields.count == columns.count else {
          throw TransferError(
            code: .unreadable,
            message: "It has \(row.fields.count) fields, and the header names \(columns.count). "
              + "Correct the row.")
        }
        return try Value(from: CSVRowDecoder(columns: columns, fields: row.fields))
      }, size: row.bytes.count)
  }
}

// MARK: - Format

/// The format of a table, for removing rows.
struct CSVRows: ItemFormat {
  /// The separator; nil for a character that can't be one.
  let separator: UInt8?

  func contents(of data: Data) throws -> CSVTable {
    try CSVTable(data, separator: checkedSeparator())
  }

  /// The separator; throws if it can't be one. Not earlier, since making a source doesn't throw.
  func checkedSeparator() throws -> UInt8 {
    // Of the control characters only the tab: an end of line can't separate fields.
    guard let separator, separator != UInt8(ascii: "\""), separator >= 0x20 || separator == 9 else {
      throw TransferError(
        code: .unsupported, message: "What separates fields is one ASCII character, and no quote.")
    }
    return separator
  }

  /// The rows.
  func pieces(of contents: CSVTable) -> [CSVTable.Row] { contents.rows }

  /// The identity of a row.
  func identity(of piece: CSVTable.Row) -> String { piece.identity }

  /// The header and the remaining rows, byte for byte.
  func data(of contents: CSVTable, keeping pieces: [CSVTable.Row]) -> Data {
    contents.data(keeping: pieces)
  }
}

// MARK: - Decoding a row

/// Decodes a row by the names of its columns.
///
/// An empty field is nil if the property is optional, and an empty string if it is a string.
struct CSVRowDecoder: Decoder {
  /// The index of each column's field.
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

/// The error for a type that a row or a field can't be decoded as, such as an array.
private func mismatch(_ type: Any.Type, at path: [any CodingKey]) -> DecodingError {
  .typeMismatch(
    type, .init(codingPath: path, debugDescription: "A row is decoded by the names of its columns.")
  )
}

/// The fields of a row as a keyed container.
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

  /// A decoder of a column's field.
  private func field(_ key: Key) throws -> CSVFieldDecoder {
    guard let index = columns[key.stringValue] else {
      throw DecodingError.keyNotFound(
        key, .init(codingPath: [], debugDescription: "No column has that name."))
    }
    return CSVFieldDecoder(text: fields[index], codingPath: [key])
  }
}

/// Decodes a field: a number, a date, data, an enum by its raw value, or another type that reads
/// from a string.
private struct CSVFieldDecoder: Decoder, SingleValueDecodingContainer {
  let text: String
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func decodeNil() -> Bool { text.isEmpty }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    // Both have a form of their own in preferences, which isn't the one in tables.
    if type == Data.self {
      guard let data = Data(base64Encoded: text) as? Value else { throw corrupt(type) }
      return data
    }
    if type == Date.self {
      guard let date = date as? Value else { throw corrupt(type) }
      return date
    }
    // Types with a form of their own read from strings as in preferences: "12", "true". All others
    // decode from this decoder, as an enum from its raw value.
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

  /// The field as a date.
  private var date: Date? {
    // A number is a date of `JSONEncoder` and of property lists; a year alone isn't ISO 8601.
    guard let seconds = Double(text), seconds.isFinite else { return ISO8601Date.date(text) }
    return Date(timeIntervalSinceReferenceDate: seconds)
  }

  /// The error for a field that doesn't parse as a type; it has no value.
  private func corrupt(_ type: Any.Type) -> DecodingError {
    .dataCorrupted(
      .init(codingPath: codingPath, debugDescription: "The field does not read as \(type)."))
  }
}
