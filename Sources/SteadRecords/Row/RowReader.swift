import CSteadSQLite
import Foundation
import SteadSQLite

/// One row of a result, read column by column into a model's typed storage.
///
/// Code that the macro generates calls it for each property. It neither throws nor checks: what
/// cannot be read is recorded in the context, and the fetch throws that after the row. Valid until
/// the statement steps.
public struct _RowReader {
  /// nil for a row that represents no stored row.
  let statement: OpaquePointer?
  /// The result column of each property, or -1.
  @usableFromInline let columns: UnsafePointer<Int32>
  /// What is needed besides the statement. Borrowed: whoever makes the reader keeps it.
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

  /// The result column of a property; -1 if the statement does not have it. The property's index is
  /// not checked.
  @inlinable public func _column(_ property: Int) -> Int32 { columns[property] }

  /// Whether a column is NULL. Ask before another function reads it, which may convert it.
  public func _isNull(_ column: Int32) -> Bool {
    sqlite3_column_type(statement, column) == SQLITE_NULL
  }

  /// Records that a value cannot be read; the fetch then throws instead of returning the object.
  public func _reject(_ property: Int, _ column: Int32, _ cause: (any Error)? = nil) {
    let context = context.takeUnretainedValue()
    // A custom stage of a migration has yet to set it.
    if context.acceptsMissingValues, _isNull(column) { return }
    context.reject(property: property, cause: cause)
  }

  /// Whether a column is stored as text.
  func isText(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_TEXT }

  /// The column as a whole number, by SQLite's rules: 0 for NULL and for text without a number.
  @usableFromInline func integer(_ column: Int32) -> Int64 {
    sqlite3_column_int64(statement, column)
  }

  /// The column as a number; NaN for the text that stands for it, and 0 for NULL.
  func double(_ column: Int32) -> Double {
    let value = sqlite3_column_double(statement, column)
    // NaN is stored as text, since SQLite turns it into NULL; read as a number it is 0, as NULL is.
    return value == 0 && sqlite3_column_type(statement, column) == SQLITE_TEXT
      ? RealColumn.decode(string(column)) : value
  }

  /// The column as a string; empty for NULL. Invalid UTF-8 in it is repaired.
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
    // SQLite aligns no values.
    return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
  }

  /// The file that holds the column's data, when it does not hold it itself.
  ///
  /// nil as well in memory, where no value is in a file.
  func external(_ column: Int32) -> ExternalData? {
    guard isText(column), let blobs = context.takeUnretainedValue().blobs else { return nil }
    return ExternalData(reference: string(column), blobs: blobs)
  }

  /// The value that the attribute's transformer makes of the column's data.
  ///
  /// - Throws: ``ColumnError``.
  func transformed<Value>(
    _ property: Int, _ column: Int32, to type: Value.Type
  ) throws -> Value {
    // NULL is nil; a transformer is only asked for data.
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
