import CSteadSQLite
import Foundation
import SteadSQLite

/// One row of a result, read column by column into a model's typed storage.
public struct _RowReader {
  /// nil for a row that represents no stored row.
  let statement: OpaquePointer?
  /// The result column of each property, or -1.
  @usableFromInline let columns: UnsafePointer<Int32>
  let context: Unmanaged<RowContext>

  /// The greatest number of stored properties of one model, inherited ones included.
  static let propertyLimit = 1024

  /// A row without columns: every property keeps its placeholder.
  // Never written after it is made, and its context is only called for rejected columns, of which it has none.
  nonisolated(unsafe) static let empty: _RowReader = {
    let none = UnsafeMutablePointer<Int32>.allocate(capacity: propertyLimit)
    none.initialize(repeating: -1, count: propertyLimit)
    return _RowReader(
      statement: nil, columns: UnsafePointer(none), context: .passRetained(RowContext()))
  }()

  @inlinable public func _column(_ property: Int) -> Int32 { columns[property] }

  public func _isNull(_ column: Int32) -> Bool {
    sqlite3_column_type(statement, column) == SQLITE_NULL
  }

  /// Records that a value cannot be read; the fetch then throws instead of returning the object.
  public func _reject(_ property: Int, _ column: Int32, _ cause: (any Error)? = nil) {
    let context = context.takeUnretainedValue()
    if context.acceptsMissingValues, _isNull(column) { return }
    context.reject(property: property, cause: cause)
  }

  func isText(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_TEXT }

  @usableFromInline func integer(_ column: Int32) -> Int64 {
    sqlite3_column_int64(statement, column)
  }

  func double(_ column: Int32) -> Double {
    let value = sqlite3_column_double(statement, column)
    // NaN is stored as text, since SQLite turns it into NULL; read as a number it is 0, as NULL is.
    return value == 0 && sqlite3_column_type(statement, column) == SQLITE_TEXT
      ? RealColumn.decode(string(column)) : value
  }

  func string(_ column: Int32) -> String {
    // One look-up of the column instead of two: `sqlite3_column_bytes` would search for it again.
    let value = sqlite3_column_value(statement, column)
    guard let text = sqlite3_value_text(value) else { return "" }
    let count = Int(sqlite3_value_bytes(value))
    return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
  }

  /// Passes the column's UTF-8 to a body, without copying.
  func withText<Result>(
    _ column: Int32, _ body: (UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    let text = sqlite3_column_text(statement, column)
    let count = Int(sqlite3_column_bytes(statement, column))
    return body(UnsafeBufferPointer(start: text, count: text == nil ? 0 : count))
  }

  /// The column's bytes, copied: SQLite's own are valid until the statement steps.
  func data(_ column: Int32) -> Data {
    guard let bytes = sqlite3_column_blob(statement, column) else { return Data() }
    return Data(bytes: bytes, count: Int(sqlite3_column_bytes(statement, column)))
  }

  /// The UUID of 16 bytes; text, which another program may have written, is parsed.
  func uuid(_ column: Int32) -> UUID {
    guard let bytes = sqlite3_column_blob(statement, column),
      sqlite3_column_bytes(statement, column) == 16
    else { return UUID(uuidString: string(column)) ?? UUID._placeholder }
    return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
  }

  /// The file that holds the column's data, when it does not hold it itself.
  func external(_ column: Int32) -> ExternalData? {
    guard isText(column), let blobs = context.takeUnretainedValue().blobs else { return nil }
    return ExternalData(reference: string(column), blobs: blobs)
  }

  /// The value that the attribute's transformer makes of the column's data.
  func transformed<Value>(
    _ property: Int, _ column: Int32, to type: Value.Type
  ) throws -> Value {
    if _isNull(column) {
      guard
        let value = (Value.self as? any ExpressibleByNilLiteral.Type)?.init(nilLiteral: ())
          as? Value
      else { throw ColumnError.missingValue }
      return value
    }
    let transformer = try context.takeUnretainedValue().transformer(for: property)
    guard let value = transformer.storedValue(of: data(column), as: Value.self) else {
      throw ColumnError.notTransformable
    }
    return value
  }
}
