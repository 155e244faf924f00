extension Mutation: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(syncValue, "mutation")
    switch try reader.string("op") {
    case "insert": self = .insert(try Insert(reader))
    case "update": self = .update(try Update(reader))
    case "delete": self = .delete(try Delete(reader))
    case "restore": self = .restore(try reader.coded("record"))
    default: throw reader.problem("op", "an operation that is known")
    }
  }

  package var syncValue: SyncValue {
    switch self {
    case .insert(let insert):
      .members([
        "op": "insert", "id": .identifier(insert.id), "type": .string(insert.type),
        "life": .identifier(insert.incarnation), "stamp": insert.stamp.syncValue,
        "fields": .object(insert.fields),
      ])
    case .update(let update):
      .members([
        "op": "update", "id": .identifier(update.id), "type": .string(update.type),
        "lives": .identifiers(update.incarnations), "stamp": update.stamp.syncValue,
        "fields": .object(update.fields),
      ])
    case .delete(let delete):
      .members([
        "op": "delete", "id": .identifier(delete.id), "type": .string(delete.type),
        "lives": .identifiers(delete.incarnations), "stamp": delete.stamp.syncValue,
      ])
    case .restore(let record): .members(["op": "restore", "record": record.syncValue])
    }
  }
}

extension Mutation.Insert {
  fileprivate init(_ reader: MemberReader) throws(SyncCodingError) {
    self.init(
      id: try reader.identifier("id"), type: try reader.string("type"),
      incarnation: try reader.identifier("life"), stamp: try reader.coded("stamp"),
      fields: try reader.object("fields"))
  }
}

extension Mutation.Update {
  fileprivate init(_ reader: MemberReader) throws(SyncCodingError) {
    self.init(
      id: try reader.identifier("id"), type: try reader.string("type"),
      incarnations: try reader.identifiers("lives"), stamp: try reader.coded("stamp"),
      fields: try reader.object("fields"))
  }
}

extension Mutation.Delete {
  fileprivate init(_ reader: MemberReader) throws(SyncCodingError) {
    self.init(
      id: try reader.identifier("id"), type: try reader.string("type"),
      incarnations: try reader.identifiers("lives"), stamp: try reader.coded("stamp"))
  }
}
