import SteadSQLite
package import SteadSyncProtocol

/// An edit of this device that another device overruled, with both values. ``SyncEngine/conflicts()`` lists them.
///
/// It is a snapshot: the values are those of the page that confirmed the edit, and the object may have changed since.
public struct SyncConflict: Hashable, Sendable {
  /// What happened to the edit.
  public enum Kind: Hashable, Sendable {
    /// Another device has set the field later.
    case overwritten
    /// Another device deleted the object.
    case deleted
    /// The object was merged into another one with the same unique values, whose identity in the zone this is.
    case merged(String?)
    /// A rule of the models forbids it, or its record is larger than the server takes, and it was undone.
    case denied
  }

  /// A value of a field on the wire, as in JSON.
  ///
  /// A reference is the identity of an object in the zone, and a date is a number of seconds since 2001. Data, and with
  /// it a UUID, is `{"$data": "…"}` in Base64; a large value is `{"sha256": "…", "size": 20000}`.
  public indirect enum Value: Hashable, Sendable {
    /// No value.
    case null
    /// A Boolean of a key-value store.
    case bool(Bool)
    /// A whole number; of a model's Boolean property, 0 or 1.
    case integer(Int64)
    /// A number with a fraction or an exponent; not finite ones, which are objects.
    case real(Double)
    /// Text, or the identity of an object.
    case string(String)
    /// An array of a key-value store, or the elements of an attribute that merges as a union.
    case array([Value])
    /// Data, a large value, a number that isn't finite, or a counter with an entry for each device.
    case object([String: Value])

    /// The string, if it is one.
    public var string: String? { if case .string(let text) = self { text } else { nil } }
  }

  /// What happened to the edit.
  public let kind: Kind
  /// The object's identity in the zone.
  package let id: RecordID
  /// The name of the object's model on the wire, which is the entity's name; nil for an edit that was undone on this
  /// device.
  public let type: String?
  /// The name of the field on the wire: the attribute's `originalName`. Nil for an edit that was undone on this device.
  public let field: String?
  /// The value of the edit.
  package let sent: SyncValue?
  /// The value that has overruled it.
  package let present: SyncValue?

  package init(
    kind: Kind, id: RecordID, type: String?, field: String?, sent: SyncValue?, present: SyncValue?
  ) {
    self.kind = kind
    self.id = id
    self.type = type
    self.field = field
    self.sent = sent
    self.present = present
  }

  /// The object's identity in the zone, which is the same on all devices. It isn't a `PersistentIdentifier`.
  public var record: String { id.text }
  /// The value that this device set; nil for an edit that was undone on this device.
  public var mine: Value? { sent.map(Value.init) }
  /// The present value; nil if the object no longer exists.
  public var theirs: Value? { present.map(Value.init) }

  /// The edit that sets the field to this device's value again; nil if the field no longer exists.
  var undoing: Edit? {
    guard kind == .overwritten, let field, let sent else { return nil }
    return .update(id: id, fields: [field: sent])
  }
}

extension SyncConflict.Value {
  fileprivate init(_ value: SyncValue) {
    self =
      switch value {
      case .null: .null
      case .bool(let flag): .bool(flag)
      case .int(let number): .integer(number)
      case .double(let number): .real(number)
      case .string(let text): .string(text)
      case .array(let values): .array(values.map(Self.init))
      case .object(let members): .object(members.mapValues(Self.init))
      }
  }
}

// MARK: - The table of conflicts

/// The conflicts of a zone, in the table `stead_sync_conflicts`, oldest first.
struct ConflictTable {
  /// The maximum number of conflicts. Beyond it the oldest are removed.
  static let limit: Int64 = 1000

  /// The database with the table, in an open transaction.
  let database: any SyncDatabase

  /// Adds conflicts with the time at which they were found.
  func add(_ conflicts: [SyncConflict], at milliseconds: Int64) throws {
    guard !conflicts.isEmpty else { return }
    for conflict in conflicts {
      let content: SyncValue = .object([
        "kind": .string(name(conflict.kind)), "record": .string(conflict.id.text),
        "into": into(conflict.kind), "type": conflict.type.map { .string($0) } ?? .null,
        "field": conflict.field.map { .string($0) } ?? .null, "mine": conflict.sent ?? .null,
        "theirs": conflict.present ?? .null, "at": .int(milliseconds),
      ])
      try database.run(
        "INSERT INTO stead_sync_conflicts (content) VALUES (?1)",
        [.text(String(decoding: content.encoded(), as: UTF8.self))])
    }
    // By number, and not by count: numbers may have gaps, and then a few less than the limit stay.
    try database.run(
      "DELETE FROM stead_sync_conflicts WHERE number <= "
        + "(SELECT max(number) FROM stead_sync_conflicts) - ?1", [.integer(Self.limit)])
  }

  /// All conflicts, oldest first. Reads and parses the whole table, of at most ``limit`` rows.
  func all() throws -> [SyncConflict] {
    try database.texts("SELECT content FROM stead_sync_conflicts ORDER BY number").compactMap {
      conflict(try SyncValue(encoded: $0.utf8))
    }
  }

  /// Removes a conflict. Reads the whole table: values aren't keys.
  func remove(_ gone: SyncConflict) throws {
    var numbers: [Int64] = []
    try database.forEach("SELECT number, content FROM stead_sync_conflicts") { row in
      let found = conflict(try SyncValue(encoded: row.text(1).utf8))
      if found == gone { numbers.append(row.integer(0)) }
    }
    for number in numbers {
      try database.run("DELETE FROM stead_sync_conflicts WHERE number = ?1", [.integer(number)])
    }
  }

  func clear() throws { try database.run("DELETE FROM stead_sync_conflicts") }

  /// Reads a stored conflict; nil for one without a record.
  private func conflict(_ value: SyncValue) -> SyncConflict? {
    guard let members = value.object,
      let record = members["record"]?.string.flatMap({ RecordID($0) })
    else { return nil }
    let kind: SyncConflict.Kind
    switch members["kind"]?.string {
    case "overwritten": kind = .overwritten
    case "deleted": kind = .deleted
    case "merged": kind = .merged(members["into"]?.string)
    // Also a kind of a later version, which this one can't name.
    default: kind = .denied
    }
    return SyncConflict(
      kind: kind, id: record, type: members["type"]?.string, field: members["field"]?.string,
      sent: members["mine"], present: members["theirs"].flatMap { $0 == .null ? nil : $0 })
  }

  /// The stored name of a kind. It never changes.
  private func name(_ kind: SyncConflict.Kind) -> String {
    switch kind {
    case .overwritten: "overwritten"
    case .deleted: "deleted"
    case .merged: "merged"
    case .denied: "denied"
    }
  }

  /// The record into which a conflict's record was merged; null for other kinds.
  private func into(_ kind: SyncConflict.Kind) -> SyncValue {
    if case .merged(let into?) = kind { .string(into) } else { .null }
  }
}

// MARK: - Detection

/// A snapshot of the pending edits before a page is applied, which shows afterwards which of them lost although the
/// server has accepted them.
///
/// An edit that reached the server first, and was overwritten only later by a device that may have known it, isn't
/// found: it left the outbox with an earlier page.
struct OutboxSnapshot {
  private let client: ClientID
  private let transactions: [Transaction]

  init(_ state: ClientState) {
    client = state.client
    transactions = state.outbox
  }

  /// The conflicts of the edits that are no longer pending: another device has overwritten their values, or their
  /// records no longer exist.
  ///
  /// A refused transaction is no conflict: it is in quarantine.
  func conflicts(in zone: ClientZone<StoredRecords>) throws -> [SyncConflict] {
    // After the client was numbered again, the numbers of the snapshot mean other transactions.
    guard zone.state.client == client else { return [] }
    // The outbox is in the order of numbers, and a page confirms a beginning of it.
    let done = transactions.prefix { $0.number <= zone.state.acknowledged }
    guard !done.isEmpty else { return [] }
    let refused = Set(
      zone.state.quarantine.filter { $0.client == client }.map(\.transaction.number))
    var lost: [SyncConflict] = []
    for transaction in done where !refused.contains(transaction.number) {
      for mutation in transaction.mutations { try addConflicts(of: mutation, zone, &lost) }
    }
    return lost
  }

  private func addConflicts(
    of mutation: Mutation, _ zone: ClientZone<StoredRecords>, _ lost: inout [SyncConflict]
  ) throws {
    let stamp: Stamp
    switch mutation {
    case .insert(let insert): stamp = insert.stamp
    case .update(let update): stamp = update.stamp
    // A deletion can't be overwritten: it ends what its author saw, and a new insert is another object.
    case .delete, .restore: return
    }
    // The base and not the view: a later pending edit of this device would hide which value has
    // won.
    let found = try zone.storage.record(mutation.id)
    for (name, value) in mutation.values.sorted(by: { $0.key < $1.key }) {
      if let found, found.isLive {
        // The other rules keep what each device has contributed. A greater stamp of this device is an edit that
        // followed.
        let rule = zone.schema.entities[found.type]?.fields[name]?.merge ?? .last
        guard rule == .last, let field = found.fields[name], field.value != value,
          field.stamp > stamp,
          field.stamp.device != stamp.device
        else { continue }
        lost.append(
          SyncConflict(
            kind: .overwritten, id: mutation.id, type: mutation.type, field: name, sent: value,
            present: field.value))
      } else {
        lost.append(
          SyncConflict(
            kind: found?.into == nil ? .deleted : .merged(found?.into?.text), id: mutation.id,
            type: mutation.type, field: name, sent: value, present: nil))
      }
    }
  }
}
