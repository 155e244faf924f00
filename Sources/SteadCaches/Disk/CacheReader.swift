import CSteadFiles
import CSteadSQLite
import Foundation
import SteadSQLite

// Sendable: the pool of an open database lends a reader to one thread at a time.
/// A connection that reads entries.
final class CacheReader: @unchecked Sendable {
  /// How long a read waits while another process repairs the log after a crash, in milliseconds.
  static let lockPatience: Int32 = 100
  /// The page cache of the reader that one thread uses, and of those that further threads need, in KiB.
  static let (firstCacheSize, cacheSize) = (4_096, 1_024)
  /// Gets that follow each other faster than this share one snapshot: to begin and end one takes two locks.
  static let burst = Duration.microseconds(500)
  /// How long a snapshot may last. This is also how long it takes to notice a commit whose process was killed before it
  /// counted it.
  static let snapshotLifetime = Duration.milliseconds(2)

  private struct Snapshot {
    /// How often the cache had been changed when it began.
    let count: UInt64
    let end: ContinuousClock.Instant
  }

  let connection: SQLiteConnection
  private let lookUp: SQLiteStatement
  private var snapshot: Snapshot?
  private var lastUse: ContinuousClock.Instant?

  /// The index has all that the first table is asked for, so a get descends two trees.
  private static let lookUpSQL = """
    SELECT e.used, c.id, c.stored, c.expires, c.form, c.length, c.head, c.body, c.key, c.tags, \
    c.metadata, c.value FROM entries AS e INDEXED BY entries_by_hash \
    CROSS JOIN contents AS c ON c.id = e.id WHERE e.hash = ?
    """

  init(_ connection: SQLiteConnection) throws {
    self.connection = connection
    lookUp = try SQLiteStatement(Self.lookUpSQL, on: connection)
  }

  // MARK: Snapshots

  /// Whether a snapshot is open, which keeps the log from being used from its start again.
  var hasSnapshot: Bool { snapshot != nil }

  /// Ensures that the next read sees everything that was committed before this call.
  ///
  /// - Parameter count: How often the cache was changed; nil if that can't be determined, and then no snapshot is kept.
  func prepare(count: UInt64?) throws {
    let now = ContinuousClock.now
    defer { lastUse = now }
    if let snapshot {
      if snapshot.count == count, now < snapshot.end { return }
      try endSnapshot()
    }
    guard let count, let lastUse, now - lastUse < Self.burst else { return }
    try connection.run("BEGIN")
    snapshot = Snapshot(count: count, end: now + Self.snapshotLifetime)
  }

  func endSnapshot() throws {
    guard snapshot != nil else { return }
    snapshot = nil
    try connection.run("COMMIT")
  }

  // MARK: Entries

  /// The entry of a key, as it was written; nil if none exists, or if its row is damaged.
  ///
  /// - Parameter readsValue: Whether a value in the row is read and compared with its checksum.
  func entry(for key: UnsafeRawBufferPointer, hash: Int64, readsValue: Bool = true) throws
    -> StoredEntry?
  {
    lookUp.rewind()
    // A statement that is not reset keeps its snapshot.
    defer { lookUp.rewind() }
    lookUp.bind(hash, at: 1)
    while try lookUp.step() {
      guard lookUp.bytes(8).elementsEqual(key) else { continue }
      return StoredEntry(lookUp, readsValue: readsValue)
    }
    return nil
  }
}

extension StoredEntry {
  /// The entry of a row as `CacheReader` selects it; nil when a checksum isn't right.
  init?(_ row: SQLiteStatement, readsValue: Bool) {
    used = row.integer(0)
    id = row.integer(1)
    stored = row.integer(2)
    expires = row.integer(3)
    form = Form(rawValue: row.integer(4))
    guard Self.sizes.contains(row.integer(5)) else { return nil }
    length = Int(row.integer(5))
    let head = UInt32(truncatingIfNeeded: row.integer(6))
    body = UInt32(truncatingIfNeeded: row.integer(7))
    key = row.data(8)
    tags = TagList(bytes: row.data(9))
    metadata = row.data(10)
    guard head == self.head else { return nil }
    guard readsValue, !form.contains(.file) else { return }
    let bytes = row.bytes(11)
    guard bytes.count == length, bytes.checksum == body else { return nil }
    value = Data(bytes)
  }
}

extension SQLiteStatement {
  /// The bytes of a column, valid until the next step.
  func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    guard let start = sqlite3_column_blob(pointer, column) else {
      return .init(start: nil, count: 0)
    }
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(pointer, column)))
  }

  /// Binds bytes that stay where they are until the statement has run.
  func bind(borrowing bytes: UnsafeRawBufferPointer, at parameter: Int32) {
    if let start = bytes.baseAddress, !bytes.isEmpty {
      sqlite3_bind_blob64(pointer, parameter, start, UInt64(bytes.count), nil)
    } else {
      sqlite3_bind_zeroblob(pointer, parameter, 0)
    }
  }
}

extension UnsafeRawBufferPointer {
  /// The bytes' CRC-32C.
  var checksum: UInt32 { baseAddress.map { stead_crc32c(0, $0, count) } ?? 0 }
}
