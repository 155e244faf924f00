import CSteadFiles
import CSteadSQLite
import Foundation
import SteadSQLite

/// The tables of a cache's file; Documentation/DiskCacheFile.md draws them.
///
/// Two tables for one entry, so that eviction reads and moves small rows in the order of use, and a
/// get finds everything else in one row whose id doesn't change.
enum CacheSchema {
  /// Another number for each form of the tables or of the files of values.
  static let version: Int64 = 1
  /// "SdDC", where SQLite keeps the number of the application that a file belongs to.
  static let application: Int64 = 0x5364_4443

  /// The tables before the indexes; `VACUUM` recreates them in this order.
  private static let tables = [
    // One row: what all entries have in common.
    """
    CREATE TABLE state(one INTEGER PRIMARY KEY, size INTEGER NOT NULL, count INTEGER NOT NULL, \
    sequence INTEGER NOT NULL, generation INTEGER NOT NULL, salt BLOB NOT NULL, boot TEXT NOT NULL)
    """,
    // Small rows in the order of use, from which entries are removed.
    """
    CREATE TABLE entries(used INTEGER PRIMARY KEY, id INTEGER NOT NULL, hash INTEGER NOT NULL, \
    size INTEGER NOT NULL, stored INTEGER NOT NULL, expires INTEGER NOT NULL, form INTEGER NOT NULL)
    """,
    // What a get needs, in one row.
    """
    CREATE TABLE contents(id INTEGER PRIMARY KEY, stored INTEGER NOT NULL, expires INTEGER NOT NULL, \
    form INTEGER NOT NULL, length INTEGER NOT NULL, head INTEGER NOT NULL, body INTEGER NOT NULL, \
    key BLOB NOT NULL, tags BLOB NOT NULL, metadata BLOB NOT NULL, value BLOB)
    """,
    "CREATE TABLE tags(tag BLOB NOT NULL, id INTEGER NOT NULL, PRIMARY KEY(tag, id)) WITHOUT ROWID",
    "CREATE INDEX entries_by_hash ON entries(hash, id)",
    "CREATE INDEX entries_by_expiry ON entries(expires) WHERE expires < 9223372036854775807",
    "CREATE INDEX tags_by_id ON tags(id)",
  ]

  /// Creates the tables in a file without any, or throws if the file has others.
  static func prepare(_ connection: SQLiteConnection, boot: String) throws {
    if try connection.integer("PRAGMA page_count") == 0 {
      // A map of what points to each page would be written with every set. Without effect once a
      // page exists.
      try connection.execute("PRAGMA auto_vacuum = NONE")
    }
    _ = try connection.useLog()
    if try connection.integer("SELECT count(*) FROM sqlite_schema") == 0 {
      try make(on: connection, boot: boot)
    }
    // The whole text of each statement: another program's file may have tables of these names, and
    // a version of this library that changes a column would otherwise fail in the middle of a call.
    // Indexes that SQLite makes for itself have no text.
    guard try connection.integer("PRAGMA application_id") == application,
      try connection.integer("PRAGMA user_version") == version,
      try connection.rows("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")
        == tables.map({ [.text($0)] })
    else { throw CacheFailure.unknownFile }
  }

  private static func make(on connection: SQLiteConnection, boot: String) throws {
    // One transaction: a process that is killed in between leaves an empty file, which the next one
    // fills, and no half of the tables.
    try connection.run("BEGIN IMMEDIATE")
    do {
      for table in tables { try connection.execute(table) }
      // `UInt8.random` draws from the system's generator, so nobody can predict the salt.
      let salt = Data((0..<16).map { _ in UInt8.random(in: 0...255) })
      try connection.run(
        "INSERT INTO state VALUES (1, 0, 0, 0, ?, ?, ?)",
        [.integer(Int64.random(in: 1 ... .max)), .blob(salt), .text(boot)])
      try connection.execute("PRAGMA application_id = \(application)")
      try connection.execute("PRAGMA user_version = \(version)")
      try connection.run("COMMIT")
    } catch {
      try? connection.run("ROLLBACK")
      throw error
    }
  }
}

// MARK: - Rows

/// A row of the table `contents`, with verified checksums.
///
/// Checksums and not `PRAGMA synchronous`: the cache never syncs, so after a power cut any page may
/// be old. A row that fails its checksum is a miss.
struct StoredEntry: Sendable {
  /// Properties of an entry, as bits of its rows.
  struct Form: OptionSet, Sendable {
    let rawValue: Int64
    /// The value is in a separate file.
    static let file = Form(rawValue: 1)
    /// Rows of the table `tags` name the entry.
    static let tags = Form(rawValue: 2)
    /// A use lets the entry live longer.
    static let idle = Form(rawValue: 4)
  }

  /// The valid range of sizes and counts: a damaged file may hold anything, and sums of these don't
  /// overflow.
  static let sizes = 0...Int64(1) << 50
  /// The valid range of numbers of the file's sequence.
  static let numbers = 0...Int64(1) << 62

  /// When the entry was last used, as a number of the file's sequence.
  var used: Int64 = 0
  var id: Int64
  var stored: Int64
  var expires: Int64
  var form: Form
  /// The value's bytes.
  var length: Int
  /// The value's CRC-32C.
  var body: UInt32
  var key: Data
  var tags: TagList
  var metadata: Data
  /// The value; nil when it is in a file.
  var value: Data?

  /// The bytes that count for ``DiskCache/Limits/totalSizeLimit``.
  var size: Int { key.count + tags.bytes.count + metadata.count + length }

  /// Whether the entry is valid at a time. One that was stored in the future was stored by a wrong
  /// clock, so its age is unknown.
  func isValid(at moment: Int64, evenIfStoredLater: Bool) -> Bool {
    (evenIfStoredLater || stored <= moment) && moment < expires
  }

  /// The CRC-32C of everything but the value, including the value's checksum, so that no field can
  /// be another entry's.
  var head: UInt32 {
    Self.head(
      numbers: (id, stored, expires, form.rawValue, Int64(length), Int64(body)),
      parts: (key, tags.bytes, metadata))
  }

  private static func head(
    numbers: (Int64, Int64, Int64, Int64, Int64, Int64), parts: (Data, Data, Data)
  ) -> UInt32 {
    // Nine numbers of one size, so the tuple has no padding, whose bytes would be undefined.
    var fields = (
      numbers.0.littleEndian, numbers.1.littleEndian, numbers.2.littleEndian,
      numbers.3.littleEndian, numbers.4.littleEndian, numbers.5.littleEndian,
      Int64(parts.0.count).littleEndian, Int64(parts.1.count).littleEndian,
      Int64(parts.2.count).littleEndian
    )
    var sum = withUnsafeBytes(of: &fields) { stead_crc32c(0, $0.baseAddress!, $0.count) }
    for part in [parts.0, parts.1, parts.2] where !part.isEmpty { sum = part.checksum(after: sum) }
    return sum
  }
}

extension Data {
  /// The CRC-32C of these bytes, continued from the checksum of others.
  func checksum(after sum: UInt32 = 0) -> UInt32 {
    withUnsafeBytes { bytes in
      bytes.baseAddress.map { stead_crc32c(sum, $0, bytes.count) } ?? sum
    }
  }
}

// MARK: - Tags

/// An entry's tags in the bytes of its row: of each, in order of their bytes, a length of four
/// bytes, the least significant first, and the UTF-8.
struct TagList: Sendable {
  let bytes: Data

  init(bytes: Data) { self.bytes = bytes }

  init(_ tags: Set<String>) {
    var bytes = Data()
    for tag in tags.map({ Array($0.utf8) }).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      // A length and no separator: a tag may hold any byte.
      withUnsafeBytes(of: UInt32(tag.count).littleEndian) { bytes.append(contentsOf: $0) }
      bytes.append(contentsOf: tag)
    }
    self.bytes = bytes
  }

  /// The UTF-8 of each tag; of bytes that end within a tag, the tags before it.
  var parts: [Data] {
    var parts: [Data] = []
    var rest = bytes
    while rest.count >= 4 {
      let count = Int(rest.prefix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
      rest = rest.dropFirst(4)
      guard count <= rest.count else { break }
      parts.append(Data(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    return parts
  }

  var tags: Set<String> { Set(parts.map { String(decoding: $0, as: UTF8.self) }) }
}

// MARK: - Hashes of keys

/// SipHash-1-3 of a key (<https://www.aumasson.jp/siphash/siphash.pdf>), with the salt of the
/// cache's file. Not Swift's `Hasher`, whose values differ between processes.
///
/// The salt is random, so that nobody who chooses keys, such as a server that chooses addresses,
/// can give many of them the same hash. Keys are still compared as a whole.
struct KeyHash: Sendable {
  private let salt: (UInt64, UInt64)

  init(salt: (UInt64, UInt64)) { self.salt = salt }

  /// The hash of a key's bytes, in time proportional to their number.
  func callAsFunction(_ bytes: UnsafeRawBufferPointer) -> Int64 {
    var state = State(salt)
    let wholeCount = bytes.count & ~7
    for offset in stride(from: 0, to: wholeCount, by: 8) {
      state.absorb(
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
    }
    // The last word has the bytes that are left, and the length modulo 256 in its highest byte.
    var last = UInt64(bytes.count & 0xff) << 56
    for index in wholeCount..<bytes.count {
      last |= UInt64(bytes[index]) << (8 * UInt64(index - wholeCount))
    }
    state.absorb(last)
    return Int64(bitPattern: state.finish())
  }

  private struct State {
    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64

    init(_ salt: (UInt64, UInt64)) {
      // The constants of the paper: "somepseudorandomlygeneratedbytes".
      v0 = salt.0 ^ 0x736f_6d65_7073_6575
      v1 = salt.1 ^ 0x646f_7261_6e64_6f6d
      v2 = salt.0 ^ 0x6c79_6765_6e65_7261
      v3 = salt.1 ^ 0x7465_6462_7974_6573
    }

    mutating func absorb(_ word: UInt64) {
      v3 ^= word
      // One round for each word, and three at the end: the 1 and the 3 of SipHash-1-3.
      round()
      v0 ^= word
    }

    mutating func finish() -> UInt64 {
      v2 ^= 0xff
      for _ in 0..<3 { round() }
      return v0 ^ v1 ^ v2 ^ v3
    }

    private mutating func round() {
      v0 &+= v1
      v2 &+= v3
      v1 = (v1 << 13 | v1 >> 51) ^ v0
      v3 = (v3 << 16 | v3 >> 48) ^ v2
      v0 = v0 << 32 | v0 >> 32
      v2 &+= v1
      v0 &+= v3
      v1 = (v1 << 17 | v1 >> 47) ^ v2
      v3 = (v3 << 21 | v3 >> 43) ^ v0
      v2 = v2 << 32 | v2 >> 32
    }
  }
}

// MARK: - Times

/// Times as a cache's file has them: milliseconds since 1970, of the wall clock, which all
/// processes share.
enum WallClock {
  /// The expiry of entries that do not expire.
  static let never = Int64.max

  static func milliseconds(_ date: Date) -> Int64 {
    let value = (date.timeIntervalSince1970 * 1000).rounded(.down)
    // A date out of range becomes the nearest one in range.
    return Int64(exactly: value) ?? (value < 0 ? .min : never - 1)
  }

  static func date(_ milliseconds: Int64) -> Date {
    Date(timeIntervalSince1970: Double(milliseconds) / 1000)
  }

  /// When an entry expires that is stored now.
  static func expiry(of timeToLive: Duration?, from moment: Int64) -> Int64 {
    // A `Duration` reaches further than 64-bit milliseconds. What overflows is for ever, or over
    // already.
    guard let timeToLive else { return never }
    let (seconds, attoseconds) = timeToLive.components
    let (whole, overflows) = seconds.multipliedReportingOverflow(by: 1000)
    if overflows { return seconds < 0 ? moment : never }
    let (sum, isTooLate) = moment.addingReportingOverflow(whole)
    if isTooLate { return seconds < 0 ? moment : never }
    let (result, isOver) = sum.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
    return isOver ? never : result
  }
}
