// Restores: states that clients bring back after their server was restored from a backup, or failed over to a replica
// that lagged.
//
// Merging states is commutative and idempotent, so several clients may bring back the same record, in any order, whole
// or as it was at different times. Two things are never undone by a restore: an incarnation that has ended in a record
// stays dead there, and a later edit of a field stays.
extension Merger {
  /// Applies a restore.
  mutating func restore(_ state: Record, to existing: Record?) throws(Base.Failure) {
    guard let existing else { return try restoreUnknown(state) }
    if existing.isAlias, let survivor = try resolved(existing),
      try restore(state, livingIn: survivor)
    {
      return
    }
    try restore(state, over: existing)
  }

  /// Stores a state that the server doesn't know, with its own fields. It gets a new `seq`.
  private mutating func restoreUnknown(_ state: Record) throws(Base.Failure) {
    var record = state
    // The client's number is one of the history that the server has forgotten.
    record.seq = 0
    if record.isLive { emitBegan(record, record.live) }
    record.into = record.isLive ? nil : try soundAlias(of: state)
    emit(.edited(id: record.id, fields: record.fields))
    try put(record)
  }

  /// Applies a state of a record that was merged into another one, where its incarnations live on: its fields are edits
  /// of that record. Returns false, with nothing changed, if the state has an incarnation that the other record never
  /// saw, or if none of them lives.
  private mutating func restore(
    _ state: Record, livingIn survivor: Record
  ) throws(Base.Failure) -> Bool {
    var survivor = survivor
    guard state.isLive, state.live.contains(where: survivor.live.contains),
      state.live.allSatisfy({ survivor.live.contains($0) || survivor.dead.contains($0) })
    else { return false }
    survivor.at = min(survivor.at, survivor.id == state.id ? state.at : survivor.at)
    try edit(survivor, withoutSelfReferences(state.fields, from: state.id, to: survivor))
    return true
  }

  /// Merges a state into the record with its identity: ends what the state knows to have ended, then adds the
  /// incarnations that neither this record nor the one that it was merged into has seen end.
  ///
  /// The table in Documentation/SyncProtocol.md, "Restore", has the cases in the order of this function. Its order
  /// matters: `dead` is merged before `live`, so that the union of two states never revives what one of them had ended.
  private mutating func restore(_ state: Record, over existing: Record) throws(Base.Failure) {
    var record = existing
    // From before `end(_:)`: the events name only incarnations that were live here.
    let (wasLive, earlier) = (existing.isLive, existing.live)
    // The server's own members stay: it may have newer ones than the state.
    record.extra.merge(state.extra) { kept, _ in kept }
    record.end(state.dead)
    var coming: [Incarnation] = []
    for incarnation in state.live where !record.dead.contains(incarnation) {
      // One that went over to another record by a merge would live twice.
      if try !livesElsewhere(incarnation, than: record.id) { coming.append(incarnation) }
    }
    let ended = earlier.filter(state.dead.contains)
    if !coming.isEmpty {
      if !ended.isEmpty { emit(.ended(id: record.id, incarnations: ended)) }
      // A tombstone that lives again is as old as the state: its own `at` is of an earlier life.
      record.at = record.isLive ? min(record.at, state.at) : state.at
      record.into = nil
      record.revive(coming)
      emitBegan(record, coming)
      return try edit(record, state.fields)
    }
    // Its incarnations have ended here, or live in another record since a merge.
    if state.isLive { emitDropped(state.id, .ended) }
    // The record hasn't died here: it still lives, or was a tombstone before.
    if record.isLive || !wasLive {
      if !record.isLive, record.into == nil { record.into = try soundAlias(of: state) }
      if ended.isEmpty { return try put(record) }
      return try put(record, ended: ended)
    }
    record.into = try soundAlias(of: state)
    try put(record, ended: ended)
    // The client saw this record merged into another one before the server forgot that. What was edited here since
    // belongs to the other record.
    if record.isAlias, let survivor = try resolved(record.id), survivor.isLive {
      try edit(survivor, withoutSelfReferences(existing.fields, from: existing.id, to: survivor))
    }
  }

  /// Emits that incarnations began.
  private mutating func emitBegan(_ record: Record, _ incarnations: [Incarnation]) {
    for incarnation in incarnations { emit(.began(id: record.id, incarnation: incarnation)) }
  }

  /// Whether an incarnation lives or has ended in the record that this one was merged into.
  private func livesElsewhere(
    _ incarnation: Incarnation, than id: RecordID
  ) throws(Base.Failure) -> Bool {
    guard let survivor = try resolved(id), survivor.id != id else { return false }
    return survivor.live.contains(incarnation) || survivor.dead.contains(incarnation)
  }

  /// The record that a state is an alias of; nil if its aliases lead back here, as when two clients merged two records
  /// in opposite directions on servers that forgot it.
  private func soundAlias(of state: Record) throws(Base.Failure) -> RecordID? {
    guard let into = state.into else { return nil }
    return try leads(from: into, to: state.id) ? nil : into
  }

  /// Whether aliases lead from one record to another; true for a chain that is too long, which is not to become longer.
  private func leads(from start: RecordID, to id: RecordID) throws(Base.Failure) -> Bool {
    var next = start
    for _ in 0..<Self.chainLimit {
      if next == id { return true }
      guard let record = try overlay.record(next), let into = record.into, !record.isLive else {
        return false
      }
      next = into
    }
    return true
  }
}
