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
  public static func _decode(_ row: _RowReader, _ column: Int32) -> Self {
    Self(clamping: row.integer(column))
  }
  public func _encode(_ row: _RowWriter, _ parameter: Int32) {
    row.bind(Int64(truncatingIfNeeded: self), parameter)
  }
}

extension Int: _AttributeValue {
  public static func _decode(_ row: _RowReader, _ column: Int32) -> Int {
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
    row.bind(timeIntervalSinceReferenceDate, parameter)
  }
}

extension Decimal: _AttributeValue {
  public static var _columnEncoding: _ColumnEncoding { .decimal }
  @inlinable public static var _placeholder: Decimal { 0 }
  public static func _decode(_ row: _RowReader, _ column: Int32) -> Decimal {
    let text = row.string(column)
    return text == "NaN" ? .nan : Decimal(string: text) ?? 0
  }
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
public enum _ColumnEncoding: String, Sendable {
  case boolean, integer, unsigned64, real, date, decimal, text, uuid, url, data, json, composite,
    external, opaque
}

typealias ColumnEncoding = _ColumnEncoding

/// The encoding of unsigned 64-bit numbers: INTEGER up to `Int64.max`, then text of 20 digits. SQLite sorts text after
/// numbers, and digits of one length in their order, so the column's order is that of the numbers.
enum UnsignedColumn {
  static let digits = 20

  static func text(_ value: UInt64) -> String {
    let text = String(value)
    return String(repeating: "0", count: digits - text.count) + text
  }

  static func decode(_ row: _RowReader, _ column: Int32) -> UInt64 {
    if row.isText(column) { return UInt64(row.string(column)) ?? 0 }
    return UInt64(clamping: row.integer(column))
  }

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
  static let notANumber = "NaN"

  static func decode(_ text: String) -> Double {
    text == notANumber ? .nan : Double(text) ?? 0
  }
}
