import SteadFiles

/// A domain's table in transition from one state to the next.
///
/// The table is moved in and out again, so that changing it copies nothing.
struct Replay {
  var table: DomainTable
  /// The size of keys and values in records, in bytes; nil until it is requested.
  var byteCount: Int?
  /// The published file, once a checkpoint was read.
  var published: PublishedFile?
  /// Whether handlers want to receive changes.
  let isCollecting: Bool
  private(set) var ownChanges: [DomainEvent.Change] = []
  private var collected: [DomainEvent.Change] = []
  private var hasCheckpoint = false
  /// The keys of the record that was read.
  var readKeys: [ReadKey] = []
  /// Counts changes from elsewhere, for caches derived from the table.
  var externalChanges = ExternalChangeCounts()

  /// A key in a record.
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

  /// Applies an event of the journal.
  mutating func apply(_ event: Journal.Event) throws {
    switch event {
    case .record(let bytes):
      externalChanges.records += 1
      var stamps = [Journal.Stamp]()[...]
      try DomainRecord.decode(bytes) { key, value in
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
      let fresh = try DomainTable(propertyList: bytes)
      if isCollecting { collect(from: table, to: fresh) }
      table = fresh
      hasCheckpoint = true
      externalChanges.rewrites += 1
      byteCount = nil
      self.published = published
    }
  }

  /// Changes one key.
  @inline(__always)
  mutating func edit(_ key: String, _ value: PropertyList?, isOwn: Bool) {
    let old = table.replace(key, with: value)
    if let count = byteCount { byteCount = count + size(key, value) - size(key, old) }
    if isCollecting { record(DomainEvent.Change(key: key, old: old, new: value), isOwn: isOwn) }
  }

  /// Whether the keys have exactly these values.
  func matches(_ expected: [DomainEdit]) -> Bool {
    expected.allSatisfy { table[$0.key] == $0.value }
  }

  /// The size of a key and its value; a stored value is never too deep to be measured.
  private func size(_ key: String, _ value: PropertyList?) -> Int {
    value == nil ? 0 : (try? DomainRecord.byteCount(key, value)) ?? 0
  }

  private mutating func record(_ change: DomainEvent.Change, isOwn: Bool) {
    guard change.old != change.new else { return }
    if isOwn { ownChanges.append(change) } else { collected.append(change) }
  }

  /// The changes made by other processes.
  ///
  /// Each key once if a checkpoint was read: a restored file begins with an earlier state, and its records
  /// lead to the known one.
  var otherChanges: [DomainEvent.Change] {
    guard hasCheckpoint else { return collected }
    // Not PendingEdits, which keeps only the new values: the previous ones matter here.
    var indices: [[UInt8]: Int] = [:]
    var changes: [DomainEvent.Change] = []
    for change in collected {
      let key = Array(change.key.utf8)
      if let index = indices[key] {
        changes[index].new = change.new
      } else {
        indices[key] = changes.count
        changes.append(change)
      }
    }
    return changes.filter { $0.old != $0.new }
  }

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

extension Replay {
  @inline(__always)
  mutating func checkQuota(_ quota: Int?, _ key: String, _ value: PropertyList?) throws {
    if quota != nil { try checkQuota(quota, [DomainEdit(key: key, value: value)]) }
  }

  /// Refuses edits that make the domain larger than allowed; those that make it smaller are accepted.
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
    guard after <= quota || after <= before else {
      throw PreferencesError(
        code: .quotaExceeded,
        message: "The domain may hold \(quota) bytes, and would hold \(after). Remove what isn't "
          + "needed, or keep large values in files.")
    }
  }
}
