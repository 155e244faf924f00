public import Foundation

/// A value with its own column encoding.
///
/// Documentation/RecordStore.md describes the encodings.
public protocol _AttributeValue {
  /// How a column stores the values.
  static var _columnEncoding: _ColumnEncoding { get }
  /// What the storage of an object without a row holds.
  static var _placeholder: Self { get }
  /// Reads a value from a column of the current row; never fails: a column of another type is converted as SQLite does.
  static func _decode(_ row: _RowReader, _ column: Int32) -> Self
  /// Binds the value to a parameter.
  func _encode(_ row: _RowWriter, _ parameter: Int32)
}

// A column stores nil as NULL, in the encoding of what is wrapped.
extension Optional: _AttributeValue where Wrapped: _AttributeValue {
  public static var _columnEncoding: _ColumnEncoding { Wrapped._columnEncoding }
  @inlinable public static var _placeholder: Wrapped? { nil }

  @inlinable public static func _decode(_ row: _RowReader, _ column: Int32) -> Wrapped? {
    row._isNull(column) ? nil : Wrapped._decode(row, column)
  }

  @inlinable public func _encode(_ row: _RowWriter, _ parameter: Int32) {
    // A parameter that is not bound is NULL.
    if let self { self._encode(row, parameter) }
  }
}

extension Bool: _AttributeValue {
  public static var _columnEncoding: _ColumnEncoding { .boolean }
  @inlinable public static var _placeholder: Bool { false }
  public static func _decode(_ row: _RowReader, _ column: Int32) -> Bool {
    row.integer(column) != 0
  }
  public func _encode(_ row: _RowWriter, _ parameter: Int32) {
    row.bind(Int64(self ? 1 : 0), parameter)
  }
}

extension FixedWidthInteger where Self: _AttributeValue {
  public static var _columnEncoding: _ColumnEncoding { .integer }
  @inlinable public static var _placeholder: Self { 0 }
  // A number beyond the type's range, which another program has written, becomes the nearest one.
  public static func _decode(_ row: _RowReader, _ column: Int32) -> Self {
    Self(clamping: row.integer(column))
  }
  public func _encode(_ row: _RowWriter, _ parameter: Int32) {
    // Exact: the types that `Int64` does not cover have an encoding of their own.
    row.bind(Int64(truncatingIfNeeded: self), parameter)
  }
}

extension Int: _AttributeValue {
  public static func _decode(_ row: _RowReader, _ column: Int32) -> Int {
    // Exact where `Int` has 64 bits.
    Int(truncatingIfNeeded: row.integer(column))
  }
  public func _encode(_ row: _RowWriter, _ parameter: Int32) { row.bind(Int64(self), parameter) }
}
extension Int64: _AttributeValue {
  public static func _decode(_ row: _RowReader, _ column: Int32) -> Int64 { row.integer(column) }
  public func _encode(_ row: _RowWriter, _ parameter: Int32) { row.bind(self, parameter) }
}
extension Int8: _AttributeValue {}
extension Int16: _AttributeValue {}
extension Int32: _AttributeValue {}
extension UInt8: _AttributeValue {}
extension UInt16: _AttributeValue {}
extension UInt32: _AttributeValue {}

extension UInt64: _AttributeValue {
  public static var _columnEncoding: _ColumnEncoding { .unsigned64 }
  public static func _decode(_ row: _RowReader, _ column: Int32) -> UInt64 {
    UnsignedColumn.decode(row, column)
  }
  public func _encode(_ row: _RowWriter, _ parameter: Int32) {
    UnsignedColumn.encode(self, row, parameter)
  }
}
extension UInt: _AttributeValue {
  public static var _columnEncoding: _ColumnEncoding { .unsigned64 }
  public static func _decode(_ row: _RowReader, _ column: Int32) -> UInt {
    // A number that `UInt` does not have becomes its greatest one.
    UInt(clamping: UnsignedColumn.decode(row, column))
  }
  public func _encode(_ row: _RowWriter, _ parameter: Int32) {
    UnsignedColumn.encode(UInt64(self), row, parameter)
  }
}

extension Double: _AttributeValue {
  public static var _columnEncoding: _ColumnEncoding { .real }
  @inlinable public static var _placeholder: Double { 0 }
  public static func _decode(_ row: _RowReader, _ column: Int32) -> Double { row.double(column) }
  public func _encode(_ row: _RowWriter, _ parameter: Int32) { row.bind(self, parameter) }
}
extension Float: _AttributeValue {
  public static var _columnEncoding: _ColumnEncoding { .real }
  @inlinable public static var _placeholder: Float { 0 }
  public static func _decode(_ row: _RowReader, _ column: Int32) -> Float {
    let number = row.double(column)
    let float = Float(number)
    guard float.isInfinite, number.isFinite else { return float }
    // Clamped, as integers are.
    return float < 0 ? -.greatestFiniteMagnitude : .greatestFiniteMagnitude
  }
  public func _encode(_ row: _RowWriter, _ parameter: Int32) { row.bind(Double(self), parameter) }
}
extension CGFloat: _AttributeValue {
  public static var _columnEncoding: _ColumnEncoding { .real }
  public static var _placeholder: CGFloat { 0 }
  public static func _decode(_ row: _RowReader, _ column: Int32) -> CGFloat {
    CGFloat(row.double(column))
  }
  public func _encode(_ row: _RowWriter, _ parameter: Int32) { row.bind(Double(self), parameter) }
}

extension String: _AttributeValue {
  public static var _columnEncoding: _ColumnEncoding { .text }
  @inlinable public static var _placeholder: String { "" }
  public static func _decode(_ row: _RowReader, _ column: Int32) -> String { row.string(column) }
  public func _encode(_ row: _RowWriter, _ parameter: Int32) { row.bind(self, parameter) }
}

extension Date: _AttributeValue {
  public static var _columnEncoding: _ColumnEncoding { .date }
  @inlinable public static var _placeholder: Date { Date(timeIntervalSinceReferenceDate: 0) }
  public static func _decode(_ row: _RowReader, _ column: Int32) -> Date {
    Date(timeIntervalSinceReferenceDate: row.double(column))
  }
  public func _encode(_ row: _RowWriter, _ parameter: Int32) {
    // The number that a `Date` holds, so that nothing is rounded. The REAL column stores -0.0 as an integer, without its
    // sign: the two dates are equal, and so is their order.
    row.bind(timeIntervalSinceReferenceDate, parameter)
  }
}

extension Decimal: _AttributeValue {
  public static var _columnEncoding: _ColumnEncoding { .decimal }
  @inlinable public static var _placeholder: Decimal { 0 }
  /// Text that is no number is read as 0.
  public static func _decode(_ row: _RowReader, _ column: Int32) -> Decimal {
    let text = row.string(column)
    return text == "NaN" ? .nan : Decimal(string: text) ?? 0
  }
  // All digits, which a REAL would not keep.
  public func _encode(_ row: _RowWriter, _ parameter: Int32) { row.bind(description, parameter) }
}

extension Data: _AttributeValue {
  public static var _columnEncoding: _ColumnEncoding { .data }
  @inlinable public static var _placeholder: Data { Data() }
  public static func _decode(_ row: _RowReader, _ column: Int32) -> Data { row.data(column) }
  public func _encode(_ row: _RowWriter, _ parameter: Int32) { row.bind(self, parameter) }
}

extension UUID: _AttributeValue {
  public static var _columnEncoding: _ColumnEncoding { .uuid }
  @inlinable public static var _placeholder: UUID {
    UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  }
  public static func _decode(_ row: _RowReader, _ column: Int32) -> UUID { row.uuid(column) }
  public func _encode(_ row: _RowWriter, _ parameter: Int32) { row.bind(self, parameter) }
}

extension URL: _AttributeValue {
  public static var _columnEncoding: _ColumnEncoding { .url }
  public static var _placeholder: URL { URL(filePath: "/") }
  /// Text that is no URL is read as a path.
  public static func _decode(_ row: _RowReader, _ column: Int32) -> URL {
    let text = row.string(column)
    return URL(string: text) ?? URL(filePath: text)
  }
  public func _encode(_ row: _RowWriter, _ parameter: Int32) {
    row.bind(absoluteString, parameter)
  }
}

// MARK: - Encodings

/// How a column stores values of one type.
///
/// | encoding | declared | stored as |
/// | --- | --- | --- |
/// | `boolean` | INTEGER | 0 or 1 |
/// | `integer` | INTEGER | the number |
/// | `unsigned64` | BLOB | INTEGER, and beyond `Int64.max` TEXT of 20 digits |
/// | `real` | REAL BLOB | the number; NaN as TEXT |
/// | `date` | REAL | seconds since 2001; NaN as TEXT |
/// | `decimal` | TEXT | its digits |
/// | `text` | TEXT | UTF-8, unchanged |
/// | `uuid` | BLOB | 16 bytes |
/// | `url` | TEXT | `absoluteString` |
/// | `data` | BLOB | the bytes |
/// | `json` | TEXT | JSON of arrays, dictionaries and the like |
/// | `composite` | TEXT | JSON of a struct, whose fields may have generated columns |
/// | `external` | BLOB | the bytes, or as TEXT the name of their file |
/// | `opaque` | BLOB | a transformer's data, or JSON of a `.codable` attribute |
///
/// The raw values are in the recorded schemas of stores, so they must not change.
public enum _ColumnEncoding: String, Sendable {
  case boolean, integer, unsigned64, real, date, decimal, text, uuid, url, data, json, composite,
    external, opaque
}

typealias ColumnEncoding = _ColumnEncoding

/// The encoding of unsigned 64-bit numbers: INTEGER up to `Int64.max`, then text of 20 digits. SQLite sorts text after
/// numbers, and digits of one length in their order, so the column's order is that of the numbers.
enum UnsignedColumn {
  /// As many as `UInt64.max` has.
  static let digits = 20

  /// The number with leading zeros.
  static func text(_ value: UInt64) -> String {
    let text = String(value)
    return String(repeating: "0", count: digits - text.count) + text
  }

  /// The column's number. One that another program has written as text without a number is 0, and a
  /// negative one, too.
  static func decode(_ row: _RowReader, _ column: Int32) -> UInt64 {
    if row.isText(column) { return UInt64(row.string(column)) ?? 0 }
    return UInt64(clamping: row.integer(column))
  }

  /// Binds the number as an integer where SQLite has it, and otherwise as text.
  static func encode(_ value: UInt64, _ row: _RowWriter, _ parameter: Int32) {
    if let small = Int64(exactly: value) {
      row.bind(small, parameter)
    } else {
      row.bind(text(value), parameter)
    }
  }
}

/// The encoding of NaN in a column: text, since SQLite stores NaN as NULL.
enum RealColumn {
  /// The text that stands for NaN.
  static let notANumber = "NaN"

  /// The number of a text; 0 if it is none.
  static func decode(_ text: String) -> Double {
    text == notANumber ? .nan : Double(text) ?? 0
  }
}
