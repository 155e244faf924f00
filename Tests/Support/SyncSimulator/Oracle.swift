import SteadSyncProtocol

/// What a server must have, by simple bookkeeping of what it has accepted.
struct Oracle {
  /// The greatest accepted edit of each field of a live record.
  private var best: [RecordID: [String: Field]] = [:]
  private var live: [RecordID: Set<Incarnation>] = [:]
  private var present: [Incarnation: RecordID] = [:]
  /// Ended lives, with the record in which they ended.
  private var gone: [Incarnation: RecordID] = [:]
  /// Whether the server was taken back to an earlier state.
  var hasForgotten = false
  private var last: [ClientID: Int64] = [:]
  /// The lives that the inserts of the last push name.
  private var inserted: Set<Incarnation> = []

  /// The transactions of a push that have not been applied.
  func unapplied(_ push: Push) -> [Transaction] {
    push.transactions.filter { $0.number > last[push.client] ?? 0 }
  }

  mutating func note(_ push: Push, _ receipt: PushReceipt, _ notes: [MergeEvent]) throws {
    let new = unapplied(push)
    let before = last[push.client] ?? 0
    if new.isEmpty, !notes.isEmpty { throw Violation(6, "A push was applied twice.") }
    if let first = new.first, first.number != before + 1 {
      throw Violation(6, "Transaction \(first.number) was applied after \(before).")
    }
    guard receipt.last == max(before, new.last?.number ?? 0) else {
      throw Violation(6, "The receipt says \(receipt.last).")
    }
    last[push.client] = receipt.last
    inserted = Set(
      new.flatMap(\.mutations).compactMap { mutation in
        if case .insert(let insert) = mutation { insert.incarnation } else { nil }
      })
    for note in notes { take(note) }
  }

  private mutating func take(_ note: MergeEvent) {
    switch note {
    case .began(let id, let incarnation):
      if live[id, default: []].isEmpty { best[id] = [:] }
      live[id, default: []].insert(incarnation)
    case .ended(let id, let incarnations):
      live[id]?.subtract(incarnations)
      if live[id]?.isEmpty ?? true { best[id] = nil }
    case .edited(let id, let fields): edit(id, fields)
    case .merged(let loser, let winner, _):
      live[winner, default: []].formUnion(live[loser] ?? [])
      live[loser] = nil
      edit(winner, best.removeValue(forKey: loser) ?? [:])
    case .dropped, .renamed, .repaired: break
    }
  }

  private mutating func edit(_ id: RecordID, _ fields: [String: Field]) {
    // Stamps are equal where a server that has forgotten a push replaces its late stamps again, by a moment that the
    // device itself has given since: then the greater value, as the rule says.
    best[id, default: [:]].merge(fields) {
      ($0.stamp, $0.value) < ($1.stamp, $1.value) ? $1 : $0
    }
  }

  /// Checks what a server has after a push.
  mutating func check(_ server: SimulatedServer, wasPurged: Bool, wasRewound: Bool) throws {
    var now: [Incarnation: RecordID] = [:]
    var dead: Set<Incarnation> = []
    for record in server.records.values {
      for incarnation in record.live { now[incarnation] = record.id }
      dead.formUnion(record.dead)
      if record.isLive { try check(record, server.zone.storage.state().schema) }
    }
    for (incarnation, id) in now {
      guard let end = gone[incarnation] else { continue }
      // The server has forgotten a merge. A device that brings it back brings a life back into the winner, and a deletion
      // of the loser never ends the winner.
      if hasForgotten, end != id { continue }
      // A device that was restored sends again what was pending in its backup; the tombstone was purged.
      if wasPurged, wasRewound { continue }
      // Its author has waited for the answer since before the server forgot the insert; another device brought it back,
      // and its deletion was purged. Neither server nor author can tell it from an insert that never arrived.
      if wasPurged, hasForgotten, inserted.contains(incarnation) {
        gone[incarnation] = nil
        continue
      }
      throw Violation(5, "\(incarnation) came back.")
    }
    for (incarnation, id) in present where now[incarnation] == nil {
      if !wasPurged, !dead.contains(incarnation) { throw Violation(3, "\(incarnation) vanished.") }
      gone[incarnation] = id
    }
    present = now
  }

  private func check(_ record: Record, _ schema: Schema) throws {
    for (name, accepted) in best[record.id] ?? [:] {
      let rule = schema.entities[record.type]?.fields[name]?.merge ?? .last
      guard let field = record.fields[name] else {
        throw Violation(4, "\(record.id).\(name) is missing.")
      }
      if rule != .last { continue }
      var unbumped = field.stamp
      unbumped.bump = accepted.stamp.bump
      guard unbumped == accepted.stamp, field.stamp >= accepted.stamp else {
        throw Violation(
          4, "\(record.id).\(name) is of \(field.stamp), an edit of \(accepted.stamp) was accepted."
        )
      }
      if field.stamp == accepted.stamp, field.value != accepted.value {
        throw Violation(4, "\(record.id).\(name) has another value than its stamp.")
      }
    }
  }
}
