import Foundation
import SteadFiles

extension DiskCache {
  /// An entry to store, without its value.
  struct NewEntry: Sendable {
    let key: String
    let metadata: Data
    let timeToLive: Duration?
    let tags: TagList
    /// The ticket of the load that produced the value; nil for a value that is set directly.
    var ticket: LoadTicket?
    /// The id of the entry that the load found and could not decode: it may be replaced, unlike any
    /// other that was set meanwhile.
    var unusable: Int64?

    init(
      _ key: String, metadata: Data = Data(), timeToLive: Duration? = nil, tags: Set<String> = []
    ) {
      self.key = key
      self.metadata = metadata
      self.timeToLive = timeToLive
      self.tags = TagList(tags)
    }

    /// The bytes of all but the value.
    var size: Int { key.utf8.count + metadata.count + tags.bytes.count }
  }

  /// The identity and the times of a stored value.
  struct Stored: Sendable {
    /// Nil for a value that is only in the memory over the disk.
    let id: Entry.ID?
    let stored: Int64
    let expires: Int64
    /// Whether a use extends the entry's life (``Limits/timeToIdle``).
    let isIdle: Bool

    func isValid(at moment: Int64) -> Bool { stored <= moment && moment < expires }
  }

  /// Stores a value; nil when it isn't stored.
  ///
  /// - Parameters:
  ///   - origin: The object that makes the change, whose ``ChangeToken`` stays the same.
  func setData(_ data: Data, for new: NewEntry, by origin: ChangeOrigin? = nil) -> Stored? {
    // Before the transaction: an entry that fits no limit would evict all others, and still have no
    // room.
    guard fits(new, length: data.count) else { return nil }
    if data.count < Self.fileThreshold {
      return data.withUnsafeBytes { bytes in
        store(new, length: data.count, body: bytes.checksum, by: origin) { entry, transaction, _ in
          try transaction.add(&entry, value: bytes)
        }
      }
    }
    return database.withDraft { draft in
      // Outside of the transaction: other processes wait for its lock, and writing a large file
      // takes long.
      try draft.append(data)
      return commit(&draft, as: new, by: origin)
    }
  }

  /// Whether the limits have room for an entry with a value of a length, if all others are evicted.
  func fits(_ new: NewEntry, length: Int) -> Bool {
    limits.countLimit > 0 && new.size <= Self.headSizeLimit
      && length <= limits.largestEntry - new.size
  }

  /// Makes a draft the value of a key; nil leaves the draft to the caller.
  ///
  /// Invariant: the file gets its final name within the transaction, after the row was inserted and
  /// before the commit. A process that is killed in between leaves a file without a row, which the
  /// sweep removes, and never a row without a file.
  func commit(
    _ draft: inout ValueFileDraft, as new: NewEntry, by origin: ChangeOrigin? = nil
  ) -> Stored? {
    do {
      try draft.finish()
    } catch {
      database.handle(error)
      return nil
    }
    let (directory, body, length) = (database.directory, draft.sum, draft.length)
    // A copy that knows the new path. The caller's draft gets it after the commit alone, so that a
    // failure removes the file under its old name.
    var moved = draft
    let database = database
    let stored = store(new, length: length, body: body, form: .file, by: origin) {
      [path = draft.path] entry, transaction, open in
      try transaction.add(&entry, value: nil)
      let name = open.name(ofValue: entry.id)
      try moved.move(to: directory.path(ofValue: name))
      // Renamed back at once, while the lock is held: later the name may be another value's, and
      // the body of the transaction may run again, in another database.
      transaction.whenFailed = {
        if (try? moved.move(to: path)) == nil { database.removeFile(name) }
      }
    }
    if stored != nil { draft = moved }
    return stored
  }

  /// Replaces the entry of a key in one transaction: removes the old one, writes down some uses,
  /// evicts entries, and adds the new one.
  ///
  /// Invariant: in every committed state a key has at most one entry, and the limits hold. So the
  /// old entry is removed, and room is made, before the new one is added.
  ///
  /// - Parameter add: Adds the new entry, which has no id yet.
  private func store(
    _ new: NewEntry, length: Int, body: UInt32, form: StoredEntry.Form = [],
    by origin: ChangeOrigin?,
    add: (inout StoredEntry, inout CacheTransaction, OpenDatabase) throws -> Void
  ) -> Stored? {
    let uses = database.uses
    let stored = database.write(by: origin) { [loads] transaction, open -> Stored? in
      if let ticket = new.ticket {
        // A loaded value doesn't replace one that was set while it was loaded, by whatever process.
        guard ticket.isValid, try !hasEntry(new.key, but: new.unusable, transaction) else {
          return nil
        }
      } else {
        // Under the write lock: a load that stores later sees the cancelled ticket.
        transaction.whenCommitted = { loads.forget(new.key) }
      }
      var form = form
      if !new.tags.bytes.isEmpty { form.insert(.tags) }
      let times = times(of: new, storedAt: transaction.now)
      if times.isIdle { form.insert(.idle) }
      var entry = StoredEntry(
        id: 0, stored: times.stored, expires: times.expires, form: form, length: length, body: body,
        key: Data(new.key.utf8), tags: new.tags, metadata: new.metadata)
      // Before room is made: the old entry's size doesn't count any more.
      try transaction.remove(transaction.rows(of: entry.key))
      for stamp in uses.takeOldest() { try transaction.restamp(stamp) }
      try transaction.makeRoom(forCount: 1, size: entry.size, uses)
      try add(&entry, &transaction, open)
      return Stored(
        id: Entry.ID(generation: open.generation, number: entry.id), stored: entry.stored,
        expires: entry.expires, isIdle: times.isIdle)
    }
    return stored ?? nil
  }

  /// The times of an entry by the limits, whether or not it is stored.
  func times(of new: NewEntry, storedAt moment: Int64) -> Stored {
    let isIdle = new.timeToLive == nil && limits.timeToIdle != nil
    let expires = WallClock.expiry(of: new.timeToLive ?? limits.timeToLive, from: moment)
    return Stored(
      id: nil, stored: moment,
      expires: isIdle
        ? min(expires, WallClock.expiry(of: limits.timeToIdle, from: moment)) : expires,
      isIdle: isIdle)
  }

  /// Whether a key has a valid entry other than the one with an id.
  func hasEntry(
    _ key: String, but number: Int64? = nil, _ transaction: CacheTransaction
  ) throws -> Bool {
    try transaction.rows(of: Data(key.utf8)).contains { row in
      // A damaged one is as good as none.
      try row.id != number
        && transaction.entry(row.id)?.isValid(
          at: transaction.now, evenIfStoredLater: limits.findsEntriesStoredLater) == true
    }
  }
}

extension CacheDatabase {
  /// Runs a body with a new value's file, which is removed unless it has become an entry's.
  func withDraft<Result>(_ body: (inout ValueFileDraft) throws -> Result?) -> Result? {
    do {
      guard var draft = try makeDraft() else { return nil }
      do {
        guard let result = try body(&draft) else {
          draft.cancel()
          return nil
        }
        draft.close()
        return result
      } catch {
        draft.cancel()
        throw error
      }
    } catch {
      handle(error)
      return nil
    }
  }
}

// MARK: - Replacing metadata

extension DiskCache {
  /// The result of a change that depends on what is stored.
  enum Replacement: Sendable {
    case done
    /// Something else is stored than was expected.
    case conflict
    /// The new metadata are too long, or the disk can't be written; the stored entry is unchanged.
    case failed
  }

  /// Stores an entry without a value in place of another one, unless that has changed since it was
  /// looked up: compare-and-swap, for optimistic concurrency between processes.
  ///
  /// The comparison and the change are one transaction, so that of several such changes none is
  /// lost.
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
    return database.write { [loads] transaction, _ in
      // Also after a conflict, which commits nothing new: a load is loaded once too often at worst.
      transaction.whenCommitted = { loads.forget(key) }
      if try self.hasEntry(key, transaction) { return .conflict }
      // What is left of the key is expired or damaged, and counts as none.
      try transaction.remove(transaction.rows(of: Data(key.utf8)))
      try self.add(new, to: &transaction, uses)
      return .done
    } ?? .failed
  }

  /// Adds an entry with an empty value to a transaction, in which the key has none.
  private func add(
    _ new: NewEntry, to transaction: inout CacheTransaction, _ uses: RecencyLog
  ) throws {
    try Data().withUnsafeBytes { value in
      // Empty bytes and not NULL: a row without a value is one whose value is in a file.
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
      // The value stays where it is, in its row or its file: only the metadata are written.
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
