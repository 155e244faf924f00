extension ClientState: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(message: syncValue, "client's state")
    self.init(client: try reader.identifier("client"), device: try reader.identifier("device"))
    guard let phase = Phase(rawValue: try reader.string("phase")) else {
      throw reader.problem("phase", "a phase that is known")
    }
    self.phase = phase
    round = try reader.count("round")
    cursor = try reader.codedIfPresent("cursor")
    anchor = try reader.codedIfPresent("anchor")
    marks = try reader.codedIfPresent("marks") ?? []
    acknowledged = try reader.count("acknowledged")
    digest = try reader.coded("digest")
    schemaVersion = Int(try reader.count("schemaVersion"))
    schemaDigest = try reader.digestIfPresent("schemaDigest")
    numbered = try reader.count("numbered")
    outbox = try reader.codedIfPresent("outbox") ?? []
    quarantine = try reader.codedIfPresent("quarantine") ?? []
    clock = try reader.coded("clock")
  }

  package var syncValue: SyncValue {
    .message([
      "client": .identifier(client), "device": .identifier(device),
      "round": .int(round), "phase": .string(phase.rawValue), "cursor": cursor?.syncValue,
      "anchor": anchor?.syncValue,
      "marks": marks.isEmpty ? nil : marks.syncValue, "acknowledged": .int(acknowledged),
      "digest": digest.syncValue,
      "schemaVersion": .int(Int64(schemaVersion)),
      "schemaDigest": (schemaDigest?.digits).map { .string($0) }, "numbered": .int(numbered),
      "outbox": outbox.isEmpty ? nil : outbox.syncValue,
      "quarantine": quarantine.isEmpty ? nil : quarantine.syncValue, "clock": clock.syncValue,
    ])
  }
}

extension ClientState.Quarantined: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(syncValue, "refused transaction")
    var counters: [RecordID: [String: SyncValue]] = [:]
    if reader.value("counters") != nil {
      for (id, fields) in try reader.object("counters") {
        guard let id = RecordID(id), let fields = fields.object else {
          throw reader.problem("counters", "fields by record")
        }
        counters[id] = fields
      }
    }
    self.init(
      client: try reader.identifier("client"), transaction: try reader.coded("transaction"),
      reason: try reader.coded("reason"), counters: counters)
  }

  package var syncValue: SyncValue {
    let byRecord = Dictionary(
      uniqueKeysWithValues: counters.map { ($0.text, SyncValue.object($1)) })
    return .members([
      "client": .identifier(client), "transaction": transaction.syncValue,
      "reason": reason.syncValue, "counters": byRecord.isEmpty ? nil : .object(byRecord),
    ])
  }
}
