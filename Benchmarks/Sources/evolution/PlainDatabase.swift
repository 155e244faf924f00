import BenchmarkHarness
import Foundation
import GRDBSQLite

/// SQLite's own interface, without anything in between.
final class PlainDatabase {
  struct Failure: Error { let message: String }

  private var handle: OpaquePointer?

  init(_ path: String) throws {
    guard sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else {
      throw failure
    }
  }

  deinit { sqlite3_close_v2(handle) }

  private var failure: Failure { Failure(message: String(cString: sqlite3_errmsg(handle))) }

  func execute(_ sql: String) throws {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure }
  }

  /// Steps through all rows, reads texts and numbers, and returns how many rows there are.
  func readAll(_ sql: String) throws -> Int {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw failure }
    defer { sqlite3_finalize(statement) }
    var (count, total) = (0, 0)
    while sqlite3_step(statement) == SQLITE_ROW {
      count += 1
      for column in 0..<sqlite3_column_count(statement) {
        if sqlite3_column_type(statement, column) == SQLITE_INTEGER {
          total &+= Int(sqlite3_column_int64(statement, column))
        } else if let text = sqlite3_column_text(statement, column) {
          let bytes = Int(sqlite3_column_bytes(statement, column))
          total &+=
            String(decoding: UnsafeBufferPointer(start: text, count: bytes), as: UTF8.self)
            .utf8.count
        }
      }
    }
    keep(total)
    return count
  }
}
