// Enforces references and unique keys on the records that a transaction has changed, until nothing changes any more.
// Documentation/SyncProtocol.md calls that settling, and fixes the order of the steps: a client and its server, or two
// implementations, would otherwise choose different winners.
//
// It ends: each merge and each cascade removes one live record, a renaming uses a key that no record has, and a
// repaired reference leads to a live record or to none.
extension Merger {
  /// Checks the records in the queue, and those that repairs change. Returns a reason when a delete rule denies what
  /// the transaction did.
  ///
  /// The steps for each record are those of "Settling" in SyncProtocol.md.
  mutating func enforceIntegrity(denies: Bool) throws(Base.Failure) -> Refusal.Reason? {
    // An index into the queue: removing the first element each time would move all others.
    var position = 0
    // First in, first out. A record that is changed again after its turn is queued again.
    while position < queue.count {
      let id = queue[position]
      position += 1
      // Before the check, so that a change during the check queues the record again.
      queued.remove(id)
      guard let record = try overlay.record(id) else { continue }
      if record.isLive {
        // A refusal leaves the rest of the queue to ``rollBack()``, which empties it.
        if let reason = try enforceIntegrity(record, denies: denies) { return reason }
      } else {
        // A dead record has no references and keys of its own; those that refer to it may have to change.
        for referrer in try overlay.referrers(of: id) { enqueue(referrer) }
      }
    }
    queue = []
    return nil
  }

  /// Checks one live record.
  private mutating func enforceIntegrity(
    _ record: Record, denies: Bool
  ) throws(Base.Failure) -> Refusal.Reason? {
    var record = record
    switch try repairReferences(of: record, denies: denies) {
    case .sound: break
    case .repaired(let repaired, let names):
      record = repaired
      for name in names { emit(.repaired(id: record.id, field: name)) }
      try put(record)
    case .cascaded:
      var ended = record
      ended.end(record.live)
      try put(ended, ended: record.live)
      return nil
    case .denied(let reason): return reason
    }
    // References come first: a repaired one may be part of a key.
    try makeUnique(record)
    return nil
  }
}

// MARK: - References

/// The result of checking a record's references.
private enum Repair {
  /// Each leads to a live record, or to one that is unknown.
  case sound
  /// Some were rewritten or became null.
  case repaired(Record, fields: [String])
  /// One leads to a deleted record by a rule that deletes this one, too.
  case cascaded
  /// One leads to a record that this transaction must not delete.
  case denied(Refusal.Reason)
}

extension Merger {
  /// Checks the references of a live record, in the order of the fields' names.
  ///
  /// A reference to an unknown record stays: its parent may arrive later, from another device. One to an alias follows
  /// the alias. One to a tombstone is handled by its delete rule; `deny` can refuse only if this transaction has
  /// deleted the target, for otherwise the deletion was accepted before the reference came.
  ///
  /// Invariant: repairs have the stamp of the value that they repair, with a bump. So each device that repairs the same
  /// value gets the same field, and a later edit wins.
  ///
  /// The table in "Settling", step 2, has the cases in the order of this function.
  private func repairReferences(
    of record: Record, denies: Bool
  ) throws(Base.Failure) -> Repair {
    guard let rules = schema.entities[record.type], rules.hasReferences else { return .sound }
    var (repaired, names) = (record, [String]())
    for (name, rule) in SyncValue.sorted(rules.fields) {
      guard let deleteRule = rule.reference, let field = record.fields[name],
        let target = Schema.target(field.value), let found = try overlay.record(target),
        !found.isLive
      else { continue }
      names.append(name)
      if let end = found.isAlias ? try resolved(target) : nil, end.isLive {
        // The merge may have made this record its own parent.
        let value = end.id == record.id ? SyncValue.null : .string(end.id.text)
        repaired.fields[name] = Field(value, field.stamp.bumped)
        continue
      }
      switch deleteRule {
      case .cascade: return .cascaded
      case .nullify: break
      case .deny:
        if denies, deletedInTransaction.contains(target) {
          return .denied(.denied(deleted: target, referrer: record.id))
        }
      }
      // Also for a `deny` that can't refuse any more, because the target was dead before.
      repaired.fields[name] = Field(.null, field.stamp.bumped)
    }
    return names.isEmpty ? .sound : .repaired(repaired, fields: names)
  }
}

// MARK: - Unique keys

extension Merger {
  /// Resolves the first unique key that this record shares with another live one: the younger of the two is renamed, or
  /// merged into the older, by the constraint's policy.
  ///
  /// The older is the one with the smaller (`at`, `id`), which is the same in every order of arrival. A record that is
  /// changed is queued, so its further keys are resolved then: the record that this function was given is out of date
  /// after a merge.
  ///
  /// "Settling", step 3.
  private mutating func makeUnique(_ record: Record) throws(Base.Failure) {
    for (rule, token) in schema.tokens(of: record) {
      while let rivalID = try overlay.holder(of: token, otherThan: record.id),
        let rival = try overlay.record(rivalID), rival.isLive
      {
        let recordIsOlder = (record.at, record.id) < (rival.at, rival.id)
        let (winner, loser) = recordIsOlder ? (record, rival) : (rival, record)
        // A key without a string has nothing to append a suffix to, so its records merge.
        guard case .keepBoth(let suffix) = rule.policy, try rename(loser, rule, suffix) else {
          return try merge(loser, into: winner, rule)
        }
        // A renamed rival has left the key, and another record may hold it, too. If this record was renamed, it is
        // queued with its new key.
        guard loser.id == rival.id else { return }
      }
    }
  }

  /// Merges a record into another one, of which it becomes an alias. Its incarnations go over, so that updates and
  /// deletions whose authors saw the loser apply to the winner.
  private mutating func merge(
    _ loser: Record, into winner: Record, _ rule: UniqueRule
  ) throws(Base.Failure) {
    var (alias, winner) = (loser, winner)
    // An incarnation lives in one record at a time: it ends here and goes on in the winner.
    alias.end(loser.live)
    alias.into = winner.id
    winner.revive(loser.live)
    merge(withoutSelfReferences(loser.fields, from: loser.id, to: winner), into: &winner)
    emit(.merged(loser: loser.id, winner: winner.id, rule: rule.name))
    // An incarnation of the loser may have ended in the winner under another alias, which was purged.
    emitEnded(winner.id, loser.live.filter(winner.dead.contains))
    emitEnded(winner.id, winner.trim(keeping: nil))
    try put(alias)
    try put(winner)
  }

  /// Gives a record the first name that no other has. Returns false if the key has no string.
  private mutating func rename(
    _ record: Record, _ rule: UniqueRule, _ suffix: String
  ) throws(Base.Failure) -> Bool {
    // The last string of the key is the one that people read, as in a constraint on a list and a name.
    let names = rule.fields.reversed()
    guard let name = names.first(where: { record.fields[$0]?.value.string != nil }),
      let field = record.fields[name], let text = field.value.string
    else { return false }
    var renamed = record
    var number = 2
    while true {
      let value = UniqueRule.renamed(text, suffix: suffix, number: number)
      renamed.fields[name] = Field(.string(value), field.stamp.bumped)
      // The number grows until the key is free, so one renaming is enough.
      // Only this constraint: the renamed record is queued, so its other keys are checked in its
      // own turn.
      let tokens = schema.tokens(of: renamed).filter { $0.rule == rule }
      guard let token = tokens.first?.token else { return false }
      if try overlay.holder(of: token, otherThan: record.id) == nil { break }
      number += 1
    }
    emit(.renamed(id: record.id, field: name))
    try put(renamed)
    return true
  }
}
