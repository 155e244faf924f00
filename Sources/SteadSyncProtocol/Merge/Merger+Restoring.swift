// A state that a client brings back after its server has forgotten it. Merging states is commutative and idempotent, so
// several clients may bring back the same one.
extension Merger {
  mutating func restore(_ state: Record, to here: Record?) throws(Base.Failure) {
    guard let here else { return try restoreUnknown(state) }
    if here.isAlias, let end = try resolved(here), try restore(state, livingIn: end) { return }
    try restore(state, over: here)
  }

  private mutating func restoreUnknown(_ state: Record) throws(Base.Failure) {
    var record = state
    record.seq = 0
    if record.isLive { noteBeginning(of: record, record.live) }
    record.into = record.isLive ? nil : try soundAlias(of: state)
    note(.edited(id: record.id, fields: record.fields))
    try put(record)
  }

  /// Whether the state's incarnations all live, or have ended, in the record that this one is an alias of. Then its
  /// fields are edits of that record.
  private mutating func restore(
    _ state: Record, livingIn end: Record
  ) throws(Base.Failure) -> Bool {
    var end = end
    guard state.isLive, state.live.contains(where: end.live.contains),
      state.live.allSatisfy({ end.live.contains($0) || end.dead.contains($0) })
    else { return false }
    end.at = min(end.at, end.id == state.id ? state.at : end.at)
    try edit(end, led(state.fields, from: state.id, to: end))
    return true
  }

  private mutating func restore(_ state: Record, over here: Record) throws(Base.Failure) {
    var record = here
    let (wasLive, earlier) = (here.isLive, here.live)
    record.extra.merge(state.extra) { kept, _ in kept }
    record.end(state.dead)
    var coming: [Incarnation] = []
    for incarnation in state.live where !record.dead.contains(incarnation) {
      if try !livesElsewhere(incarnation, than: record.id) { coming.append(incarnation) }
    }
    let ended = earlier.filter(state.dead.contains)
    if !coming.isEmpty {
      if !ended.isEmpty { note(.ended(id: record.id, incarnations: ended)) }
      record.at = record.isLive ? min(record.at, state.at) : state.at
      record.into = nil
      record.revive(coming)
      noteBeginning(of: record, coming)
      return try edit(record, state.fields)
    }
    // Its lives have ended, or went on elsewhere before another insert took this identity.
    if state.isLive { drop(state.id, .ended) }
    if record.isLive || !wasLive {
      if !record.isLive, record.into == nil { record.into = try soundAlias(of: state) }
      if ended.isEmpty { return try put(record) }
      return try putEnded(record, ended)
    }
    record.into = try soundAlias(of: state)
    try putEnded(record, ended)
    // Merged before the server forgot it: later edits here belong to the other record.
    if record.isAlias, let end = try resolved(record.id), end.isLive {
      try edit(end, led(here.fields, from: here.id, to: end))
    }
  }

  private mutating func noteBeginning(of record: Record, _ incarnations: [Incarnation]) {
    for incarnation in incarnations { note(.began(id: record.id, incarnation: incarnation)) }
  }

  /// Whether an incarnation lives on in another record, as a merged record's does.
  private func livesElsewhere(
    _ incarnation: Incarnation, than id: RecordID
  ) throws(Base.Failure) -> Bool {
    guard let end = try resolved(id), end.id != id else { return false }
    return end.live.contains(incarnation) || end.dead.contains(incarnation)
  }

  /// The alias's record, unless it leads back.
  private func soundAlias(of state: Record) throws(Base.Failure) -> RecordID? {
    guard let into = state.into else { return nil }
    return try leads(from: into, to: state.id) ? nil : into
  }

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
