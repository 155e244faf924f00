import SteadFiles

/// A domain's table on its way from one state to the next.
///
/// The table is moved in and out again, so that changing it copies nothing.
struct Replay {
  var table: DomainTable
  /// How many bytes keys and values take in records; nil while nobody has asked.
  var byteCount: Int?
  /// The published file, when a checkpoint was read.
  var published: PublishedFile?
  /// Whether handlers want to know what changes.
  let isCollecting: Bool
  private(set) var ownChanges: [DomainEvent.Change] = []
  private var collected: [DomainEvent.Change] = []
  private var hasCheckpoint = false
  /// What has come from elsewhere, for those who keep something that they made of the table.
  var marks = DomainMarks()

  init(table: DomainTable, byteCount: Int?, isCollecting: Bool) {
    self.table = table
    self.byteCount = byteCount
    self.isCollecting = isCollecting
  }

  /// Takes in what the journal has to tell.
  mutating func apply(_ event: Journal.Event) throws {
    switch event {
    case .record(let bytes):
      marks.othersRecords += 1
      try DomainRecord.decode(bytes) { key, value in edit(key, value, isOwn: false) }
    case .checkpoint(let bytes, let metadata):
      guard let published = PublishedFile(metadata: metadata) else {
        throw PreferencesError(
          code: .damaged, message: "The journal was written by another version of this library.")
      }
      let fresh = try DomainTable(propertyList: bytes)
      if isCollecting { collect(from: table, to: fresh) }
      table = fresh
      hasCheckpoint = true
      marks.rewrites += 1
      byteCount = nil
      self.published = published
    }
  }

  /// Changes one key.
  @inline(__always)
  mutating func edit(_ key: String, _ value: PropertyList?, isOwn: Bool) {
    let old = table.replace(key, with: value)
    if let count = byteCount { byteCount = count + size(key, value) - size(key, old) }
    if isCollecting { note(DomainEvent.Change(key: key, old: old, new: value), isOwn: isOwn) }
  }

  /// Whether the keys have just these values.
  func holds(_ expected: [DomainEdit]) -> Bool {
    expected.allSatisfy { table[$0.key] == $0.value }
  }

  /// How many bytes a key and its value take; what has been kept is never too deep to be counted.
  private func size(_ key: String, _ value: PropertyList?) -> Int {
    value == nil ? 0 : (try? DomainRecord.byteCount(key, value)) ?? 0
  }

  private mutating func note(_ change: DomainEvent.Change, isOwn: Bool) {
    guard change.old != change.new else { return }
    if isOwn { ownChanges.append(change) } else { collected.append(change) }
  }

  /// What others have changed.
  ///
  /// Each key once where a checkpoint was read: a file that was put back begins with a state that has passed,
  /// and its records lead to the one that was known.
  var otherChanges: [DomainEvent.Change] {
    guard hasCheckpoint else { return collected }
    // Not PendingEdits, which keeps the new values alone: what was there before counts here.
    var places: [[UInt8]: Int] = [:]
    var changes: [DomainEvent.Change] = []
    for change in collected {
      let key = Array(change.key.utf8)
      if let place = places[key] {
        changes[place].new = change.new
      } else {
        places[key] = changes.count
        changes.append(change)
      }
    }
    return changes.filter { $0.old != $0.new }
  }

  private mutating func collect(from old: DomainTable, to new: DomainTable) {
    for field in new.fields() where old[field.key] != field.value {
      note(DomainEvent.Change(key: field.key, old: old[field.key], new: field.value), isOwn: false)
    }
    for field in old.fields() where new[field.key] == nil {
      note(DomainEvent.Change(key: field.key, old: field.value, new: nil), isOwn: false)
    }
  }
}

extension Replay {
  @inline(__always)
  mutating func checkQuota(_ quota: Int?, _ key: String, _ value: PropertyList?) throws {
    if quota != nil { try checkQuota(quota, [DomainEdit(key: key, value: value)]) }
  }

  /// Refuses edits that make the domain larger than allowed; those that make it smaller are welcome.
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
        message: "The domain may hold \(quota) bytes, and would hold \(after). Remove what is not "
          + "needed, or keep large values in files.")
    }
  }
}
