// Settles changed records: repairs references and makes unique keys unique, until nothing changes.
//
// It ends: each merge and each cascade removes one live record, a renaming uses a key that no record has, and a
// repaired reference leads to a live record or to none.
extension Merger {
  /// Settles all records that were changed. Returns a reason when a delete rule denies what the transaction did.
  mutating func settle(denies: Bool) throws(Base.Failure) -> Refusal.Reason? {
    var position = 0
    while position < work.count {
      let id = work[position]
      position += 1
      waiting.remove(id)
      guard let record = try overlay.record(id) else { continue }
      if record.isLive {
        if let reason = try settle(record, denies: denies) { return reason }
      } else {
        for referrer in try overlay.referrers(of: id) { lookAgain(referrer) }
      }
    }
    work = []
    return nil
  }

  private mutating func settle(
    _ record: Record, denies: Bool
  ) throws(Base.Failure) -> Refusal.Reason? {
    var record = record
    switch try repairReferences(of: record, denies: denies) {
    case .sound: break
    case .repaired(let repaired, let names):
      record = repaired
      for name in names { note(.repaired(id: record.id, field: name)) }
      try put(record)
    case .cascaded:
      var ended = record
      ended.end(record.live)
      try putEnded(ended, record.live)
      return nil
    case .denied(let reason): return reason
    }
    try makeUnique(record)
    return nil
  }
}

// MARK: - References

private enum Repair {
  case sound
  case repaired(Record, fields: [String])
  case cascaded
  case denied(Refusal.Reason)
}

extension Merger {
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
        // A merge may have made a record its own parent.
        let value = end.id == record.id ? SyncValue.null : .string(end.id.text)
        repaired.fields[name] = Field(value, field.stamp.bumped)
        continue
      }
      switch deleteRule {
      case .cascade: return .cascaded
      case .nullify: break
      case .deny:
        if denies, deaths.contains(target) {
          return .denied(.denied(deleted: target, referrer: record.id))
        }
      }
      repaired.fields[name] = Field(.null, field.stamp.bumped)
    }
    return names.isEmpty ? .sound : .repaired(repaired, fields: names)
  }
}

// MARK: - Unique keys

extension Merger {
  /// Looks for records that share a key with this one. A record that is changed is settled again, so its further keys
  /// are looked at then.
  private mutating func makeUnique(_ record: Record) throws(Base.Failure) {
    for (rule, token) in schema.tokens(of: record) {
      while let rivalID = try overlay.rival(of: record.id, for: token),
        let rival = try overlay.record(rivalID), rival.isLive
      {
        let recordIsOlder = (record.at, record.id) < (rival.at, rival.id)
        let (winner, loser) = recordIsOlder ? (record, rival) : (rival, record)
        guard case .keepBoth(let suffix) = rule.policy, try rename(loser, rule, suffix) else {
          return try merge(loser, into: winner, rule)
        }
        // The rival has left the key, and another record may have it, too.
        guard loser.id == rival.id else { return }
      }
    }
  }

  private mutating func merge(
    _ loser: Record, into winner: Record, _ rule: UniqueRule
  ) throws(Base.Failure) {
    var (alias, winner) = (loser, winner)
    alias.end(loser.live)
    alias.into = winner.id
    winner.revive(loser.live)
    merge(led(loser.fields, from: loser.id, to: winner), into: &winner)
    note(.merged(loser: loser.id, winner: winner.id, rule: rule.name))
    // An incarnation may have ended there under another alias, which was purged.
    noteTrimmed(winner.id, loser.live.filter(winner.dead.contains))
    noteTrimmed(winner.id, winner.trim(keeping: nil))
    try put(alias)
    try put(winner)
  }

  /// Gives a record the first name that no other has. Returns false if the key has no string.
  private mutating func rename(
    _ record: Record, _ rule: UniqueRule, _ suffix: String
  ) throws(Base.Failure) -> Bool {
    let names = rule.fields.reversed()
    guard let name = names.first(where: { record.fields[$0]?.value.string != nil }),
      let field = record.fields[name], let text = field.value.string
    else { return false }
    var renamed = record
    var number = 2
    while true {
      let value = UniqueRule.renamed(text, suffix: suffix, number: number)
      renamed.fields[name] = Field(.string(value), field.stamp.bumped)
      let tokens = schema.tokens(of: renamed).filter { $0.rule == rule }
      guard let token = tokens.first?.token else { return false }
      if try overlay.rival(of: record.id, for: token) == nil { break }
      number += 1
    }
    note(.renamed(id: record.id, field: name))
    try put(renamed)
    return true
  }
}
