import Foundation
import GRDBSQLite

/// The functions and collations that queries use and SQLite lacks.
///
/// They exist on connections of this package alone; tables never mention them, so that any SQLite
/// reads and writes a store.
enum SteadSQLFunctions {
  /// Registers all of them.
  static func register(on connection: OpaquePointer) throws {
    for collation in collations {
      try check(
        sqlite3_create_collation_v2(
          connection, collation.name, SQLITE_UTF8, nil, collation.compare, nil), connection)
    }
    for function in functions {
      try check(
        sqlite3_create_function_v2(
          connection, function.name, function.arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil,
          function.body, nil, nil, nil), connection)
    }
  }

  private static func check(_ code: Int32, _ connection: OpaquePointer) throws {
    guard code != SQLITE_OK else { return }
    throw SwiftDataError(
      .storeFailure, "SQLite took no function: \(String(cString: sqlite3_errmsg(connection)))")
  }

  typealias Body =
    @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void
  typealias Compare =
    @convention(c) (
      UnsafeMutableRawPointer?, Int32, UnsafeRawPointer?, Int32, UnsafeRawPointer?
    ) -> Int32

  struct Function {
    let name: String
    let arguments: Int32
    let body: Body
  }

  struct Collation {
    let name: String
    let compare: Compare
  }

  private static let functions: [Function] =
    TextFunctions.all + NumberFunctions.all + ValueFunctions.all

  private static let collations: [Collation] = [
    Collation(name: "stead_canonical") { _, leftCount, left, rightCount, right in
      TextOrder.canonical(
        UnsafeRawBufferPointer(start: left, count: Int(leftCount)),
        UnsafeRawBufferPointer(start: right, count: Int(rightCount)))
    },
    Collation(name: "stead_lexical") { _, leftCount, left, rightCount, right in
      TextOrder.lexical(
        UnsafeRawBufferPointer(start: left, count: Int(leftCount)),
        UnsafeRawBufferPointer(start: right, count: Int(rightCount)))
    },
    Collation(name: "stead_localized") { _, leftCount, left, rightCount, right in
      TextOrder.localized(
        RegionalText.self, UnsafeRawBufferPointer(start: left, count: Int(leftCount)),
        UnsafeRawBufferPointer(start: right, count: Int(rightCount)))
    },
    Collation(name: "stead_localized_standard") { _, leftCount, left, rightCount, right in
      TextOrder.localized(
        RegionalStandardText.self, UnsafeRawBufferPointer(start: left, count: Int(leftCount)),
        UnsafeRawBufferPointer(start: right, count: Int(rightCount)))
    },
    Collation(name: "stead_decimal") { _, leftCount, left, rightCount, right in
      DecimalOrder.compare(
        UnsafeRawBufferPointer(start: left, count: Int(leftCount)),
        UnsafeRawBufferPointer(start: right, count: Int(rightCount)))
    },
  ]
}

/// The arguments and the result of a call from SQLite.
struct SQLCall {
  let context: OpaquePointer?
  let arguments: UnsafeMutablePointer<OpaquePointer?>?

  init(_ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
    self.context = context
    self.arguments = arguments
  }

  func type(_ index: Int) -> Int32 { sqlite3_value_type(arguments?[index]) }
  func isNull(_ index: Int) -> Bool { type(index) == SQLITE_NULL }

  /// The argument's UTF-8, valid until the call returns.
  func text(_ index: Int) -> UnsafeRawBufferPointer {
    let bytes = sqlite3_value_text(arguments?[index])
    return UnsafeRawBufferPointer(
      start: bytes, count: Int(sqlite3_value_bytes(arguments?[index])))
  }

  func string(_ index: Int) -> String { String(decoding: text(index), as: UTF8.self) }

  func integer(_ index: Int) -> Int64 { sqlite3_value_int64(arguments?[index]) }

  /// The argument as a number; the text that stands for not a number becomes that.
  func real(_ index: Int) -> Double {
    type(index) == SQLITE_TEXT ? .nan : sqlite3_value_double(arguments?[index])
  }

  func returnNull() { sqlite3_result_null(context) }
  func returns(_ value: Bool) { sqlite3_result_int(context, value ? 1 : 0) }
  func returns(_ value: Int64) { sqlite3_result_int64(context, value) }

  func returns(_ value: Double) {
    if value.isNaN { returns("NaN") } else { sqlite3_result_double(context, value) }
  }

  func returns(_ value: String) {
    var value = value
    value.withUTF8 { returns(text: UnsafeRawBufferPointer($0)) }
  }

  func returns(text: UnsafeRawBufferPointer) {
    // An empty buffer has no address, which SQLite would take for NULL.
    guard let start = text.baseAddress, !text.isEmpty else {
      sqlite3_result_text(context, "", 0, Self.copying)
      return
    }
    sqlite3_result_text(
      context, start.assumingMemoryBound(to: CChar.self), Int32(text.count), Self.copying)
  }

  func returns(blob: [UInt8]) {
    blob.withUnsafeBytes {
      if $0.isEmpty {
        sqlite3_result_zeroblob(context, 0)
      } else {
        sqlite3_result_blob(context, $0.baseAddress, Int32($0.count), Self.copying)
      }
    }
  }

  /// Tells SQLite to copy what it is given.
  private static let copying = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}
