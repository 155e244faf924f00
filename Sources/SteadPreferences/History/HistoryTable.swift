/// The entries of a history in memory, oldest first, with their pending changes.
///
/// Changes are made in place and logged, so that they can be rolled back if their record cannot be
/// written. Appending, dropping the oldest and removing by identity take constant time. A removed
/// entry leaves a hole until ``commit()`` finds that half of the slots are holes.
///
/// It knows nothing about the payload's type. Code that is generic over a type of another module
/// asks the runtime for metadata at every step: with it, a change took three times as long.
struct HistoryTable {
  struct Entry {
    var sequence: UInt64
    var stored: StoredEntry
    var content: HistoryContent
  }

  /// The change of one entry since the last commit.
  struct Change {
    var sequence: UInt64
    var before: Entry?
    var after: Entry?
  }

  /// Up to this many holes are never closed.
  private static let holeLimit = 64

  /// The sequence numbers of all slots, including holes, ascending: a slot is found by binary
  /// search.
  private var sequences: [UInt64] = []
  private var entries: [Entry?] = []
  private var index = HistoryIndex<AnyHashable>()
  /// For each blob, the number of entries that refer to it.
  private var references: [String: Int] = [:]
  /// No slot before this one has an entry that decodes: only holes, and entries that are never
  /// dropped.
  private var oldest = 0
  /// The number of entries that decode.
  private(set) var count = 0
  /// The number of entries.
  private(set) var total = 0
  /// The size of the entries in the domain, in bytes.
  private(set) var byteCount = 0

  /// The undo log: the previous contents of slots that were changed since the last commit, in the
  /// order of the changes.
  private var undo: [(slot: Int, before: Entry?)] = []
  private var committedCount = 0
  private var committedOldest = 0

  var lastSequence: UInt64? { sequences.last }
  var isChanged: Bool { !undo.isEmpty }

  // MARK: - Reading

  subscript(sequence sequence: UInt64) -> Entry? {
    slot(sequence).flatMap { entries[$0] }
  }

  /// The newest entry with an identity that decodes.
  func newest(_ id: AnyHashable) -> Entry? { index[id].flatMap { self[sequence: $0] } }

  /// All entries that decode to an identity, newest first.
  func sequences(_ id: AnyHashable) -> [UInt64] { index.all(id) }

  func refers(to reference: String) -> Bool { references[reference] != nil }
  var allReferences: Set<String> { Set(references.keys) }

  /// All entries, newest first.
  var newestFirst: some Sequence<Entry> { entries.lazy.reversed().compactMap(\.self) }

  /// The payloads from one position to another, counted from the newest. Costs a check of each
  /// entry up to the last.
  func payloads(_ range: Range<Int>) -> [AnyPayload] {
    var (result, position) = ([AnyPayload](), 0)
    result.reserveCapacity(min(range.count, count))
    // Holes and entries that do not decode have no position, so they are counted by walking.
    for entry in entries.reversed() {
      guard position < range.upperBound else { break }
      guard let entry, case .payload(let payload, _) = entry.content else { continue }
      if position >= range.lowerBound { result.append(payload) }
      position += 1
    }
    return result
  }

  /// Calls `visit` with the entries that decode, oldest first, until it returns false.
  func visitOldest(_ visit: (UInt64) -> Bool) {
    for slot in oldest..<entries.count {
      guard case .payload? = entries[slot]?.content else { continue }
      guard visit(sequences[slot]) else { return }
    }
  }

  /// The changes that turn this table into another, oldest first.
  func changes(to other: HistoryTable) -> [Change] {
    let gone = newestFirst.filter { other[sequence: $0.sequence] == nil }.reversed().map {
      Change(sequence: $0.sequence, before: $0, after: nil)
    }
    return gone
      + other.newestFirst.reversed().compactMap { entry in
        let before = self[sequence: entry.sequence]
        if let before, before.stored == entry.stored { return nil }
        return Change(sequence: entry.sequence, before: before, after: entry)
      }
  }

  // MARK: - Changing

  /// Inserts an entry before all others; its sequence number is higher than theirs.
  mutating func append(_ entry: Entry) {
    sequences.append(entry.sequence)
    // An empty slot first, so that the undo log has what was there before: nothing.
    entries.append(nil)
    put(entry, at: entries.count - 1)
  }

  mutating func replace(_ entry: Entry) {
    if let slot = slot(entry.sequence) { put(entry, at: slot) }
  }

  mutating func remove(_ sequence: UInt64) {
    guard let slot = slot(sequence), entries[slot] != nil else { return }
    put(nil, at: slot)
  }

  /// Drops the oldest entries that decode until no more than `limit` of these are left.
  mutating func drop(to limit: Int) {
    // `oldest` only moves forward, except in a rollback, so dropping takes constant time per entry
    // over the table's life.
    while count > limit, oldest < entries.count {
      if let entry = entries[oldest], case .payload = entry.content { put(nil, at: oldest) }
      oldest += 1
    }
  }

  /// The changes since the last commit, one per entry, in the order of their first changes; without
  /// entries that are what they were.
  var changes: [Change] {
    var (result, seen) = ([Change](), Set<Int>())
    for (slot, before) in undo where seen.insert(slot).inserted {
      // Added and removed again, or changed and changed back.
      if before?.stored == entries[slot]?.stored { continue }
      result.append(Change(sequence: sequences[slot], before: before, after: entries[slot]))
    }
    return result
  }

  /// Forgets the undo log.
  mutating func commit() {
    // The memory of a large batch's log is given back.
    undo.removeAll(keepingCapacity: undo.count < Self.holeLimit)
    // At most half of the slots are holes, so closing them costs a constant per removal.
    if entries.count - total > max(Self.holeLimit, entries.count / 2) { closeHoles() }
    (committedCount, committedOldest) = (entries.count, oldest)
  }

  /// Reverts the changes since the last commit, in reverse order.
  mutating func rollBack() {
    for (slot, before) in undo.reversed() { set(before, at: slot) }
    undo = []
    sequences.removeLast(sequences.count - committedCount)
    entries.removeLast(entries.count - committedCount)
    oldest = committedOldest
  }

  /// Changes a slot, and logs what it had.
  private mutating func put(_ entry: Entry?, at slot: Int) {
    undo.append((slot, entries[slot]))
    set(entry, at: slot)
  }

  /// Changes a slot with all counts and indices; used by changes and by rollback alike.
  private mutating func set(_ entry: Entry?, at slot: Int) {
    if let before = entries[slot] { removeFromIndex(before) }
    entries[slot] = entry
    guard let entry else { return }
    total += 1
    byteCount += entry.stored.byteCount
    if let reference = entry.stored.reference { references[reference, default: 0] += 1 }
    guard case .payload(_, let id) = entry.content else { return }
    count += 1
    index.insert(entry.sequence, id)
    // A rollback may put back an entry that was dropped.
    oldest = min(oldest, slot)
  }

  private mutating func removeFromIndex(_ entry: Entry) {
    total -= 1
    byteCount -= entry.stored.byteCount
    if let reference = entry.stored.reference {
      let left = (references[reference] ?? 1) - 1
      references[reference] = left > 0 ? left : nil
    }
    guard case .payload(_, let id) = entry.content else { return }
    count -= 1
    index.remove(entry.sequence, id)
  }

  private func slot(_ sequence: UInt64) -> Int? {
    var (low, high) = (0, sequences.count)
    while low < high {
      let middle = (low + high) / 2
      if sequences[middle] < sequence { low = middle + 1 } else { high = middle }
    }
    return low < sequences.count && sequences[low] == sequence ? low : nil
  }

  private mutating func closeHoles() {
    entries.removeAll { $0 == nil }
    sequences = entries.compactMap { $0?.sequence }
    oldest = 0
  }
}

// MARK: - Index

/// Finds entries by the identity of their payload.
///
/// Usually an identity has one entry, but nothing enforces that: imported arrays may contain
/// duplicates.
struct HistoryIndex<ID: Hashable> {
  private var newest: [ID: UInt64] = [:]
  /// The older entries of identities that several entries have, oldest first. Usually empty.
  private var older: [ID: [UInt64]] = [:]

  /// The newest entry with an identity.
  subscript(id: ID) -> UInt64? { newest[id] }

  /// All entries with an identity, newest first.
  func all(_ id: ID) -> [UInt64] {
    guard let first = newest[id] else { return [] }
    return [first] + (older[id] ?? []).reversed()
  }

  mutating func insert(_ sequence: UInt64, _ id: ID) {
    guard let known = newest.updateValue(sequence, forKey: id) else { return }
    if known < sequence {
      older[id, default: []].append(known)
      return
    }
    newest[id] = known
    var rest = older[id] ?? []
    rest.insert(sequence, at: rest.firstIndex { $0 > sequence } ?? rest.count)
    older[id] = rest
  }

  mutating func remove(_ sequence: UInt64, _ id: ID) {
    // Most identities are not in `older`, and are looked up only once.
    guard !older.isEmpty, var rest = older.removeValue(forKey: id) else {
      newest[id] = nil
      return
    }
    if newest[id] == sequence {
      newest[id] = rest.removeLast()
    } else if let index = rest.firstIndex(of: sequence) {
      rest.remove(at: index)
    }
    if !rest.isEmpty { older[id] = rest }
  }
}
