/// Applies transactions to records: the one function that decides, for the server's zone and for a client's view.
///
/// Everything is deterministic: the same records, schema and transaction lead to the same result on every device. That
/// is why a client can predict the server's result, and why it reads no clock and iterates over no dictionary whose
/// order matters.
///
/// Invariants after each transaction, which Documentation/SyncProtocol.md numbers and `Scripts/sync-simulate` checks:
///
/// - No two live records hold one unique key (I2).
/// - An incarnation that has ended in a record never lives there again (I5).
/// - No live record refers to a tombstone or an alias; it may refer to a record that is unknown (I7).
/// - Aliases form no cycle, and a live record is none (I11).
///
/// A transaction costs a few look-ups for each mutation, and for each record that a deletion or a merge leads to.
///
/// "Merging" in Documentation/SyncProtocol.md specifies what it does, case by case.
package struct Merger<Base: RecordStorage> {
  /// The records, including the changed ones.
  package var overlay: Overlay<Base>
  /// The rules. Set it only between transactions.
  package var schema: Schema
  /// What happened since ``takeEvents()`` was called last.
  private var events: [MergeEvent] = []
  /// The number of events before the open transaction.
  private var eventsBefore = 0
  /// Whether to collect events. Without it a push costs less, and ``takeEvents()`` returns none.
  package var recordsEvents = true
  /// The changed records whose references and unique keys are yet to be checked, each once.
  var queue: [RecordID] = []
  var queued: Set<RecordID> = []
  /// The records that the open transaction has deleted: only these can violate a `deny` rule.
  var deletedInTransaction: Set<RecordID> = []

  /// The longest chain of aliases that is followed, so that a damaged storage cannot make a call endless. Longer ones
  /// don't arise: each step costs a merge.
  static var chainLimit: Int { 10_000 }

  package init(_ base: Base, schema: Schema) {
    overlay = Overlay(base)
    self.schema = schema
  }

  /// Records an event, which isn't even made if nobody wants events.
  mutating func emit(_ event: @autoclosure () -> MergeEvent) {
    if recordsEvents { events.append(event()) }
  }

  /// Returns the events since the last call, and removes them.
  package mutating func takeEvents() -> [MergeEvent] {
    defer { events = [] }
    return events
  }

  /// Applies a transaction in the overlay. If it returns a reason, the transaction is refused and nothing was changed.
  ///
  /// Mutations are applied in order, first without regard to references and unique keys: those are enforced once, at
  /// the end. So a transaction may delete a parent before its children, or swap two unique values.
  ///
  /// Leaves the transaction open: end it with `overlay.commitTransaction()` or ``rollBack()``.
  package mutating func apply(_ transaction: Transaction) throws(Base.Failure) -> Refusal.Reason? {
    eventsBefore = events.count
    deletedInTransaction = []
    var reason: Refusal.Reason?
    overlay.reserveCapacity(transaction.mutations.count)
    for mutation in transaction.mutations {
      reason = try apply(mutation)
      if reason != nil { break }
    }
    if reason == nil { reason = try enforceIntegrity(denies: !transaction.isRestore) }
    if reason != nil { rollBack() }
    return reason
  }

  /// Undoes the open transaction, its events included.
  mutating func rollBack() {
    overlay.rollBackTransaction()
    // `takeEvents()` may have emptied the list since the transaction began.
    events.removeLast(max(events.count - eventsBefore, 0))
    // A refusal during settling leaves records in it.
    queue = []
    queued = []
  }

  /// Applies one mutation; returns a reason only for a record of another type.
  ///
  /// An identity keeps its type for good, since rules and rows of other devices depend on it.
  private mutating func apply(_ mutation: Mutation) throws(Base.Failure) -> Refusal.Reason? {
    let existing = try overlay.record(mutation.id)
    // Before aliases are followed. That is enough: a unique key contains the type, so an alias has
    // the type of its winner.
    if let existing, existing.type != mutation.type { return .type(id: mutation.id) }
    switch mutation {
    case .insert(let insert): try apply(insert, to: existing)
    case .update(let update): try apply(update, to: existing)
    case .delete(let delete): try apply(delete, to: existing)
    case .restore(let record): try restore(record, to: existing)
    }
    return nil
  }

  /// Enforces rules that a type has newly got on its records. The changes stay open.
  ///
  /// It never denies: the records were there before the rule.
  mutating func revalidate(_ records: [Record]) throws(Base.Failure) {
    deletedInTransaction = []
    // Putting a record back unchanged indexes it by the new schema, and queues it for the checks.
    for record in records where record.isLive { try put(record) }
    // Nil: without `denies` nothing is refused.
    _ = try enforceIntegrity(denies: false)
  }
}

// MARK: - Mutations

extension Merger {
  /// Applies an insert to the record with its identity.
  ///
  /// The incarnation decides whether this is a new record or a repetition of an insert, which arrives again after a
  /// server was restored. The record may have been merged into another one in the meantime: then its incarnation lives
  /// there, and so the fields go there, too.
  private mutating func apply(
    _ insert: Mutation.Insert, to existing: Record?
  ) throws(Base.Failure) {
    let fields = insert.fields.mapValues { Field($0, insert.stamp) }
    if let existing, let known = try owner(of: insert.incarnation, from: existing) {
      guard known.live.contains(insert.incarnation) else { return emitDropped(insert.id, .ended) }
      // A repetition. Its stamps are those of the first time, so later edits of the fields win.
      return try edit(known, withoutSelfReferences(fields, from: insert.id, to: known))
    }
    var record = existing ?? Record(id: insert.id, type: insert.type, at: insert.stamp)
    if record.isLive {
      // Of several inserts of one identity the oldest decides who wins a unique key, whatever the order of arrival.
      record.at = min(record.at, insert.stamp)
    } else {
      record.at = insert.stamp
      // A tombstone or an alias that lives again: an old alias would lead its references elsewhere.
      record.into = nil
    }
    record.revive([insert.incarnation])
    emit(.began(id: record.id, incarnation: insert.incarnation))
    // Beyond the limit another incarnation ends, so that an insert is never without effect.
    emitEnded(record.id, record.trim(keeping: insert.incarnation))
    try edit(record, fields)
  }

  /// Applies an update to the record at the end of the aliases, if that has an incarnation which the author saw.
  /// Otherwise the author edited a record that was deleted since, and a new one may have taken its identity.
  private mutating func apply(
    _ update: Mutation.Update, to existing: Record?
  ) throws(Base.Failure) {
    guard let existing, let record = try resolved(existing) else {
      return emitDropped(update.id, .unknown)
    }
    let fields = withoutSelfReferences(
      update.fields.mapValues { Field($0, update.stamp) }, from: update.id, to: record)
    // One of them is enough: after a merge the author may have seen only one of the two records.
    if record.live.contains(where: update.incarnations.contains) { return try edit(record, fields) }
    emitDropped(update.id, .ended)
  }

  /// Ends the incarnations that the author saw. The record dies with the last one: an insert that the author didn't
  /// know of survives the deletion.
  private mutating func apply(
    _ delete: Mutation.Delete, to existing: Record?
  ) throws(Base.Failure) {
    guard let existing, var record = try resolved(existing) else {
      return emitDropped(delete.id, .unknown)
    }
    // Taken from `live`, whose order is the same on every device: `dead` gets them in this order,
    // which is part of the record's bytes.
    let ended = record.live.filter(delete.incarnations.contains)
    guard !ended.isEmpty else { return emitDropped(delete.id, .ended) }
    record.end(ended)
    try put(record, ended: ended)
  }

  /// The record in which an incarnation lives or has ended: the one at the end of a record's aliases, or the record
  /// itself. Nil for an incarnation that neither has seen.
  func owner(
    of incarnation: Incarnation, from record: Record
  ) throws(Base.Failure) -> Record? {
    // The end of the aliases comes first: a merge ends the incarnation in this record and continues
    // it in the winner.
    if let last = try resolved(record),
      last.live.contains(incarnation) || last.dead.contains(incarnation)
    {
      return last
    }
    return record.dead.contains(incarnation) ? record : nil
  }

  /// The record at the end of the aliases of an identity; nil if it is unknown.
  func resolved(_ id: RecordID) throws(Base.Failure) -> Record? {
    guard let record = try overlay.record(id) else { return nil }
    return try resolved(record)
  }

  /// The record at the end of a record's aliases; nil if it is unknown.
  func resolved(_ start: Record) throws(Base.Failure) -> Record? {
    var record = start
    for _ in 0..<Self.chainLimit {
      guard record.isAlias, let into = record.into else { return record }
      guard let next = try overlay.record(into) else { return nil }
      record = next
    }
    return nil
  }

  /// Fields of a record that was merged into another one. A reference to that one would make it its own parent, so it
  /// becomes null, with a bump: the repair wins over the value, and loses to a later edit.
  func withoutSelfReferences(
    _ fields: [String: Field], from id: RecordID, to record: Record
  ) -> [String: Field] {
    guard id != record.id, let rules = schema.entities[record.type]?.fields else { return fields }
    var fields = fields
    for (name, field) in fields
    where rules[name]?.reference != nil && Schema.target(field.value) == record.id {
      fields[name] = Field(.null, field.stamp.bumped)
    }
    return fields
  }

  /// Merges fields into a record.
  mutating func edit(_ record: Record, _ fields: [String: Field]) throws(Base.Failure) {
    var record = record
    // Before the merge: the event has what the author wrote, whichever value wins.
    emit(.edited(id: record.id, fields: fields))
    merge(fields, into: &record)
    try put(record)
  }

  /// Merges fields, each by its rule. A field without a rule has the value with the greater stamp.
  ///
  /// "Fields" under "Merging" in SyncProtocol.md.
  func merge(_ fields: [String: Field], into record: inout Record) {
    // A new record, and one that lives again, has nothing to merge with.
    if record.fields.isEmpty {
      record.fields = fields
      return
    }
    for (name, field) in fields {
      guard let old = record.fields[name] else {
        record.fields[name] = field
        continue
      }
      let rule = schema.rule(name, of: record.type)?.merge ?? .last
      record.fields[name] = rule.merged(old, field)
    }
  }

  /// Emits that a mutation had no effect.
  mutating func emitDropped(_ id: RecordID, _ reason: MergeEvent.DropReason) {
    emit(.dropped(id: id, reason: reason))
  }

  /// Stores a record in which incarnations have ended.
  mutating func put(
    _ record: Record, ended incarnations: [Incarnation]
  ) throws(Base.Failure) {
    emit(.ended(id: record.id, incarnations: incarnations))
    // Only if no incarnation is left: a `deny` rule is about records, not about one of several
    // inserts.
    if !record.isLive { deletedInTransaction.insert(record.id) }
    try put(record)
  }

  /// Emits that incarnations ended although their record lives on.
  mutating func emitEnded(_ id: RecordID, _ ended: [Incarnation]) {
    if !ended.isEmpty { emit(.ended(id: id, incarnations: ended)) }
  }

  /// Stores a record in the overlay, to be checked before the transaction ends.
  mutating func put(_ record: Record) throws(Base.Failure) {
    try overlay.put(record, index: schema.index(of: record))
    enqueue(record.id)
  }

  /// Puts a record into the queue of those to be checked, unless it is there.
  mutating func enqueue(_ id: RecordID) {
    if queued.insert(id).inserted { queue.append(id) }
  }
}

extension Merger: Sendable where Base: Sendable {}

// MARK: - Events

/// An effect of a merge that a user or a log may want to know.
package enum MergeEvent: Hashable, Sendable {
  /// Fields were edited; each value may have lost to a later one.
  case edited(id: RecordID, fields: [String: Field])
  /// A mutation had no effect.
  case dropped(id: RecordID, reason: DropReason)
  /// An incarnation began.
  case began(id: RecordID, incarnation: Incarnation)
  /// Incarnations ended.
  case ended(id: RecordID, incarnations: [Incarnation])
  /// A record became an alias of another, since both had the same unique key.
  case merged(loser: RecordID, winner: RecordID, rule: String)
  /// A record got another value in a unique key, since an older one has it.
  case renamed(id: RecordID, field: String)
  /// A reference was rewritten or became null.
  case repaired(id: RecordID, field: String)

  /// Why a mutation had no effect.
  package enum DropReason: String, Hashable, Sendable {
    /// The record is unknown: it was purged, or its insert was refused.
    case unknown
    /// The incarnation has ended.
    case ended
  }
}
