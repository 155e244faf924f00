internal import SteadSyncProtocol

/// A snapshot of the pending edits, which shows later which of them lost after the server has accepted them.
struct PendingEdits {
  private let client: ClientID
  private let transactions: [Transaction]

  init(_ state: ClientState) {
    client = state.client
    transactions = state.outbox
  }

  /// The conflicts of edits that are no longer pending: another device has overwritten their values, or their records
  /// no longer exist.
  func lost(in zone: ClientZone<StoredRecords>) throws -> [SyncConflict] {
    guard zone.state.client == client else { return [] }
    let done = transactions.prefix { $0.number <= zone.state.acknowledged }
    guard !done.isEmpty else { return [] }
    let refused = Set(
      zone.state.quarantine.filter { $0.client == client }.map(\.transaction.number))
    var lost: [SyncConflict] = []
    for transaction in done where !refused.contains(transaction.number) {
      for mutation in transaction.mutations { try add(mutation, zone, &lost) }
    }
    return lost
  }

  private func add(
    _ mutation: Mutation, _ zone: ClientZone<StoredRecords>, _ lost: inout [SyncConflict]
  ) throws {
    let stamp: Stamp
    switch mutation {
    case .insert(let insert): stamp = insert.stamp
    case .update(let update): stamp = update.stamp
    case .delete, .restore: return
    }
    let found = try zone.storage.record(mutation.id)
    for (name, value) in mutation.values.sorted(by: { $0.key < $1.key }) {
      if let found, found.isLive {
        // The other rules keep every device's contribution.
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
