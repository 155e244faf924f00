import CSteadSQLite
import Foundation
import SteadSQLite
import SteadTestSupport
import Testing

/// A database that is written by SQLite as it comes, without any hardening, as an attacker would.
func makeDatabase(_ sql: String, in directory: TemporaryDirectory) throws -> URL {
  let url = directory.file("made.db")
  var handle: OpaquePointer?
  try #require(sqlite3_open(url.filePath, &handle) == SQLITE_OK)
  defer { sqlite3_close(handle) }
  // The functions that the schema names exist where it is made.
  for name in ["probe", "edit"] {
    sqlite3_create_function_v2(
      handle, name, -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil,
      { context, _, _ in sqlite3_result_int(context, 1) }, nil, nil, nil)
  }
  var message: UnsafeMutablePointer<CChar>?
  let code = sqlite3_exec(handle, sql, nil, nil, &message)
  defer { sqlite3_free(message) }
  try #require(code == SQLITE_OK, "\(message.map { String(cString: $0) } ?? "")")
  return url
}

/// A connection with a function `probe` that gives 1.
func connection(
  _ url: URL, readsViews: Bool = false, trustsSchema: Bool = false
) throws -> SQLiteConnection {
  var options = SQLiteOptions(.file(url.filePath))
  options.readsViews = readsViews
  options.trustsSchema = trustsSchema
  options.functions = [
    SQLFunction(name: "probe", arguments: -1) { context, _, arguments in
      SQLCall(context, arguments).returns(true)
    }
  ]
  return try SQLiteConnection(options)
}

/// The error of a body that SQLite must refuse.
func refusal(_ body: () throws -> Void) throws -> SQLiteError {
  try #require(throws: SQLiteError.self) { try body() }
}
