import SteadSyncProtocol

/// What holds of a server's records at every step.
struct ServerInvariants {
  let records: [RecordID: Record]
  let state: ZoneState
  let storage: MemoryZone

  init(_ server: SimulatedServer) {
    records = server.records
    state = server.zone.storage.state()
    storage = server.zone.storage
  }

  func check() throws {
    try Self.checkUnique(records.values.filter(\.isLive), state.schema)
    var (bytes, seqs) = (0, Set<Int64>())
    for record in records.values {
      guard seqs.insert(record.seq).inserted, record.seq <= state.mark.head else {
        throw Violation(1, "\(record.id) has the number \(record.seq) of another.")
      }
      bytes += record.size
      if record.newest.milliseconds > state.now + 60_000 {
        throw Violation(9, "\(record.id) has a stamp in the future.")
      }
      if record.isLive {
        try checkReferences(record)
        // Deleted again, it would lead there, and what belongs to it with it.
        if record.into != nil { throw Violation(11, "\(record.id) lives, and leads elsewhere.") }
      } else {
        try checkAlias(record)
      }
    }
    let live = records.values.filter(\.isLive).count
    if live != state.records { throw Violation(13, "\(state.records) are counted, \(live) live.") }
    if bytes != state.bytes {
      throw Violation(13, "\(state.bytes) bytes are counted, \(bytes) there.")
    }
  }

  /// Among records of one schema.
  static func checkUnique(
    _ live: [Record], _ schema: Schema,
    except isAllowed: (RecordID, RecordID, UniqueRule) -> Bool = { _, _, _ in false }
  ) throws {
    var holders: [UniqueToken: RecordID] = [:]
    for record in live {
      for (rule, token) in schema.tokens(of: record) {
        if let other = holders.updateValue(record.id, forKey: token),
          !isAllowed(record.id, other, rule)
        {
          throw Violation(2, "\(record.id) and \(other) share \(rule.name).")
        }
      }
    }
  }

  private func checkReferences(_ record: Record) throws {
    let index = state.schema.index(of: record)
    for target in index.targets {
      if let found = records[target], !found.isLive {
        throw Violation(7, "\(record.id) refers to \(target), which is dead or an alias.")
      }
    }
    for blob in index.blobs where !storage.hasBlob(blob) {
      throw Violation(14, "\(record.id) names \(blob), which was swept.")
    }
  }

  private func checkAlias(_ record: Record) throws {
    var (next, steps) = (record.into, 0)
    while let id = next, let found = records[id], !found.isLive {
      steps += 1
      if steps > records.count { throw Violation(11, "\(record.id) is in a circle of aliases.") }
      next = found.into
    }
  }

  /// An old schema's push leaves fields that it doesn't know.
  static func checkUnknownFields(
    before: [RecordID: Record], after: [RecordID: Record], notes: [MergeEvent]
  ) throws {
    var touched: Set<RecordID> = []
    for note in notes {
      switch note {
      case .began(let id, _), .ended(let id, _), .repaired(let id, _): touched.insert(id)
      case .merged(let loser, let winner, _): touched.formUnion([loser, winner])
      case .edited, .dropped, .renamed: break
      }
    }
    for (id, record) in before where !touched.contains(id) {
      for name in ["extra", "helper"] where record.fields[name] != after[id]?.fields[name] {
        throw Violation(15, "An old schema changed \(id).\(name).")
      }
    }
  }
}
