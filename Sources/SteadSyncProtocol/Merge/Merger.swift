/// Applies transactions to records: the one function that decides, for the server's zone and for a client's view.
///
/// Everything is deterministic: the same records, schema and transaction lead to the same result on every device.
/// A transaction costs a few look-ups for each mutation, and for each record that a deletion or a merge leads to.
package struct Merger<Base: RecordStorage> {
  /// The records, including the changed ones.
  package var overlay: Overlay<Base>
  package var schema: Schema
  /// What happened since ``takeNotes()`` was called last.
  private var notes: [MergeNote] = []
  private var notesBefore = 0
  /// Whether notes are wanted.
  package var keepsNotes = true
  /// Records to look at again, each once.
  var work: [RecordID] = []
  var waiting: Set<RecordID> = []
  /// The records that the open transaction has deleted.
  var deaths: Set<RecordID> = []

  /// The longest chain of aliases that is followed. Longer ones cannot arise: each step costs a merge.
  static var chainLimit: Int { 10_000 }

  package init(_ base: Base, schema: Schema) {
    overlay = Overlay(base)
    self.schema = schema
  }

  mutating func note(_ note: @autoclosure () -> MergeNote) {
    if keepsNotes { notes.append(note()) }
  }

  /// Returns the notes so far, and forgets them.
  package mutating func takeNotes() -> [MergeNote] {
    defer { notes = [] }
    return notes
  }

  /// Applies a transaction in the overlay. If it returns a reason, nothing was changed.
  ///
  /// Leaves the transaction open: end it with `overlay.keepOpenChanges()` or ``undo()``.
  package mutating func apply(_ transaction: Transaction) throws(Base.Failure) -> Refusal.Reason? {
    notesBefore = notes.count
    deaths = []
    var reason: Refusal.Reason?
    overlay.reserveCapacity(transaction.mutations.count)
    for mutation in transaction.mutations {
      reason = try apply(mutation)
      if reason != nil { break }
    }
    if reason == nil { reason = try settle(denies: !transaction.isRestore) }
    if reason != nil { undo() }
    return reason
  }

  /// Undoes the open transaction with its notes.
  mutating func undo() {
    overlay.undoOpenChanges()
    notes.removeLast(max(notes.count - notesBefore, 0))
    work = []
    waiting = []
  }

  private mutating func apply(_ mutation: Mutation) throws(Base.Failure) -> Refusal.Reason? {
    let here = try overlay.record(mutation.id)
    if let here, here.type != mutation.type { return .type(id: mutation.id) }
    switch mutation {
    case .insert(let insert): try apply(insert, to: here)
    case .update(let update): try apply(update, to: here)
    case .delete(let delete): try apply(delete, to: here)
    case .restore(let record): try restore(record, to: here)
    }
    return nil
  }

  /// Checks records again whose type has got new rules. The changes stay open.
  mutating func reconsider(_ records: [Record]) throws(Base.Failure) {
    deaths = []
    for record in records where record.isLive { try put(record) }
    _ = try settle(denies: false)
  }
}

// MARK: - Mutations

extension Merger {
  private mutating func apply(
    _ insert: Mutation.Insert, to here: Record?
  ) throws(Base.Failure) {
    let fields = insert.fields.mapValues { Field($0, insert.stamp) }
    if let here, let known = try home(of: insert.incarnation, from: here) {
      guard known.live.contains(insert.incarnation) else { return drop(insert.id, .ended) }
      // The same insert again, after a server was restored.
      return try edit(known, led(fields, from: insert.id, to: known))
    }
    var record = here ?? Record(id: insert.id, type: insert.type, at: insert.stamp)
    if record.isLive {
      record.at = min(record.at, insert.stamp)
    } else {
      record.at = insert.stamp
      record.into = nil
    }
    record.revive([insert.incarnation])
    note(.began(id: record.id, incarnation: insert.incarnation))
    noteTrimmed(record.id, record.trim(keeping: insert.incarnation))
    try edit(record, fields)
  }

  private mutating func apply(
    _ update: Mutation.Update, to here: Record?
  ) throws(Base.Failure) {
    guard let here, let record = try resolved(here) else { return drop(update.id, .unknown) }
    let fields = led(
      update.fields.mapValues { Field($0, update.stamp) }, from: update.id, to: record)
    if record.live.contains(where: update.incarnations.contains) { return try edit(record, fields) }
    drop(update.id, .ended)
  }

  private mutating func apply(
    _ delete: Mutation.Delete, to here: Record?
  ) throws(Base.Failure) {
    guard let here, var record = try resolved(here) else { return drop(delete.id, .unknown) }
    let ended = record.live.filter(delete.incarnations.contains)
    guard !ended.isEmpty else { return drop(delete.id, .ended) }
    record.end(ended)
    try putEnded(record, ended)
  }

  /// The record in which an incarnation lives or has ended, along the aliases from a record.
  func home(
    of incarnation: Incarnation, from record: Record
  ) throws(Base.Failure) -> Record? {
    if let last = try resolved(record),
      last.live.contains(incarnation) || last.dead.contains(incarnation)
    {
      return last
    }
    return record.dead.contains(incarnation) ? record : nil
  }

  /// The record at the end of the aliases; nil if it is unknown.
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

  /// Fields of a record that was merged into another one. A reference to that one would make it its own parent, and
  /// becomes null.
  func led(_ fields: [String: Field], from id: RecordID, to record: Record) -> [String: Field] {
    guard id != record.id, let rules = schema.entities[record.type]?.fields else { return fields }
    var fields = fields
    for (name, field) in fields
    where rules[name]?.reference != nil && Schema.target(field.value) == record.id {
      fields[name] = Field(.null, field.stamp.bumped)
    }
    return fields
  }

  mutating func edit(_ record: Record, _ fields: [String: Field]) throws(Base.Failure) {
    var record = record
    note(.edited(id: record.id, fields: fields))
    merge(fields, into: &record)
    try put(record)
  }

  func merge(_ fields: [String: Field], into record: inout Record) {
    // A new record takes them as they are.
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

  mutating func drop(_ id: RecordID, _ reason: MergeNote.DropReason) {
    note(.dropped(id: id, reason: reason))
  }

  mutating func putEnded(
    _ record: Record, _ incarnations: [Incarnation]
  ) throws(Base.Failure) {
    note(.ended(id: record.id, incarnations: incarnations))
    if !record.isLive { deaths.insert(record.id) }
    try put(record)
  }

  /// Notes incarnations that ended because their record has too many; it lives on.
  mutating func noteTrimmed(_ id: RecordID, _ ended: [Incarnation]) {
    if !ended.isEmpty { note(.ended(id: id, incarnations: ended)) }
  }

  mutating func put(_ record: Record) throws(Base.Failure) {
    try overlay.put(record, index: schema.index(of: record))
    lookAgain(record.id)
  }

  mutating func lookAgain(_ id: RecordID) {
    if waiting.insert(id).inserted { work.append(id) }
  }
}

extension Merger: Sendable where Base: Sendable {}

// MARK: - Notes

/// An effect of a merge that a user or a log may want to know.
package enum MergeNote: Hashable, Sendable {
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
