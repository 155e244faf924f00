import CSteadSQLite
import Foundation
import SteadFiles
import SteadSQLite

/// A statement whose parameters are bound to a model's values.
///
/// Code that the macro generates calls it for each property. A parameter that is not bound is NULL,
/// which is nil. What is bound is copied, so the object may change before the statement runs.
public struct _RowWriter {
  /// SQLite's `sqlite3_stmt`.
  let statement: OpaquePointer
  /// The parameter of each property, or 0.
  @usableFromInline let parameters: UnsafePointer<Int32>
  /// What is needed besides the statement. Borrowed: whoever makes the writer keeps it.
  let context: Unmanaged<RowContext>

  /// The parameter of a property; 0 if the statement does not have it. The property's index is not
  /// checked.
  @inlinable public func _parameter(_ property: Int) -> Int32 { parameters[property] }

  /// Records that a value cannot be written; the save then throws.
  public func _fail(_ property: Int, _ cause: any Error) {
    context.takeUnretainedValue().refuse(property: property, cause: cause)
  }

  func bind(_ value: Int64, _ parameter: Int32) { sqlite3_bind_int64(statement, parameter, value) }

  /// Binds a number. SQLite would bind NaN as NULL, which is nil, so it is bound as text.
  func bind(_ value: Double, _ parameter: Int32) {
    if value.isNaN {
      bind(RealColumn.notANumber, parameter)
    } else {
      sqlite3_bind_double(statement, parameter, value)
    }
  }

  /// Binds a string with its length, since it may have NUL.
  ///
  /// It must have less than 2 GiB. SQLite's own limit is lower, 1,000,000,000 bytes by default.
  func bind(_ value: String, _ parameter: Int32) {
    var value = value
    value.withUTF8 {
      _ = $0.withMemoryRebound(to: CChar.self) {
        sqlite3_bind_text(statement, parameter, $0.baseAddress, Int32($0.count), Self.copying)
      }
    }
  }

  func bind(_ value: Data, _ parameter: Int32) {
    value.withUnsafeBytes {
      // A null pointer would bind NULL, and empty data is not nil.
      if $0.isEmpty {
        _ = sqlite3_bind_zeroblob(statement, parameter, 0)
      } else {
        _ = sqlite3_bind_blob64(
          statement, parameter, $0.baseAddress, UInt64($0.count), Self.copying)
      }
    }
  }

  /// Binds the 16 bytes of a UUID.
  func bind(_ value: UUID, _ parameter: Int32) {
    withUnsafeBytes(of: value.uuid) {
      _ = sqlite3_bind_blob64(statement, parameter, $0.baseAddress, 16, Self.copying)
    }
  }

  /// `SQLITE_TRANSIENT`: SQLite copies what is bound, since the buffer ends with the closure.
  private static let copying = SQLiteStatement.copying

  /// Binds data, or the name of a file that it is written to if it is large.
  ///
  /// The file is written now, before the row; it is removed again if the transaction is rolled
  /// back.
  ///
  /// - Throws: `FileError`, such as for a full disk.
  func bindExternal(_ data: Data, _ parameter: Int32) throws {
    let context = context.takeUnretainedValue()
    if let blobs = context.blobs, data.count >= ExternalData.fileThreshold {
      bind(try blobs.write(data), parameter)
    } else {
      bind(data, parameter)
    }
  }

  /// Binds the name of a value's file without reading it. The file is read and written again if it was removed since, or is
  /// another store's.
  ///
  /// - Throws: ``ColumnError/missingFile`` if the file is gone, and ``ColumnError/damagedFile``.
  func bindExternal(_ external: ExternalData, _ parameter: Int32) throws {
    let (reference, blobs) = (external.reference, external.blobs)
    let data: Data
    do {
      // An object that was deleted may come into another store.
      if context.takeUnretainedValue().blobs?.uses === blobs.uses, try blobs.contains(reference) {
        return bind(reference, parameter)
      }
      // The object has not read its value, and its file is gone or elsewhere: the value itself is
      // moved.
      data = try blobs.read(reference)
    } catch let error as FileError where error.code == .notFound {
      throw ColumnError.missingFile
    } catch let error as FileError where error.code == .invalidName || error.code == .damaged {
      throw ColumnError.damagedFile
    }
    try bindExternal(data, parameter)
  }

  /// Binds the data that the attribute's transformer makes of a value; NULL for nil.
  ///
  /// - Throws: ``ColumnError`` without a transformer, or if it returns no data.
  func bindTransformed<Value>(_ value: Value, _ property: Int, _ parameter: Int32) throws {
    if let optional = value as? any OptionalValue, optional.isNil { return }
    let transformer = try context.takeUnretainedValue().transformer(for: property)
    guard let data = transformer.storedData(of: value) else {
      throw ColumnError.notTransformable
    }
    bind(data, parameter)
  }
}
