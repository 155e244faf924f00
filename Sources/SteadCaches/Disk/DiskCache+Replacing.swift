import Foundation

extension DiskCache {
  /// The result of a change that depends on what is stored.
  enum Replacement: Sendable {
    case done
    /// Something else is stored than was expected.
    case conflict
    /// The new metadata are too long, or the disk can't be written; the stored entry is unchanged.
    case failed
  }

  /// Stores an entry without a value in place of another one, unless that has changed since it was looked up.
  ///
  /// The look-up and the change are one transaction, so that of several such changes none undoes another.
  ///
  /// - Parameters:
  ///   - old: The entry that was seen; nil if there was none.
  ///   - tags: The tags of an entry that is new.
  func replace(
    _ old: Entry?, with metadata: Data, for key: String, tags: Set<String>
  ) -> Replacement {
    guard let old else { return add(metadata, for: key, tags: tags) }
    return setMetadata(metadata, for: key, ifStoredAs: old.id, holding: old.metadata)
  }

  private func add(_ metadata: Data, for key: String, tags: Set<String>) -> Replacement {
    defer { database.report() }
    let new = NewEntry(key, metadata: metadata, tags: tags)
    guard fits(new, length: 0) else { return .failed }
    let uses = database.uses
    return database.write { [flights] transaction, _ in
      transaction.whenCommitted = { flights.forget(key) }
      if try self.hasEntry(key, transaction) { return .conflict }
      try transaction.remove(transaction.rows(of: Data(key.utf8)))
      try self.add(new, to: &transaction, uses)
      return .done
    } ?? .failed
  }

  private func add(
    _ new: NewEntry, to transaction: inout CacheTransaction, _ uses: RecencyLog
  ) throws {
    try Data().withUnsafeBytes { value in
      var entry = StoredEntry(
        id: 0, stored: transaction.now,
        expires: WallClock.expiry(of: new.timeToLive ?? limits.timeToLive, from: transaction.now),
        form: new.tags.bytes.isEmpty ? [] : .tags, length: 0, body: value.checksum,
        key: Data(new.key.utf8), tags: new.tags, metadata: new.metadata)
      try transaction.makeRoom(forCount: 1, size: entry.size, uses)
      try transaction.add(&entry, value: value)
    }
  }

  /// Replaces the metadata of an entry.
  ///
  /// - Parameter old: The metadata that the entry must have; nil for any.
  func setMetadata(
    _ metadata: Data, for key: String, ifStoredAs id: Entry.ID, holding old: Data?
  ) -> Replacement {
    defer { database.report() }
    let (uses, limits) = (database.uses, limits)
    return database.write { transaction, open in
      guard id.generation == open.generation,
        let row = try transaction.rows(of: Data(key.utf8)).first(where: { $0.id == id.number }),
        var entry = try transaction.entry(id.number), old == nil || entry.metadata == old
      else { return .conflict }
      let growth = metadata.count - entry.metadata.count
      entry.metadata = metadata
      guard entry.size <= limits.largestEntry,
        entry.size - entry.length <= DiskCache.headSizeLimit
      else { return .failed }
      // The entry becomes the newest, so that it isn't removed to make space for itself.
      try transaction.replaceMetadata(entry, row, growth: growth)
      try transaction.makeRoom(forCount: 0, size: 0, uses)
      return .done
    } ?? .failed
  }
}
