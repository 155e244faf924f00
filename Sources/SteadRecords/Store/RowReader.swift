import Foundation
import GRDBSQLite

/// One row of a result, read column by column into a model's typed storage.
public struct _RowReader {
  /// nil for the row that stands for no row.
  let statement: OpaquePointer?
  /// The result column of each property, or -1.
  @usableFromInline let columns: UnsafePointer<Int32>
  let context: Unmanaged<RowContext>

  /// The greatest number of stored properties of one model, inherited ones included.
  static let propertyLimit = 1024

  /// A row without columns: every property keeps its placeholder.
  // Never written after it is made, and its context is only told of rejected columns, of which it has
  // none.
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

  /// Notes that a value cannot be read; the fetch then throws instead of returning the object.
  public func _reject(_ property: Int, _ column: Int32, _ cause: (any Error)? = nil) {
    context.takeUnretainedValue().reject(property: property, cause: cause)
  }

  func isText(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_TEXT }

  @usableFromInline func integer(_ column: Int32) -> Int64 {
    sqlite3_column_int64(statement, column)
  }

  func double(_ column: Int32) -> Double {
    // NaN is stored as text, since SQLite turns it into NULL.
    sqlite3_column_type(statement, column) == SQLITE_TEXT
      ? RealColumn.decode(string(column)) : sqlite3_column_double(statement, column)
  }

  func string(_ column: Int32) -> String {
    guard let text = sqlite3_column_text(statement, column) else { return "" }
    let count = Int(sqlite3_column_bytes(statement, column))
    return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
  }

  func withText<Result>(
    _ column: Int32, _ body: (UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    let text = sqlite3_column_text(statement, column)
    let count = Int(sqlite3_column_bytes(statement, column))
    return body(UnsafeBufferPointer(start: text, count: text == nil ? 0 : count))
  }

  func data(_ column: Int32) -> Data {
    guard let bytes = sqlite3_column_blob(statement, column) else { return Data() }
    return Data(bytes: bytes, count: Int(sqlite3_column_bytes(statement, column)))
  }

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
    guard let value = transformer.reverseTransformedValue(data(column)) as? Value else {
      throw ColumnError.notTransformable
    }
    return value
  }
}

/// A statement whose parameters take a model's values.
public struct _RowWriter {
  let statement: OpaquePointer
  /// The parameter of each property, or 0.
  @usableFromInline let parameters: UnsafePointer<Int32>
  let context: Unmanaged<RowContext>

  @inlinable public func _parameter(_ property: Int) -> Int32 { parameters[property] }

  /// Notes that a value cannot be written; the save then throws.
  public func _fail(_ property: Int, _ cause: any Error) {
    context.takeUnretainedValue().reject(property: property, cause: cause)
  }

  func bind(_ value: Int64, _ parameter: Int32) { sqlite3_bind_int64(statement, parameter, value) }

  func bind(_ value: Double, _ parameter: Int32) {
    if value.isNaN {
      bind(RealColumn.notANumber, parameter)
    } else {
      sqlite3_bind_double(statement, parameter, value)
    }
  }

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
      if $0.isEmpty {
        _ = sqlite3_bind_zeroblob(statement, parameter, 0)
      } else {
        _ = sqlite3_bind_blob64(
          statement, parameter, $0.baseAddress, UInt64($0.count), Self.copying)
      }
    }
  }

  func bind(_ value: UUID, _ parameter: Int32) {
    withUnsafeBytes(of: value.uuid) {
      _ = sqlite3_bind_blob64(statement, parameter, $0.baseAddress, 16, Self.copying)
    }
  }

  /// Tells SQLite to copy what it is given.
  static let copying = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  func bindExternal(_ data: Data, _ parameter: Int32) throws {
    let context = context.takeUnretainedValue()
    if let blobs = context.blobs, data.count >= ExternalData.fileThreshold {
      bind(try blobs.write(data), parameter)
    } else {
      bind(data, parameter)
    }
  }

  func bindTransformed(_ value: Any, _ property: Int, _ parameter: Int32) throws {
    if let optional = value as? any OptionalValue, optional.isNil { return }
    let transformer = try context.takeUnretainedValue().transformer(for: property)
    guard let data = transformer.transformedValue(value) as? Data else {
      throw ColumnError.notTransformable
    }
    bind(data, parameter)
  }
}

enum RealColumn {
  static let notANumber = "NaN"

  static func decode(_ text: String) -> Double {
    text == notANumber ? .nan : Double(text) ?? 0
  }
}

/// What reading and writing rows of one entity needs beside the statement.
final class RowContext {
  let entity: EntityLayout?
  let blobs: BlobFiles?
  private(set) var error: SwiftDataError?
  /// The properties that were rejected since the last call of ``forgetRejections()``.
  private(set) var rejected: [Int] = []
  var row: Int64 = 0

  init(entity: EntityLayout? = nil, blobs: BlobFiles? = nil) {
    self.entity = entity
    self.blobs = blobs
  }

  func reject(property: Int, cause: (any Error)?) {
    if !rejected.contains(property) { rejected.append(property) }
    guard error == nil else { return }
    let name = entity.map { "\($0.name).\($0.properties[property].name)" } ?? "property \(property)"
    error = .init(
      .unreadableValue,
      "\(name) of row \(row) does not hold a value of its type. The row was left as it is; "
        + "repair the column, or make the property's type accept what it holds.", cause: cause)
  }

  func throwIfRejected() throws {
    if let error {
      forgetRejections()
      throw error
    }
  }

  func forgetRejections() {
    error = nil
    if !rejected.isEmpty { rejected = [] }
  }

  func transformer(for property: Int) throws -> ValueTransformer {
    let name = entity?.properties[property].transformerName ?? ""
    guard let transformer = AttributeTransformers.transformer(named: name) else {
      throw ColumnError.noTransformer(name)
    }
    return transformer
  }
}
