import CSteadSQLite

/// An SQL function that SQLite lacks.
///
/// It returns the same for the same arguments, and isn't allowed in a schema: views, triggers, indexes and
/// defaults that name it are refused.
///
/// `SQLITE_DIRECTONLY` is what keeps it out of a schema. Otherwise a crafted file could call it with arguments of its
/// own (https://www.sqlite.org/c3ref/c_deterministic.html).
///
/// ```swift
/// SQLFunction(name: "half", arguments: 1) { context, _, arguments in
///   let call = SQLCall(context, arguments)
///   if call.isNull(0) { call.returnNull() } else { call.returns(call.integer(0) / 2) }
/// }
/// ```
package struct SQLFunction: Sendable {
  /// A function as SQLite calls it: the context, the number of arguments, and the arguments.
  package typealias Body =
    @convention(c) @Sendable (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void

  /// The name in SQL.
  let name: String
  /// The number of arguments; -1 for any number.
  let arguments: Int32
  /// The function that SQLite calls, by the thread that runs the statement.
  let body: Body

  /// Describes a function. The body is a C function, so it can capture nothing; it reads and answers by ``SQLCall``.
  ///
  /// - Parameter arguments: The number of arguments; -1 for any number.
  package init(name: String, arguments: Int32, body: @escaping Body) {
    self.name = name
    self.arguments = arguments
    self.body = body
  }

  /// Makes the function known to a connection, and returns SQLite's result code. It may replace one of SQLite's own.
  func register(on handle: OpaquePointer) -> Int32 {
    sqlite3_create_function_v2(
      handle, name, arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, nil, body,
      nil, nil, nil)
  }
}

// MARK: - Calls

/// The arguments and the result of a call from SQLite, valid until the function returns.
package struct SQLCall {
  /// SQLite's `sqlite3_context`, which takes the result.
  private let context: OpaquePointer?
  /// SQLite's `sqlite3_value` of each argument.
  private let arguments: UnsafeMutablePointer<OpaquePointer?>?

  /// Wraps the parameters that SQLite passes to the body of an ``SQLFunction``.
  package init(_ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
    self.context = context
    self.arguments = arguments
  }

  // MARK: Arguments, counted from 0

  private func type(_ index: Int) -> Int32 { sqlite3_value_type(arguments?[index]) }
  /// Whether an argument is NULL. Asked before any conversion, which may change the type.
  package func isNull(_ index: Int) -> Bool { type(index) == SQLITE_NULL }
  /// Whether an argument is text, before any conversion.
  package func isText(_ index: Int) -> Bool { type(index) == SQLITE_TEXT }
  /// Whether an argument is an integer, before any conversion.
  package func isInteger(_ index: Int) -> Bool { type(index) == SQLITE_INTEGER }

  /// The argument's UTF-8, valid until the function returns. Text is first: SQLite may convert the value, and the
  /// number of bytes is then that of the converted one (https://www.sqlite.org/c3ref/value_blob.html).
  package func text(_ index: Int) -> UnsafeRawBufferPointer {
    let bytes = sqlite3_value_text(arguments?[index])
    return UnsafeRawBufferPointer(
      start: bytes, count: Int(sqlite3_value_bytes(arguments?[index])))
  }

  /// The argument as a string; invalid UTF-8 in it is repaired.
  package func string(_ index: Int) -> String { String(decoding: text(index), as: UTF8.self) }
  /// The argument as a number, by SQLite's rules of conversion: text without a number is 0.
  package func integer(_ index: Int) -> Int64 { sqlite3_value_int64(arguments?[index]) }
  /// The argument as a floating-point number, by SQLite's rules of conversion.
  package func double(_ index: Int) -> Double { sqlite3_value_double(arguments?[index]) }

  // MARK: The result

  /// Returns an argument as it is.
  package func returnArgument(_ index: Int) {
    sqlite3_result_value(context, arguments?[index])
  }

  package func returnNull() { sqlite3_result_null(context) }
  /// Returns 1 or 0, SQLite's Booleans.
  package func returns(_ value: Bool) { sqlite3_result_int(context, value ? 1 : 0) }
  package func returns(_ value: Int64) { sqlite3_result_int64(context, value) }
  /// SQLite converts NaN to NULL.
  package func returns(double value: Double) { sqlite3_result_double(context, value) }

  /// Returns a string, which is copied. Its size must be below 2 GiB.
  package func returns(_ value: String) {
    var value = value
    value.withUTF8 { returns(text: UnsafeRawBufferPointer($0)) }
  }

  /// Returns UTF-8, which is copied.
  package func returns(text: UnsafeRawBufferPointer) {
    // An empty buffer has no address, which SQLite would treat as NULL.
    guard let start = text.baseAddress, !text.isEmpty else {
      sqlite3_result_text(context, "", 0, SQLiteStatement.copying)
      return
    }
    sqlite3_result_text(
      context, start.assumingMemoryBound(to: CChar.self), Int32(text.count),
      SQLiteStatement.copying)
  }

  /// Returns bytes, which are copied.
  package func returns(blob: [UInt8]) {
    blob.withUnsafeBytes {
      if $0.isEmpty {
        sqlite3_result_zeroblob(context, 0)
      } else {
        sqlite3_result_blob(context, $0.baseAddress, Int32($0.count), SQLiteStatement.copying)
      }
    }
  }
}

// MARK: - Collations

/// A string collation that SQLite lacks.
///
/// It must be a total order that never changes: SQLite relies on it in indexes, which a file keeps
/// (https://www.sqlite.org/c3ref/create_collation.html). The strings aren't terminated by a zero.
package struct SQLCollation: Sendable {
  /// A comparison as SQLite calls it: a context that isn't used, and the bytes of both strings with their counts
  /// first.
  package typealias Compare =
    @convention(c) @Sendable (
      UnsafeMutableRawPointer?, Int32, UnsafeRawPointer?, Int32, UnsafeRawPointer?
    ) -> Int32

  /// The name in SQL.
  let name: String
  /// The comparison: negative, zero or positive.
  let compare: Compare

  /// Describes a collation. The comparison is a C function, so it can capture nothing.
  package init(name: String, compare: @escaping Compare) {
    self.name = name
    self.compare = compare
  }

  /// Makes the collation known to a connection, and returns SQLite's result code.
  func register(on handle: OpaquePointer) -> Int32 {
    sqlite3_create_collation_v2(handle, name, SQLITE_UTF8, nil, compare, nil)
  }
}
