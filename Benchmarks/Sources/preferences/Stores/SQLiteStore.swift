import Foundation
import GRDBSQLite

/// One table, a write-ahead log, and statements that are prepared once; each runs by itself.
final class SQLiteStore: Store {
  private let database: OpaquePointer
  private var insertion: OpaquePointer?
  private var selection: OpaquePointer?

  init(directory: URL) throws {
    var opened: OpaquePointer?
    let path = directory.appendingPathComponent("bench.sqlite").path
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    try Self.check(sqlite3_open_v2(path, &opened, flags, nil))
    guard let opened else { throw StoreError(peer: .sqlite, code: -1) }
    database = opened
    try execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
    try execute(
      "CREATE TABLE IF NOT EXISTS bench (key TEXT PRIMARY KEY, value) WITHOUT ROWID")
    insertion = try prepare(
      "INSERT INTO bench VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value")
    selection = try prepare("SELECT value FROM bench WHERE key = ?1")
  }

  deinit {
    sqlite3_finalize(insertion)
    sqlite3_finalize(selection)
    sqlite3_close(database)
  }

  static func fill(_ keys: Keys, in directory: URL) throws {
    let store = try SQLiteStore(directory: directory)
    try store.execute("BEGIN")
    try store.set(keys, from: 0)
    try store.execute("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
  }

  func set(_ keys: Keys, from first: Int) throws {
    var value = first
    for key in keys.bytes {
      bind(key, to: insertion)
      sqlite3_bind_int64(insertion, 2, Int64(value))
      try Self.check(sqlite3_step(insertion), allowing: SQLITE_DONE)
      sqlite3_reset(insertion)
      value += 1
    }
  }

  func sum(_ keys: Keys) throws -> Int {
    var sum = 0
    for key in keys.bytes {
      bind(key, to: selection)
      try Self.check(sqlite3_step(selection), allowing: SQLITE_ROW)
      sum += Int(sqlite3_column_int64(selection, 0))
      sqlite3_reset(selection)
    }
    return sum
  }

  /// The key's memory outlives the statement's run, so nothing is copied.
  private func bind(_ key: UnsafeRawBufferPointer, to statement: OpaquePointer?) {
    let text = key.baseAddress?.assumingMemoryBound(to: CChar.self)
    sqlite3_bind_text(statement, 1, text, Int32(key.count), nil)
  }

  private func prepare(_ sql: String) throws -> OpaquePointer? {
    var statement: OpaquePointer?
    try Self.check(sqlite3_prepare_v2(database, sql, -1, &statement, nil))
    return statement
  }

  private func execute(_ sql: String) throws {
    try Self.check(sqlite3_exec(database, sql, nil, nil, nil))
  }

  private static func check(_ code: Int32, allowing allowed: Int32 = 0) throws {
    try StoreError.check(code, .sqlite, allowing: allowed)
  }
}
