import Foundation
import GRDBSQLite

/// A cache as one would write it with SQLite's own interface: one table, the same limit, and the entries that were
/// stored first removed first. It has no checksums, no expiry, and notes no uses.
final class PlainCache {
  struct Failure: Error { let message: String }

  private let path: String
  private let limit: Int
  private var handle: OpaquePointer?
  private var statements: [OpaquePointer?] = []

  private static let texts = [
    "BEGIN IMMEDIATE", "COMMIT", "SELECT size FROM state",
    "SELECT id, size FROM cache WHERE key = ?", "DELETE FROM cache WHERE id = ?",
    "SELECT id, size FROM cache ORDER BY used LIMIT 1",
    "INSERT INTO cache(key, size, used, value) VALUES (?, ?, ?, ?)", "UPDATE state SET size = ?",
    "SELECT value FROM cache WHERE key = ?",
  ]
  private enum Statement: Int {
    case begin, commit, size, find, delete, oldest, insert, update, get
  }

  init(_ path: String, limit: Int) throws {
    self.path = path
    self.limit = limit
    guard
      sqlite3_open_v2(
        path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil)
        == SQLITE_OK,
      sqlite3_exec(
        handle,
        """
        PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
        CREATE TABLE cache(id INTEGER PRIMARY KEY, key TEXT UNIQUE, size INTEGER, used INTEGER, value BLOB);
        CREATE INDEX by_use ON cache(used);
        CREATE TABLE state(size INTEGER); INSERT INTO state VALUES (0);
        """, nil, nil, nil) == SQLITE_OK
    else { throw failure }
    for text in Self.texts {
      var statement: OpaquePointer?
      guard
        sqlite3_prepare_v3(handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
          == SQLITE_OK
      else { throw failure }
      statements.append(statement)
    }
  }

  deinit {
    for statement in statements { sqlite3_finalize(statement) }
    sqlite3_close_v2(handle)
  }

  func removeFiles() {
    for end in ["", "-wal", "-shm"] { unlink(path + end) }
  }

  private var failure: Failure { Failure(message: String(cString: sqlite3_errmsg(handle))) }

  private func take(_ statement: Statement) -> OpaquePointer? {
    sqlite3_reset(statements[statement.rawValue])
    return statements[statement.rawValue]
  }

  private func run(_ statement: Statement, _ number: Int64? = nil) throws {
    let pointer = take(statement)
    if let number { sqlite3_bind_int64(pointer, 1, number) }
    guard sqlite3_step(pointer) == SQLITE_DONE else { throw failure }
    sqlite3_reset(pointer)
  }

  private func row(_ statement: Statement) -> (Int64, Int64)? {
    let pointer = statements[statement.rawValue]
    defer { sqlite3_reset(pointer) }
    guard sqlite3_step(pointer) == SQLITE_ROW else { return nil }
    return (sqlite3_column_int64(pointer, 0), sqlite3_column_int64(pointer, 1))
  }

  private func bind(_ key: String, to pointer: OpaquePointer?) {
    var key = key
    key.withUTF8 {
      _ = $0.withMemoryRebound(to: CChar.self) {
        sqlite3_bind_text(
          pointer, 1, $0.baseAddress, Int32($0.count),
          unsafeBitCast(-1, to: sqlite3_destructor_type.self))
      }
    }
  }

  func set(_ value: Data, for key: String) throws {
    try run(.begin)
    _ = take(.size)
    var size = Int(row(.size)?.0 ?? 0)
    bind(key, to: take(.find))
    if let (id, length) = row(.find) {
      try run(.delete, id)
      size -= Int(length)
    }
    while size + value.count > limit {
      _ = take(.oldest)
      guard let (id, length) = row(.oldest) else { break }
      try run(.delete, id)
      size -= Int(length)
    }
    let insert = take(.insert)
    bind(key, to: insert)
    sqlite3_bind_int64(insert, 2, Int64(value.count))
    sqlite3_bind_int64(insert, 3, Int64(nanoseconds))
    try value.withUnsafeBytes {
      sqlite3_bind_blob64(insert, 4, $0.baseAddress, UInt64($0.count), nil)
      guard sqlite3_step(insert) == SQLITE_DONE else { throw failure }
    }
    sqlite3_reset(insert)
    try run(.update, Int64(size + value.count))
    try run(.commit)
  }

  func value(for key: String) throws -> Data? {
    let get = take(.get)
    bind(key, to: get)
    defer { sqlite3_reset(get) }
    guard sqlite3_step(get) == SQLITE_ROW, let start = sqlite3_column_blob(get, 0) else {
      return nil
    }
    return Data(bytes: start, count: Int(sqlite3_column_bytes(get, 0)))
  }

  private var nanoseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
