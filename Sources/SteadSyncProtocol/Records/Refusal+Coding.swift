extension Refusal: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(syncValue, "refusal")
    self.init(
      number: try reader.count("number"), reason: try reader.coded("reason"),
      ids: Set(try reader.identifiers("ids")))
  }

  package var syncValue: SyncValue {
    .members([
      "number": .int(number), "reason": reason.syncValue, "ids": .identifiers(ids.sorted()),
    ])
  }
}

extension Refusal.Reason: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(syncValue, "reason")
    let name = try reader.string("name")
    func figures() throws(SyncCodingError) -> (limit: Int, needed: Int) {
      (Int(try reader.count("limit")), Int(try reader.count("needed")))
    }
    switch name {
    case "denied":
      self = .denied(
        deleted: try reader.identifier("deleted"), referrer: try reader.identifier("referrer"))
    case "follows": self = .follows(number: try reader.count("number"))
    case "quota":
      let (limit, needed) = try figures()
      self = .quota(limit: limit, needed: needed)
    case "recordCount":
      let (limit, needed) = try figures()
      self = .recordCount(limit: limit, needed: needed)
    case "recordSize":
      let (limit, needed) = try figures()
      self = .recordSize(id: try reader.identifier("id"), limit: limit, needed: needed)
    case "blobSize":
      let (limit, needed) = try figures()
      self = .blobSize(id: try reader.identifier("id"), limit: limit, needed: needed)
    case "type": self = .type(id: try reader.identifier("id"))
    case "tooLarge": self = .tooLarge
    case "device": self = .device
    case "invalid": self = .invalid(id: try reader.identifier("id"))
    default: self = .other(name: name)
    }
  }

  package var syncValue: SyncValue {
    func figures(_ name: String, _ id: RecordID?, _ limit: Int, _ needed: Int) -> SyncValue {
      .members([
        "name": .string(name), "id": .identifier(id), "limit": .int(Int64(limit)),
        "needed": .int(Int64(needed)),
      ])
    }
    switch self {
    case .denied(let deleted, let referrer):
      return .members([
        "name": "denied", "deleted": .identifier(deleted), "referrer": .identifier(referrer),
      ])
    case .follows(let number): return .members(["name": "follows", "number": .int(number)])
    case .quota(let limit, let needed): return figures("quota", nil, limit, needed)
    case .recordCount(let limit, let needed): return figures("recordCount", nil, limit, needed)
    case .recordSize(let id, let limit, let needed): return figures("recordSize", id, limit, needed)
    case .blobSize(let id, let limit, let needed): return figures("blobSize", id, limit, needed)
    case .type(let id): return .members(["name": "type", "id": .identifier(id)])
    case .tooLarge: return .members(["name": "tooLarge"])
    case .device: return .members(["name": "device"])
    case .invalid(let id): return .members(["name": "invalid", "id": .identifier(id)])
    case .other(let name): return .members(["name": .string(name)])
    }
  }
}
