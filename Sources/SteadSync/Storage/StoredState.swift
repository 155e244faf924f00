import SteadSQLite
internal import SteadSyncProtocol

/// A client's state of a zone besides records, in tables: a row for each transaction of the outbox and the
/// quarantine, and one row for the rest.
///
/// The cost of saving depends on the changes alone.
struct StoredState {
  /// The state in the tables.
  private var saved: ClientState?

  /// Reads the state; nil if none was saved.
  mutating func load(_ database: any SyncDatabase) throws -> ClientState? {
    guard let text = try SyncTables.text("state", database) else { return nil }
    var state = try ClientState(encoded: text.utf8)
    state.outbox = try database.texts(
      "SELECT content FROM stead_sync_outbox ORDER BY number"
    ).map { try Transaction(encoded: $0.utf8) }
    state.quarantine = try database.texts(
      "SELECT content FROM stead_sync_quarantine ORDER BY place"
    ).map { try ClientState.Quarantined(encoded: $0.utf8) }
    saved = state
    return state
  }

  mutating func save(_ state: ClientState, _ database: any SyncDatabase) throws {
    try saveOutbox(state, database)
    if state.quarantine != saved?.quarantine ?? [] {
      try database.run("DELETE FROM stead_sync_quarantine")
      for (place, item) in state.quarantine.enumerated() {
        try database.run(
          "INSERT INTO stead_sync_quarantine VALUES (?1, ?2)",
          [.integer(Int64(place)), .text(text(item))])
      }
    }
    var head = state
    head.outbox = []
    head.quarantine = []
    try SyncTables.set("state", .text(text(head)), database)
    saved = state
  }

  /// The outbox loses transactions at its start and gets new ones at its end, unless all are numbered again.
  private func saveOutbox(_ state: ClientState, _ database: any SyncDatabase) throws {
    var known: ClosedRange<Int64>?
    if let saved, saved.client == state.client, let first = saved.outbox.first?.number,
      let last = saved.outbox.last?.number
    {
      known = first...last
    } else {
      try database.run("DELETE FROM stead_sync_outbox")
    }
    if let known {
      let first = state.outbox.first?.number ?? .max
      if first > known.lowerBound {
        try database.run(
          "DELETE FROM stead_sync_outbox WHERE number < ?1", [.integer(first)])
      }
    }
    for transaction in state.outbox where known.map({ transaction.number > $0.upperBound }) ?? true
    {
      try database.run(
        "INSERT INTO stead_sync_outbox VALUES (?1, ?2)",
        [.integer(transaction.number), .text(text(transaction))])
    }
  }

  /// Makes the next save write everything, after a transaction was rolled back.
  mutating func forget() { saved = nil }

  private func text(_ value: some SyncCodable) -> String {
    String(decoding: value.encoded(), as: UTF8.self)
  }
}
