import SteadEncoding

/// The client's side of a zone: a base, which the server has confirmed, with the pending transactions over it.
///
/// ```
/// commit -> outbox -> nextPush -> server -> page -> base
///             '-- replay over the base --> the view: record(_:)
/// ```
///
/// A state machine: each call passes the time, and random identifiers where it needs them. Save each call that changes
/// it as a whole, ``state`` and storage together; then a crash anywhere loses nothing and applies nothing twice. A page
/// costs its records and a replay of the pending transactions.
///
/// Invariants:
///
/// - The view is the base with the outbox applied to it in order, by the function that the server uses.
/// - A transaction stays in the outbox until a page says that the base includes or refuses it, even if the server has
///   answered its push before: that page may be lost, and the server may forget it.
/// - The numbers of the outbox have no gaps, and follow ``ClientState/acknowledged``.
package struct ClientZone<Storage: ClientStorage> {
  /// The state besides the records, to be saved with them.
  package internal(set) var state: ClientState
  /// The limits of a push and a record. The server may have smaller ones.
  package var limits: SyncLimits
  /// The view: its overlay has the pending transactions' effects.
  package var merger: Merger<Storage>
  /// The last transaction that the server has answered, so that it isn't sent again. Not saved: after a restart the
  /// transactions are sent once more, and the server recognises their numbers.
  var lastAnswered: Int64 = 0
  /// The digest of the schema.
  let schemaDigest: UInt64
  /// Whether the server has taken a push with this digest since the zone was opened. Not saved.
  var serverKnowsSchema = false
  /// Whether the server has asked for the schema. Not saved.
  var sendsSchema = false
  /// Whether the server has asked for marks, to find out how much it has forgotten. Not saved.
  var sendsMarks = false
  /// The number of transactions that the server accepts in a push, if it has refused more. Not saved.
  var transactionLimit = Int.max
  /// The pending transactions that aren't in the view, since the server is going to refuse them, and those of this
  /// client in the quarantine.
  var viewRefusals: [Refusal] = []
  /// Records whose state in the view may have changed. Not saved.
  var changedRecords: Set<RecordID> = []

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
      changedRecords = try merger.overlay.base.reindex(by: schema)
      changedRecords.formUnion(state.outbox.flatMap(\.ids))
      self.state.schemaVersion = schema.version
      self.state.schemaDigest = schemaDigest
    }
    // Only the outbox is saved; its effects are in memory alone.
    try replay()
  }

  /// The base, and what is staged.
  package var storage: Storage {
    get { merger.overlay.base }
    // In place: a copy would cost as much as the base has records.
    _modify { yield &merger.overlay.base }
  }

  /// The schema with which the zone was opened. Its rules apply in the view.
  package var schema: Schema { merger.schema }

  /// The record in the view, as the program sees it; nil if it isn't live.
  package func record(_ id: RecordID) throws(Storage.Failure) -> Record? {
    guard let record = try merger.overlay.record(id), record.isLive else { return nil }
    return record
  }

  /// The records whose state in the view may have changed since the last call. Compare them with their rows, and write
  /// these in the transaction of the call that changed the zone.
  ///
  /// No changed record is missing; some may be unchanged. A zone that was just opened returns the records of pending
  /// transactions, or all records if its schema differs from last time.
  package mutating func takeChangedRecords() -> Set<RecordID> {
    defer { changedRecords = [] }
    return changedRecords
  }

  /// The references of a record that lead to records which aren't here: a child may arrive before its parent, and stays
  /// as it is until then. When the parent arrives, `storage.referrers(of:)` returns the records that waited for it.
  package func waitingReferences(
    of record: Record
  ) throws(Storage.Failure) -> [(field: String, target: RecordID)] {
    var waiting: [(field: String, target: RecordID)] = []
    for reference in schema.references(of: record) {
      // A tombstone doesn't count: a reference to one is repaired, and waits for nothing.
      if try merger.overlay.record(reference.target) == nil { waiting.append(reference) }
    }
    return waiting
  }

  /// What merges in the view have done since the last call.
  package mutating func takeEvents() -> [MergeEvent] { merger.takeEvents() }
}

// MARK: - Editing

extension ClientZone {
  /// Commits edits as one transaction, at a time by the device's clock in milliseconds since 1970.
  ///
  /// Costs a few look-ups for each edit. Nothing is changed if the result isn't `committed`. A transaction that changes
  /// a record of an earlier one which the server is going to refuse is committed, but isn't shown: the server will
  /// refuse it as well, and then it is in the quarantine.
  package mutating func commit(
    _ edits: [Edit], now: Int64
  ) throws(Storage.Failure) -> CommitResult {
    try commit(edits.map { (edit: $0, milliseconds: now) })
  }

  /// Commits edits as one transaction, each at its own time by the device's clock, in the order of these.
  ///
  /// Invariant: what it returns `committed` for can be sent, and the server takes it unless something has changed
  /// there: a quota, a record that another device has changed, or an earlier transaction that is refused.
  package mutating func commit(
    _ edits: [(edit: Edit, milliseconds: Int64)]
  ) throws(Storage.Failure) -> CommitResult {
    // A copy, which becomes the zone's clock with the commit: a refused transaction uses up no moments.
    var clock = state.clock
    var transaction = Transaction(
      number: state.lastNumber + 1, basis: state.acknowledged, mutations: [])
    // The records that this transaction inserts: its later edits refer to incarnations that no storage has yet.
    var fresh: [RecordID: Mutation.Insert] = [:]
    for (edit, now) in edits {
      let stamp = stamp(&clock, now: now)
      let incarnation = Incarnation.made(by: state.client, transaction.number, stamp)
      switch try mutation(edit, stamp, incarnation, fresh) {
      case .success(let mutation):
        transaction.mutations.append(mutation)
        if case .insert(let insert) = mutation { fresh[insert.id] = insert }
      // Only local values have changed so far, so there is nothing to undo.
      case .failure(let unknown): return .unknown(unknown.id)
      }
    }
    // From here on everything is checked as the server will, so that what is refused for certain never enters the
    // outbox.
    guard isSendable(transaction) else { return .tooLarge }
    if let problem = transaction.problem(device: state.device, limits, schema) {
      return .refused(problem)
    }
    // Each replay would leave it out of the view. So it is left out now, or the program would see it until the next
    // start.
    if let earlier = refusalBlocking(transaction) {
      enqueueHidden(transaction, after: earlier, clock)
      return .committed(number: transaction.number)
    }
    if let reason = try merger.apply(transaction) { return .refused(reason) }
    // A merge may have made a record larger than any of the edits, so the results are checked.
    for id in merger.overlay.changedInTransaction {
      let size = try merger.overlay.record(id)?.size ?? 0
      guard size > limits.recordBytes else { continue }
      merger.rollBack()
      return .refused(.recordSize(id: id, limit: limits.recordBytes, needed: size))
    }
    append(transaction, clock)
    return .committed(number: transaction.number)
  }

  /// Puts the open transaction into the outbox, and keeps its effects in the view.
  mutating func append(_ transaction: Transaction, _ clock: HybridClock) {
    // Before the commit, which empties the log that lists them.
    changedRecords.formUnion(merger.overlay.changedInTransaction)
    merger.overlay.commitTransaction()
    enqueue(transaction, clock)
  }

  /// Puts a transaction into the outbox and not into the view, as each replay will.
  private mutating func enqueueHidden(
    _ transaction: Transaction, after earlier: Refusal, _ clock: HybridClock
  ) {
    refuseInView(transaction, .follows(number: earlier.number))
    // The rows of its author have the edit, and must be written back as they were.
    changedRecords.formUnion(transaction.ids)
    enqueue(transaction, clock)
  }

  /// Puts a transaction into the outbox.
  private mutating func enqueue(_ transaction: Transaction, _ clock: HybridClock) {
    state.clock = clock
    state.lastNumber = transaction.number
    state.outbox.append(transaction)
  }

  /// The stamp of the next edit.
  private func stamp(_ clock: inout HybridClock, now: Int64) -> Stamp {
    let moment = clock.tick(now)
    return Stamp(
      milliseconds: moment.milliseconds, counter: moment.counter, device: state.device)
  }

  /// An edited record that isn't in the view.
  private struct UnknownRecord: Error { let id: RecordID }

  /// The mutation of an edit. An update or a delete names the incarnations that the view shows: others, which this
  /// device has not seen, are left alone.
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
    // The view doesn't have what this transaction has inserted so far: `fresh` has it.
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

  /// Whether a transaction fits into a push. A larger one would stay in the outbox forever.
  private func isSendable(_ transaction: Transaction) -> Bool {
    transaction.mutations.count <= limits.pushMutations
      && transaction.mutations.reduce(0) { $0 + $1.size } <= limits.pushBytes
  }
}

extension Incarnation {
  /// A name that no other insert gets: client, number and moment. A device whose disk was restored reuses the number,
  /// and one whose clock is set back reuses the moment, but not both together.
  fileprivate static func made(
    by client: ClientID, _ number: Int64, _ stamp: Stamp
  ) -> Incarnation {
    let text = "\(client)-\(number)-\(stamp.milliseconds)-\(stamp.counter)"
    // A long client identifier: the name would have more characters than an identifier may.
    return Incarnation(text) ?? Incarnation(trusted: SHA256.hexadecimal(text.utf8))
  }
}

// MARK: - The view

extension ClientZone {
  /// Makes the view again: applies the pending transactions over the base, in order, and refuses where the server
  /// would.
  ///
  /// Called after each change of the base or the outbox's start. It adds to ``takeChangedRecords()`` what was changed
  /// before and what is changed afterwards: a record that only the old view had changed is shown as it is in the base.
  /// Costs the whole outbox.
  ///
  /// "Push" in SyncProtocol.md has the rule that a view leaves out what the server will refuse. Without it a program
  /// would see an edit come and go.
  mutating func replay() throws(Storage.Failure) {
    // What the old view had changed, and what the new one changes.
    changedRecords.formUnion(merger.overlay.changedIDs)
    defer { changedRecords.formUnion(merger.overlay.changedIDs) }
    merger.overlay.reset()
    // Refusals of another client are of another numbering.
    viewRefusals = state.quarantine.filter { $0.client == state.client }.map {
      Refusal(number: $0.transaction.number, reason: $0.reason, ids: $0.transaction.ids)
    }
    for transaction in state.outbox {
      var reason: Refusal.Reason?
      // In the server's order: what follows a refusal is refused before it is looked at.
      if let earlier = refusalBlocking(transaction) {
        reason = .follows(number: earlier.number)
      } else {
        reason = try merger.apply(transaction)
      }
      if let reason {
        refuseInView(transaction, reason)
      } else {
        merger.overlay.commitTransaction()
      }
    }
  }

  /// Leaves a pending transaction out of the view, and so those that build on it.
  private mutating func refuseInView(_ transaction: Transaction, _ reason: Refusal.Reason) {
    viewRefusals.append(
      Refusal(number: transaction.number, reason: reason, ids: transaction.ids))
  }

  /// The refused transaction that this one builds on: it changes one of the same records, and was made without knowing
  /// the refusal.
  func refusalBlocking(_ transaction: Transaction) -> Refusal? {
    // A basis at or above the refused number says that the client knew of the refusal.
    viewRefusals.first {
      $0.number > transaction.basis && !$0.ids.isDisjoint(with: transaction.ids)
    }
  }
}

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
package enum CommitResult: Hashable, Sendable {
  /// It is in the outbox, under this number.
  case committed(number: Int64)
  /// Nothing was changed: an edited record does not exist.
  case unknown(RecordID)
  /// Nothing was changed: a rule forbids it.
  case refused(Refusal.Reason)
  /// Nothing was changed: a transaction of this size could never be sent.
  case tooLarge
}

extension ClientZone: Sendable where Storage: Sendable {}
