import CSteadFiles
import Foundation
import SteadFiles
import SteadSQLite
import Synchronization

/// One transaction that changes a cache, from its beginning to its commit.
struct CacheTransaction {
  /// How many expired entries a set removes at most, beyond those that it must.
  static let expiredPerSet = 8

  /// What all entries have in common, as the row of the table `state` has it.
  struct State: Sendable {
    var size: Int
    var count: Int
    /// The greatest number given to an entry or to a use of one.
    var sequence: Int64

    mutating func next() -> Int64 {
      sequence += 1
      return sequence
    }
  }

  /// A row of the table `entries`.
  struct Row {
    let used: Int64
    let id: Int64
    let size: Int
    let form: StoredEntry.Form
  }

  let connection: SQLiteConnection
  let hash: KeyHash
  let limits: DiskCache.Limits
  let now: Int64
  private(set) var state: State
  /// The entries whose files must be removed once the transaction is committed.
  private(set) var filesToRemove: [Int64] = []
  private(set) var evictions = 0
  /// Called once the changes are committed, before anything else can change.
  var whenCommitted: (() -> Void)?
  /// Called once the changes can no longer be committed, before anything else can change.
  var whenFailed: (() -> Void)?

  /// The transaction that has begun on a connection.
  init(
    on connection: SQLiteConnection, hash: KeyHash, limits: DiskCache.Limits, now: Int64
  ) throws {
    self.connection = connection
    self.hash = hash
    self.limits = limits
    self.now = now
    let row = try connection.statement("SELECT size, count, sequence FROM state")
    row.rewind()
    defer { row.rewind() }
    guard try row.step() else { throw SQLiteError.damaged("the cache's state is missing") }
    guard StoredEntry.sizes.contains(row.integer(0)), StoredEntry.sizes.contains(row.integer(1)),
      StoredEntry.numbers.contains(row.integer(2))
    else { throw SQLiteError.damaged("the cache's counts are out of range") }
    state = State(
      size: Int(row.integer(0)), count: Int(row.integer(1)), sequence: row.integer(2))
  }

  /// Writes down the changes of the state.
  func finish() throws {
    let update = try connection.statement("UPDATE state SET size = ?, count = ?, sequence = ?")
    update.rewind()
    update.bind(Int64(state.size), at: 1)
    update.bind(Int64(state.count), at: 2)
    update.bind(state.sequence, at: 3)
    try update.run()
  }

  // MARK: - Finding

  private static let columns = "used, id, size, form"

  /// The rows that a condition selects.
  func rows(_ condition: String, _ values: Int64...) throws -> [Row] {
    let select = try connection.statement("SELECT \(Self.columns) FROM entries \(condition)")
    select.rewind()
    defer { select.rewind() }
    for (index, value) in values.enumerated() { select.bind(value, at: Int32(index + 1)) }
    var rows: [Row] = []
    while try select.step() {
      guard StoredEntry.sizes.contains(select.integer(2)) else {
        throw SQLiteError.damaged("an entry's size is out of range")
      }
      rows.append(
        Row(
          used: select.integer(0), id: select.integer(1), size: Int(select.integer(2)),
          form: StoredEntry.Form(rawValue: select.integer(3))))
    }
    return rows
  }

  /// The rows of a key: one at most, as long as no program wrote past this library.
  func rows(of key: Data) throws -> [Row] {
    let hash = key.withUnsafeBytes { self.hash($0) }
    let candidates = try rows("INDEXED BY entries_by_hash WHERE hash = ?", hash)
    return try candidates.filter { row in
      let select = try connection.statement("SELECT key FROM contents WHERE id = ?")
      select.rewind()
      defer { select.rewind() }
      select.bind(row.id, at: 1)
      // A row without contents is of no use to any key.
      return try !select.step() || select.bytes(0).elementsEqual(key)
    }
  }

  /// The key of a row if it begins with some bytes; nil if it doesn't.
  func key(of row: Row, withPrefix prefix: String) throws -> Data? {
    let select = try connection.statement("SELECT key FROM contents WHERE id = ?")
    select.rewind()
    defer { select.rewind() }
    select.bind(row.id, at: 1)
    guard try select.step(), select.bytes(0).starts(with: prefix.utf8) else { return nil }
    return Data(select.bytes(0))
  }

  /// The numbers of entries that have a tag.
  func ids(taggedWith tag: String, limit: Int) throws -> [Int64] {
    let select = try connection.statement("SELECT id FROM tags WHERE tag = ? LIMIT ?")
    select.rewind()
    defer { select.rewind() }
    select.bind(.blob(Data(tag.utf8)), at: 1)
    select.bind(Int64(limit), at: 2)
    var ids: [Int64] = []
    while try select.step() { ids.append(select.integer(0)) }
    return ids
  }

  /// The row of an entry's number; none when a power cut has left the number alone.
  private func rows(withID id: Int64) throws -> [Row] {
    let select = try connection.statement("SELECT key FROM contents WHERE id = ?")
    select.rewind()
    select.bind(id, at: 1)
    guard try select.step() else {
      select.rewind()
      return []
    }
    let hash = self.hash(select.bytes(0))
    select.rewind()
    return try rows("INDEXED BY entries_by_hash WHERE hash = ? AND id = ?", hash, id)
  }

  // MARK: - Removing

  /// The entries that have expired, the oldest first. With the condition of the index, which SQLite would not use
  /// otherwise.
  static let expired = """
    INDEXED BY entries_by_expiry WHERE expires <= ? AND expires < \(WallClock.never) ORDER BY expires
    """

  mutating func remove(_ row: Row) throws {
    try run("DELETE FROM entries WHERE used = ?", row.used)
    try run("DELETE FROM contents WHERE id = ?", row.id)
    if row.form.contains(.tags) { try run("DELETE FROM tags WHERE id = ?", row.id) }
    if row.form.contains(.file) { filesToRemove.append(row.id) }
    state.size -= row.size
    state.count -= 1
    guard state.size >= 0, state.count >= 0 else {
      throw SQLiteError.damaged("the cache's counts do not match its entries")
    }
  }

  /// - Returns: How many they are.
  @discardableResult
  mutating func remove(_ rows: [Row]) throws -> Int {
    for row in rows { try remove(row) }
    return rows.count
  }

  /// Removes the entry with a number, and its tags even if a power cut has left nothing else of it.
  mutating func removeEntry(_ id: Int64) throws {
    try remove(rows(withID: id))
    try run("DELETE FROM tags WHERE id = ?", id)
  }

  /// Removes the oldest of the entries that have expired.
  mutating func removeExpired(limit: Int) throws {
    try remove(rows("\(Self.expired) LIMIT ?", now, Int64(limit)))
  }

  /// Removes entries until so many more with a size fit: expired ones, and then those not used for longest.
  mutating func makeRoom(forCount count: Int, size: Int, _ uses: RecencyLog) throws {
    try removeExpired(limit: Self.expiredPerSet)
    while state.size > limits.totalSizeLimit - size || state.count > limits.countLimit - count {
      if let expired = try rows("\(Self.expired) LIMIT 1", now).first {
        try remove(expired)
        continue
      }
      guard let oldest = try rows("ORDER BY used LIMIT 1").first else {
        // Without entries there is nothing to count.
        state.size = 0
        state.count = 0
        return
      }
      if uses.remove(oldest.used) {
        try restamp(oldest.used)
      } else {
        try remove(oldest)
        evictions += 1
      }
    }
  }

  // MARK: - Adding

  /// Makes an entry the one that was used last.
  mutating func restamp(_ used: Int64) throws {
    try run("UPDATE entries SET used = ? WHERE used = ?", state.next(), used)
  }

  /// Adds an entry of a key that has none, and gives it a number unless it has one.
  mutating func add(_ entry: inout StoredEntry, value: UnsafeRawBufferPointer?) throws {
    entry.used = state.next()
    if entry.id == 0 { entry.id = entry.used }
    try addRow(entry)
    try addContents(entry, value: value)
    for tag in entry.tags.parts {
      try connection.run(
        "INSERT OR IGNORE INTO tags VALUES (?, ?)", [.blob(tag), .integer(entry.id)])
    }
    state.size += entry.size
    state.count += 1
  }

  private func addRow(_ entry: StoredEntry) throws {
    let insert = try connection.statement("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)")
    insert.rewind()
    insert.bind(entry.used, at: 1)
    insert.bind(entry.id, at: 2)
    insert.bind(entry.key.withUnsafeBytes { self.hash($0) }, at: 3)
    insert.bind(Int64(entry.size), at: 4)
    insert.bind(entry.stored, at: 5)
    insert.bind(entry.expires, at: 6)
    insert.bind(entry.form.rawValue, at: 7)
    try insert.run()
  }

  private func addContents(_ entry: StoredEntry, value: UnsafeRawBufferPointer?) throws {
    let insert = try connection.statement(
      "INSERT INTO contents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
    insert.reset()
    insert.bind(entry.id, at: 1)
    insert.bind(entry.stored, at: 2)
    insert.bind(entry.expires, at: 3)
    insert.bind(entry.form.rawValue, at: 4)
    insert.bind(Int64(entry.length), at: 5)
    insert.bind(Int64(entry.head), at: 6)
    insert.bind(Int64(entry.body), at: 7)
    insert.bind(.blob(entry.key), at: 8)
    insert.bind(.blob(entry.tags.bytes), at: 9)
    insert.bind(.blob(entry.metadata), at: 10)
    if let value { insert.bind(borrowing: value, at: 11) }
    // Borrowed bytes must not stay bound.
    defer { insert.reset() }
    try insert.run()
  }

  // MARK: - Replacing metadata

  /// The stored form of an entry, without its value; nil if it is damaged.
  func entry(_ id: Int64) throws -> StoredEntry? {
    let select = try connection.statement(
      "SELECT 0, id, stored, expires, form, length, head, body, key, tags, metadata FROM contents WHERE id = ?"
    )
    select.rewind()
    defer { select.rewind() }
    select.bind(id, at: 1)
    return try select.step() ? StoredEntry(select, readsValue: false) : nil
  }

  /// Gives an entry other metadata, and makes it the most recently used.
  mutating func replaceMetadata(_ entry: StoredEntry, _ row: Row, growth: Int) throws {
    try connection.run(
      "UPDATE contents SET metadata = ?, head = ? WHERE id = ?",
      [.blob(entry.metadata), .integer(Int64(entry.head)), .integer(entry.id)])
    try run(
      "UPDATE entries SET used = ?, size = ? WHERE used = ?", state.next(), Int64(entry.size),
      row.used)
    state.size += growth
  }

  /// Lets a valid entry live longer, and returns whether it does.
  func prolong(_ id: Int64, until expires: Int64) throws -> Bool {
    guard var entry = try entry(id), entry.form.contains(.idle), now < entry.expires,
      let row = try rows(of: entry.key).first(where: { $0.id == id })
    else { return false }
    guard entry.expires < expires else { return true }
    entry.expires = expires
    try connection.run(
      "UPDATE contents SET expires = ?, head = ? WHERE id = ?",
      [.integer(expires), .integer(Int64(entry.head)), .integer(id)])
    try run("UPDATE entries SET expires = ? WHERE used = ?", expires, row.used)
    return true
  }

  // MARK: - Repairing

  /// Counts the entries again, after a power cut may have left outdated counts.
  mutating func recount() throws {
    state.size = Int(try connection.integer("SELECT sum(size) FROM entries") ?? 0)
    state.count = Int(try connection.integer("SELECT count(*) FROM entries") ?? 0)
    let newest = try connection.integer("SELECT max(used) FROM entries") ?? 0
    let highest = try connection.integer("SELECT max(id) FROM contents") ?? 0
    state.sequence = max(state.sequence, newest, highest)
    try connection.run("UPDATE state SET boot = ?", [.text(BootIdentifier.current)])
  }

  private func run(_ sql: String, _ values: Int64...) throws {
    let statement = try connection.statement(sql)
    statement.rewind()
    for (index, value) in values.enumerated() { statement.bind(value, at: Int32(index + 1)) }
    try statement.run()
  }
}

// MARK: - Uses that are not written down

/// Which entries were used since their last use was written down, in the order of use.
///
/// A get writes nothing. It notes the entry here, and each set writes down a few uses.
final class RecencyLog: Sendable {
  /// The fewest uses that are remembered; at twice as many the older half is forgotten. 24 bytes each.
  static let capacity = 16_384
  /// The most uses that one set writes down, at some 10 us each.
  static let usesPerSet = 16

  private let uses = Mutex(Uses())

  /// Notes that the entry with a stamp was used.
  func note(_ stamp: Int64) { uses.withLock { $0.note(stamp) } }

  /// Removes a stamp, and returns whether the entry was used.
  func remove(_ stamp: Int64) -> Bool { uses.withLock { $0.remove(stamp) } }

  /// Removes the oldest uses, and returns their stamps.
  func takeOldest(_ limit: Int = usesPerSet) -> [Int64] { uses.withLock { $0.takeOldest(limit) } }

  func removeAll() { uses.withLock { $0 = Uses() } }
}

private struct Uses {
  /// A stamp of an entry's last use, as the file has it, and where in `order` its newest use is.
  private var positions: [Int64: Int] = [:]
  /// Stamps in the order of use. An entry that was used again later appears twice, and its first position is void.
  private var order: [Int64] = []
  private var start = 0

  mutating func note(_ stamp: Int64) {
    if order.last == stamp { return }
    if order.count >= 2 * RecencyLog.capacity { compact() }
    positions[stamp] = order.count
    order.append(stamp)
  }

  mutating func remove(_ stamp: Int64) -> Bool { positions.removeValue(forKey: stamp) != nil }

  mutating func takeOldest(_ limit: Int) -> [Int64] {
    var taken: [Int64] = []
    while taken.count < limit, start < order.count {
      let stamp = order[start]
      if positions[stamp] == start {
        positions[stamp] = nil
        taken.append(stamp)
      }
      start += 1
    }
    if start == order.count {
      order.removeAll(keepingCapacity: true)
      start = 0
    }
    return taken
  }

  private mutating func compact() {
    let used = order.indices.dropFirst(start).filter { positions[order[$0]] == $0 }
    order = used.suffix(RecencyLog.capacity).map { order[$0] }
    start = 0
    positions = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, $0) })
  }
}
