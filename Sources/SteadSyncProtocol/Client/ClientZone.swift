import SteadEncoding

/// The client's side of a zone: a base, which the server has confirmed, with the pending transactions over it.
///
/// A state machine: each call passes the time. A program sees ``record(_:)``. Save each call that changes it as a
/// whole, ``state`` and storage together; then a crash anywhere loses nothing and sends nothing twice. A page costs its
/// records and a replay of the pending transactions.
package struct ClientZone<Storage: ClientStorage> {
  /// The saved state besides the records.
  package internal(set) var state: ClientState
  package var limits: SyncLimits
  /// The view: its overlay has the pending transactions' effects.
  package var merger: Merger<Storage>
  /// The last transaction that the server has answered, so that it isn't sent again. Not saved.
  var answered: Int64 = 0
  /// The digest of the schema, and whether the server has taken a push with it since the zone was opened.
  let schemaDigest: UInt64
  var knowsSchema = false
  /// Whether the server has asked for the schema, or for marks. Not saved.
  var sendsSchema = false
  var sendsMarks = false
  /// How many transactions a push may have, if the server has refused more. Not saved.
  var transactionLimit = Int.max
  /// What the view refuses, with numbers.
  var viewRefusals: [Refusal] = []
  /// Records whose state in the view may have changed. Not saved.
  var changed: Set<RecordID> = []

  /// Opens a saved zone, or a new one. Costs a replay of the pending transactions; with another schema than last time,
  /// a new index of all records. Then save it, as after a call that has changed it.
  package init(
    _ state: ClientState, storage: Storage, schema: Schema, limits: SyncLimits = SyncLimits()
  ) throws(Storage.Failure) {
    self.state = state
    self.limits = limits
    merger = Merger(storage, schema: schema)
    schemaDigest = schema.digest
    if state.schemaVersion != schema.version || state.schemaDigest != schemaDigest {
      // The old schema's cascades, merges and refusals may have affected any record of the base, and what the outbox
      // inserts.
      changed = try merger.overlay.base.reindex(by: schema)
      changed.formUnion(state.outbox.flatMap(\.ids))
      self.state.schemaVersion = schema.version
      self.state.schemaDigest = schemaDigest
    }
    try replay()
  }

  /// The base.
  package var storage: Storage { merger.overlay.base }
  package var schema: Schema { merger.schema }

  /// The record as the program sees it; nil if it isn't live.
  package func record(_ id: RecordID) throws(Storage.Failure) -> Record? {
    guard let record = try merger.overlay.record(id), record.isLive else { return nil }
    return record
  }

  /// The records whose state in the view may have changed since the last call: compare them, and write their rows in
  /// the transaction of the call. An opened zone returns those of pending transactions, or all records if the schema
  /// differs from last time.
  package mutating func takeChangedRecords() -> Set<RecordID> {
    defer { changed = [] }
    return changed
  }

  /// The references of a record that lead to records which aren't here: a child may arrive before its parent, and stays
  /// as it is until then. When the parent arrives, `storage.referrers(of:)` returns the records that waited for it.
  package func waitingReferences(
    of record: Record
  ) throws(Storage.Failure) -> [(field: String, target: RecordID)] {
    var waiting: [(field: String, target: RecordID)] = []
    for reference in schema.references(of: record) {
      if try merger.overlay.record(reference.target) == nil { waiting.append(reference) }
    }
    return waiting
  }

  /// What merges in the view have done since the last call.
  package mutating func takeNotes() -> [MergeNote] { merger.takeNotes() }
}

// MARK: - Editing

extension ClientZone {
  /// Commits edits as one transaction, at a time by the device's clock.
  ///
  /// Costs a few look-ups for each edit. Nothing is changed if the answer isn't `committed`. A transaction that changes a
  /// record of an earlier one which the server is going to refuse is committed, and not shown: the server will refuse it as
  /// well, and then it is in the quarantine.
  package mutating func commit(
    _ edits: [Edit], now: Int64
  ) throws(Storage.Failure) -> CommitAnswer {
    try commit(edits.map { (edit: $0, milliseconds: now) })
  }

  /// Commits edits as one transaction, each at its own time by the device's clock, in the order of these.
  package mutating func commit(
    _ edits: [(edit: Edit, milliseconds: Int64)]
  ) throws(Storage.Failure) -> CommitAnswer {
    var transaction = Transaction(
      number: state.numbered + 1, basis: state.acknowledged, mutations: [])
    var clock = state.clock
    var fresh: [RecordID: Mutation.Insert] = [:]
    for (edit, now) in edits {
      let stamp = stamp(&clock, now: now)
      let incarnation = Incarnation.made(by: state.client, transaction.number, stamp)
      switch try mutation(edit, stamp, incarnation, fresh) {
      case .success(let mutation):
        transaction.mutations.append(mutation)
        if case .insert(let insert) = mutation { fresh[insert.id] = insert }
      case .failure(let unknown): return .unknown(unknown.id)
      }
    }
    guard isSendable(transaction) else { return .tooLarge }
    if let problem = transaction.problem(device: state.device, limits, schema) {
      return .refused(problem)
    }
    if let earlier = refusalBefore(transaction) {
      hide(transaction, after: earlier, clock)
      return .committed(number: transaction.number)
    }
    if let reason = try merger.apply(transaction) { return .refused(reason) }
    for id in merger.overlay.openChanges {
      let size = try merger.overlay.record(id)?.size ?? 0
      guard size > limits.recordBytes else { continue }
      merger.undo()
      return .refused(.recordSize(id: id, limit: limits.recordBytes, needed: size))
    }
    append(transaction, clock)
    return .committed(number: transaction.number)
  }

  /// Keeps the open transaction.
  mutating func append(_ transaction: Transaction, _ clock: HybridClock) {
    changed.formUnion(merger.overlay.openChanges)
    merger.overlay.keepOpenChanges()
    enqueue(transaction, clock)
  }

  /// Keeps a transaction out of the view, as each replay will.
  private mutating func hide(
    _ transaction: Transaction, after earlier: Refusal, _ clock: HybridClock
  ) {
    refuseInView(transaction, .follows(number: earlier.number))
    // Its author's rows have it.
    changed.formUnion(transaction.ids)
    enqueue(transaction, clock)
  }

  private mutating func enqueue(_ transaction: Transaction, _ clock: HybridClock) {
    state.clock = clock
    state.numbered = transaction.number
    state.outbox.append(transaction)
  }

  private func stamp(_ clock: inout HybridClock, now: Int64) -> Stamp {
    let moment = clock.tick(now)
    return Stamp(
      milliseconds: moment.milliseconds, counter: moment.counter, device: state.device)
  }

  private struct UnknownRecord: Error { let id: RecordID }

  private func mutation(
    _ edit: Edit, _ stamp: Stamp, _ incarnation: Incarnation, _ fresh: [RecordID: Mutation.Insert]
  ) throws(Storage.Failure) -> Result<Mutation, UnknownRecord> {
    let (id, fields): (RecordID, [String: SyncValue]?)
    switch edit {
    case .insert(let id, let type, let fields):
      return .success(
        .insert(
          Mutation.Insert(
            id: id, type: type, incarnation: incarnation, stamp: stamp, fields: fields)))
    case .update(let edited, let values): (id, fields) = (edited, values)
    case .delete(let deleted): (id, fields) = (deleted, nil)
    }
    let record = try record(id)
    let seen = (record?.live ?? []) + (fresh[id].map { [$0.incarnation] } ?? [])
    guard let type = record?.type ?? fresh[id]?.type else {
      return .failure(UnknownRecord(id: id))
    }
    if let fields {
      let update = Mutation.Update(
        id: id, type: type, incarnations: seen, stamp: stamp, fields: fields)
      return .success(.update(update))
    }
    let delete = Mutation.Delete(id: id, type: type, incarnations: seen, stamp: stamp)
    return .success(.delete(delete))
  }

  private func isSendable(_ transaction: Transaction) -> Bool {
    transaction.mutations.count <= limits.pushMutations
      && transaction.mutations.reduce(0) { $0 + $1.size } <= limits.pushBytes
  }
}

extension Incarnation {
  /// A name that no other insert gets. A device whose disk was restored reuses a transaction's number, and one whose
  /// clock is set back reuses a moment, but not both together.
  fileprivate static func made(
    by client: ClientID, _ number: Int64, _ stamp: Stamp
  ) -> Incarnation {
    let text = "\(client)-\(number)-\(stamp.milliseconds)-\(stamp.counter)"
    return Incarnation(text) ?? Incarnation(trusted: SHA256.hexadecimal(text.utf8))
  }
}

// MARK: - The view

extension ClientZone {
  /// Makes the view again: the pending transactions over the base, refused where the server would refuse.
  mutating func replay() throws(Storage.Failure) {
    changed.formUnion(merger.overlay.changedIDs)
    defer { changed.formUnion(merger.overlay.changedIDs) }
    merger.overlay.reset()
    viewRefusals = state.quarantine.filter { $0.client == state.client }.map {
      Refusal(number: $0.transaction.number, reason: $0.reason, ids: $0.transaction.ids)
    }
    for transaction in state.outbox {
      var reason: Refusal.Reason?
      if let earlier = refusalBefore(transaction) {
        reason = .follows(number: earlier.number)
      } else {
        reason = try merger.apply(transaction)
      }
      if let reason {
        refuseInView(transaction, reason)
      } else {
        merger.overlay.keepOpenChanges()
      }
    }
  }

  private mutating func refuseInView(_ transaction: Transaction, _ reason: Refusal.Reason) {
    viewRefusals.append(
      Refusal(number: transaction.number, reason: reason, ids: transaction.ids))
  }

  func refusalBefore(_ transaction: Transaction) -> Refusal? {
    viewRefusals.first {
      $0.number > transaction.basis && !$0.ids.isDisjoint(with: transaction.ids)
    }
  }
}

extension ClientZone: Sendable where Storage: Sendable {}

// MARK: - Edits and their results

/// A program's change to a record.
package enum Edit: Hashable, Sendable {
  /// Makes a record. Where one with this identity lives, its fields are edited.
  case insert(id: RecordID, type: String, fields: [String: SyncValue])
  /// Edits fields of a live record.
  case update(id: RecordID, fields: [String: SyncValue])
  /// Deletes a live record, applying its delete rules.
  case delete(id: RecordID)
}

/// The result of a local commit.
package enum CommitAnswer: Hashable, Sendable {
  /// It is in the outbox, under this number.
  case committed(number: Int64)
  /// Nothing was changed: an edited record does not exist.
  case unknown(RecordID)
  /// Nothing was changed: a rule forbids it.
  case refused(Refusal.Reason)
  /// Nothing was changed: a transaction of this size could never be sent.
  case tooLarge
}
