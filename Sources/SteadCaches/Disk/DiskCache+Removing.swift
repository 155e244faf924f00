public import Foundation

extension DiskCache {
  /// The number of entries that one transaction removes, so that other processes can write in
  /// between.
  private static let removalBatch = 500

  /// Removes all entries that have a tag.
  ///
  /// - Returns: Whether all are removed. False if the disk is full, the directory can't be used, or
  ///   another process keeps the cache locked; then some or all of them remain.
  @discardableResult
  public func removeValues(taggedWith tag: String) -> Bool {
    defer { database.report() }
    return removeEntries(taggedWith: tag)
  }

  /// ``removeValues(taggedWith:)`` for callers that hold locks, and so report problems later.
  func removeEntries(taggedWith tag: String) -> Bool {
    remove { transaction in
      // No offset: a batch that was removed is not found again by the next one.
      let ids = try transaction.ids(taggedWith: tag, limit: Self.removalBatch)
      for id in ids { try transaction.removeEntry(id) }
      // Ids, and not removed entries: tags without an entry count as well, or the loop would end
      // early.
      return ids.count
    }
  }

  /// Removes all entries that were stored at a moment or later. Reads every entry.
  ///
  /// - Returns: Whether all are removed, as of ``removeValues(taggedWith:)``.
  @discardableResult
  public func removeValues(storedSince moment: Date) -> Bool {
    defer { database.report() }
    return removeEntries(storedSince: moment)
  }

  /// ``removeValues(storedSince:)`` for callers that hold locks, and so report problems later.
  func removeEntries(storedSince moment: Date) -> Bool {
    let moment = WallClock.milliseconds(moment)
    return remove {
      try $0.remove($0.rows("WHERE stored >= ? LIMIT \(Self.removalBatch)", moment))
    }
  }

  /// Removes all entries whose keys begin with a prefix, byte for byte. Reads every entry.
  ///
  /// - Returns: Whether all are removed, as of ``removeValues(taggedWith:)``.
  @discardableResult
  public func removeValues(withPrefix prefix: String) -> Bool {
    defer { database.report() }
    var last = Int64.min
    return remove { transaction in
      let rows = try transaction.rows(
        "WHERE used > ? ORDER BY used LIMIT \(Self.removalBatch)", last)
      for row in rows where try transaction.key(of: row, withPrefix: prefix) != nil {
        // Keys aren't indexed, which would cost every set. So all rows are looked at.
        try transaction.remove(row)
      }
      // By the position in the order of use, and not by an offset: other processes write in
      // between.
      last = rows.last?.used ?? last
      return rows.count
    }
  }

  /// The keys that begin with a prefix, byte for byte, in the order of their last use; all keys
  /// without a prefix.
  ///
  /// Removes what has expired. Reads every entry, in a transaction for each 500 of them, which needs
  /// the write lock. Empty, or without the last ones, if the cache can't be used or another process
  /// keeps it locked; ``allKeys(withPrefix:)`` tells such a list from a complete one.
  public func keys(withPrefix prefix: String = "") -> [String] { listKeys(withPrefix: prefix).keys }

  /// The keys that begin with a prefix, as ``keys(withPrefix:)``; nil if not all entries could be
  /// read.
  ///
  /// ```swift
  /// guard let drafts = cache.allKeys(withPrefix: "draft/") else { return }  // Try again later.
  /// ```
  ///
  /// Has each key that has an entry from the beginning of the call to its end. Costs what
  /// ``keys(withPrefix:)`` costs. Nil if the cache can't be used or another process keeps it locked.
  public func allKeys(withPrefix prefix: String = "") -> [String]? {
    let (keys, isComplete) = listKeys(withPrefix: prefix)
    return isComplete ? keys : nil
  }

  private func listKeys(withPrefix prefix: String) -> (keys: [String], isComplete: Bool) {
    removeExpired()
    defer { database.report() }
    var (keys, last, isComplete) = ([Data](), Int64.min, false)
    while !isComplete {
      // A transaction for each batch: rows move to the end of the order when they are used, and a
      // long one would hold up other processes.
      let found = database.write { transaction, _ in
        let rows = try transaction.rows(
          "WHERE used > ? ORDER BY used LIMIT \(Self.removalBatch)", last)
        let keys = try rows.compactMap { try transaction.key(of: $0, withPrefix: prefix) }
        // Less than a batch: nothing is after it in this transaction. An entry that is used later
        // was met before.
        return (last: rows.last?.used, keys: keys, isLast: rows.count < Self.removalBatch)
      }
      guard let found else { break }
      keys += found.keys
      last = found.last ?? last
      isComplete = found.isLast
    }
    // An entry that was used meanwhile is met again.
    var seen: Set<Data> = []
    let once = keys.filter { seen.insert($0).inserted }
    return (once.map { String(decoding: $0, as: UTF8.self) }, isComplete)
  }

  /// The metadata of all entries that were stored at a moment or later, and whose keys begin with a
  /// text.
  ///
  /// Reads every entry.
  func metadata(ofKeysWithPrefix prefix: String, storedSince moment: Date) -> Set<Data> {
    defer { database.report() }
    let moment = WallClock.milliseconds(moment)
    var (all, last) = (Set<Data>(), Int64.min)
    while true {
      let rows = database.write { transaction, _ in
        let rows = try transaction.rows(
          "WHERE used > ? AND stored >= ? ORDER BY used LIMIT \(Self.removalBatch)", last, moment)
        for row in rows {
          // Damaged entries are skipped: a key with a wrong checksum proves nothing.
          guard let entry = try transaction.entry(row.id), entry.key.starts(with: prefix.utf8)
          else { continue }
          all.insert(entry.metadata)
        }
        return rows
      }
      guard let rows, let newest = rows.last else { return all }
      last = newest.used
    }
  }

  /// Removes all entries that have expired. Sets remove some on the way, so this only frees space
  /// sooner.
  public func removeExpired() {
    defer { database.report() }
    _ = remove(forgetsLoads: false) {
      try $0.remove($0.rows("\(CacheTransaction.expired) LIMIT \(Self.removalBatch)", $0.now))
    }
  }

  /// Removes all entries, and returns the space of their files.
  ///
  /// - Returns: Whether all are removed, as of ``removeValues(taggedWith:)``.
  @discardableResult
  public func removeAll() -> Bool {
    let isEmpty = removeEntries()
    database.reclaimSpace()
    database.report()
    return isEmpty
  }

  /// ``removeAll()`` for callers that hold locks, which reclaim the space and report problems
  /// later.
  func removeEntries() -> Bool {
    // Row by row, and not by replacing the file: other processes have it open, and files of values
    // have to go, too.
    remove { try $0.remove($0.rows("LIMIT \(Self.removalBatch)")) }
  }

  /// Removes entries in batches, one transaction each; returns whether all were removed.
  ///
  /// - Parameter removeBatch: Removes a batch, and returns the number of entries that it has looked
  ///   at.
  private func remove(
    forgetsLoads: Bool = true, _ removeBatch: (inout CacheTransaction) throws -> Int
  ) -> Bool {
    var count: Int?
    repeat {
      // A transaction that finds less than a batch is the last one; nil is a failure, and ends the
      // loop, too.
      count = database.write { [loads] transaction, _ in
        // With each batch: a load that began before it must not bring an entry back.
        if forgetsLoads { transaction.whenCommitted = { loads.forgetAll() } }
        return try removeBatch(&transaction)
      }
    } while count == Self.removalBatch
    return count != nil
  }
}
