import SteadFiles

/// A domain's table in transition: applies journal records and edits, and collects the changes for
/// handlers.
///
/// The table is moved in and out by ``DomainStore/State/changing(_:)``, so that changing it copies
/// nothing.
struct Replay {
  var table: DomainTable
  /// The encoded size of all keys and values, in bytes; nil until a quota asks for it, and after
  /// another checkpoint.
  var byteCount: Int?
  /// The published file, if a checkpoint was read; until ``DomainFile/recordPublished(_:)`` takes
  /// it.
  var published: PublishedFile?
  /// Whether there are handlers. Without any, changes are not collected.
  let isCollecting: Bool
  private(set) var ownChanges: [DomainEvent.Change] = []
  private var collected: [DomainEvent.Change] = []
  private var hasCheckpoint = false
  /// The keys of the record that was read last, for the stamps.
  var readKeys: [ReadKey] = []
  /// Counts changes from elsewhere, for caches derived from the table.
  var externalChanges = ExternalChangeCounts()

  /// A key of a record.
  struct ReadKey {
    var key: String
    /// When it was set first, if the record restores a lost file.
    var stamp: Journal.Stamp?
  }

  init(table: DomainTable, byteCount: Int?, isCollecting: Bool) {
    self.table = table
    self.byteCount = byteCount
    self.isCollecting = isCollecting
  }

  /// Applies a record or a checkpoint that the journal has read.
  ///
  /// A record changes single keys. A checkpoint replaces everything: it comes first when a journal
  /// is opened, and again when another process has compacted it or the file was replaced.
  ///
  /// - Throws: What decoding throws. A checkpoint has changed nothing then.
  mutating func apply(_ event: Journal.Event) throws {
    switch event {
    case .record(let bytes):
      // Even if no value changes: a cache must know that another process has written.
      externalChanges.records += 1
      var stamps = [Journal.Stamp]()[...]
      try DomainRecord.decode(bytes) { key, value in
        // The first operation of a record that restores carries the stamps of the others.
        if let restored = DomainEdit.restoredStamps(key, value) {
          stamps = restored[...]
          return
        }
        edit(key, value, isOwn: false)
        readKeys.append(ReadKey(key: key, stamp: stamps.popFirst()))
      }
    case .checkpoint(let bytes, let metadata):
      guard let published = PublishedFile(metadata: metadata) else {
        throw PreferencesError(
          code: .damaged,
          message: "The journal was written by an incompatible version of this library; update.")
      }
      // Decoded as a whole before anything changes, so a damaged checkpoint leaves the table as it
      // was.
      let fresh = try DomainTable(propertyList: bytes)
      // Another checkpoint has no list of changes: the tables are compared. Only if a handler wants
      // to know.
      if isCollecting { collect(from: table, to: fresh) }
      table = fresh
      hasCheckpoint = true
      externalChanges.rewrites += 1
      // Unknown after a checkpoint; the next write with a quota computes it.
      byteCount = nil
      self.published = published
    }
  }

  /// Changes one key.
  @inline(__always)
  mutating func edit(_ key: String, _ value: PropertyList?, isOwn: Bool) {
    let old = table.replace(key, with: value)
    // Kept up to date only once a quota has asked, since measuring costs as much as encoding.
    if let count = byteCount { byteCount = count + size(key, value) - size(key, old) }
    if isCollecting { record(DomainEvent.Change(key: key, old: old, new: value), isOwn: isOwn) }
  }

  /// Whether the keys have exactly these values; nil means no value.
  func matches(_ expected: [DomainEdit]) -> Bool {
    expected.allSatisfy { table[$0.key] == $0.value }
  }

  /// The encoded size of a key with its value. A stored value was measured before, so it cannot be
  /// too deep.
  private func size(_ key: String, _ value: PropertyList?) -> Int {
    value == nil ? 0 : (try? DomainRecord.byteCount(key, value)) ?? 0
  }

  /// Collects a change, unless the value is the same.
  private mutating func record(_ change: DomainEvent.Change, isOwn: Bool) {
    guard change.old != change.new else { return }
    if isOwn { ownChanges.append(change) } else { collected.append(change) }
  }

  // MARK: - Changes for handlers

  /// The changes that other processes have made.
  ///
  /// Each key once if a checkpoint was read: a restored file begins with an earlier state, and its
  /// records lead to the known one, so that the intermediate values must not be reported.
  var otherChanges: [DomainEvent.Change] {
    guard hasCheckpoint else { return collected }
    // Not PendingEdits, which keeps only the new values: the previous ones matter here.
    var indices: [ExactKey: Int] = [:]
    var changes: [DomainEvent.Change] = []
    for change in collected {
      let key = ExactKey(change.key)
      if let index = indices[key] {
        changes[index].new = change.new
      } else {
        indices[key] = changes.count
        changes.append(change)
      }
    }
    // A key may be back at its old value.
    return changes.filter { $0.old != $0.new }
  }

  /// Collects the differences between two tables.
  private mutating func collect(from old: DomainTable, to new: DomainTable) {
    for field in new.fields() where old[field.key] != field.value {
      record(
        DomainEvent.Change(key: field.key, old: old[field.key], new: field.value), isOwn: false)
    }
    for field in old.fields() where new[field.key] == nil {
      record(DomainEvent.Change(key: field.key, old: field.value, new: nil), isOwn: false)
    }
  }
}

// MARK: - Quota

extension Replay {
  @inline(__always)
  mutating func checkQuota(_ quota: Int?, _ key: String, _ value: PropertyList?) throws {
    if quota != nil { try checkQuota(quota, [DomainEdit(key: key, value: value)]) }
  }

  /// Refuses edits that would exceed the quota. Those that do not enlarge the domain are accepted,
  /// so that a program can always get below a quota that was lowered.
  mutating func checkQuota(_ quota: Int?, _ edits: [DomainEdit]) throws {
    guard let quota else { return }
    let before =
      byteCount
      ?? table.fields().reduce(0) { $0 + size($1.key, $1.value) }
    byteCount = before
    var after = before
    for edit in edits {
      after += size(edit.key, edit.value) - size(edit.key, table[edit.key])
    }
    // A change that makes the domain smaller is always allowed, however far it is above the quota.
    guard after <= quota || after <= before else {
      throw PreferencesError(
        code: .quotaExceeded,
        message: "The domain may hold \(quota) bytes, and would hold \(after). Remove what isn't "
          + "needed, or keep large values in files.")
    }
  }
}
