/// One change of one record. Documentation/SyncProtocol.md, "Merging", says what becomes of each.
///
/// ```
/// {"fields":{"name":"Milk"},"id":"t1","life":"c1-1-1700000000000-3","op":"insert","stamp":[1700000000000,3,"d1"],
///  "type":"Task"}
/// {"fields":{"name":1},"id":"t1","lives":["c1-1-1700000000000-3"],"op":"update","stamp":[…],"type":"Task"}
/// {"id":"t1","lives":["c1-1-1700000000000-3"],"op":"delete","stamp":[…],"type":"Task"}
/// {"op":"restore","record":{…}}
/// ```
package enum Mutation: Hashable, Sendable {
  /// Makes a record, or an incarnation of an existing one.
  case insert(Insert)
  /// Changes fields of a live record.
  case update(Update)
  /// Ends incarnations of a record.
  case delete(Delete)
  /// Brings a state back to a server that has forgotten it; merged like any other.
  case restore(Record)

  /// The content of an insert.
  package struct Insert: Hashable, Sendable {
    package var id: RecordID
    package var type: String
    /// The incarnation that begins with this insert. No other insert has it.
    package var incarnation: Incarnation
    /// The stamp of all fields, and of the record if it is new.
    package var stamp: Stamp
    package var fields: [String: SyncValue]

    package init(
      id: RecordID, type: String, incarnation: Incarnation, stamp: Stamp,
      fields: [String: SyncValue]
    ) {
      self.id = id
      self.type = type
      self.incarnation = incarnation
      self.stamp = stamp
      self.fields = fields
    }
  }

  /// The content of an update: only the fields that were edited, with one stamp for all.
  package struct Update: Hashable, Sendable {
    package var id: RecordID
    package var type: String
    /// The incarnations that the author saw. The update applies to a record that has one of them.
    package var incarnations: [Incarnation]
    /// The stamp of all fields.
    package var stamp: Stamp
    package var fields: [String: SyncValue]

    package init(
      id: RecordID, type: String, incarnations: [Incarnation], stamp: Stamp,
      fields: [String: SyncValue]
    ) {
      self.id = id
      self.type = type
      self.incarnations = incarnations
      self.stamp = stamp
      self.fields = fields
    }
  }

  /// The content of a delete.
  package struct Delete: Hashable, Sendable {
    package var id: RecordID
    package var type: String
    /// The incarnations that the author saw; others survive.
    package var incarnations: [Incarnation]
    /// When the record was deleted. The incarnations decide what dies; the stamp is part of the
    /// digest and advances clocks.
    package var stamp: Stamp

    package init(id: RecordID, type: String, incarnations: [Incarnation], stamp: Stamp) {
      self.id = id
      self.type = type
      self.incarnations = incarnations
      self.stamp = stamp
    }
  }

  /// The record that is changed.
  package var id: RecordID {
    switch self {
    case .insert(let insert): insert.id
    case .update(let update): update.id
    case .delete(let delete): delete.id
    case .restore(let record): record.id
    }
  }

  /// The record's type.
  package var type: String {
    switch self {
    case .insert(let insert): insert.type
    case .update(let update): update.type
    case .delete(let delete): delete.type
    case .restore(let record): record.type
    }
  }
}

extension Mutation {
  /// All stamps of the mutation.
  package var stamps: [Stamp] {
    var stamps = [stamp]
    if case .restore(let record) = self { stamps += record.fields.values.map(\.stamp) }
    return stamps
  }

  /// The stamp of an edit; for a restore, that of the record's insert.
  var stamp: Stamp {
    switch self {
    case .insert(let insert): insert.stamp
    case .update(let update): update.stamp
    case .delete(let delete): delete.stamp
    case .restore(let record): record.at
    }
  }

  /// The greatest of ``stamps``, without making the array.
  var newestStamp: Stamp {
    if case .restore(let record) = self { record.newest } else { stamp }
  }

  /// The values by wire name; none for a delete.
  package var values: [String: SyncValue] {
    switch self {
    case .insert(let insert): insert.fields
    case .update(let update): update.fields
    case .delete: [:]
    case .restore(let record): record.fields.mapValues(\.value)
    }
  }

  /// An insert or an update with other values. Deletes and restores stay as they are.
  func withValues(_ values: [String: SyncValue]) -> Mutation {
    switch self {
    case .insert(var insert):
      insert.fields = values
      return .insert(insert)
    case .update(var update):
      update.fields = values
      return .update(update)
    case .delete, .restore: return self
    }
  }

  /// The mutation with each stamp replaced.
  func restamped(_ replacement: (Stamp) -> Stamp) -> Mutation {
    switch self {
    case .insert(var insert):
      insert.stamp = replacement(insert.stamp)
      return .insert(insert)
    case .update(var update):
      update.stamp = replacement(update.stamp)
      return .update(update)
    case .delete(var delete):
      delete.stamp = replacement(delete.stamp)
      return .delete(delete)
    case .restore(var record):
      // All stamps, since the fields of a restored record may have different authors.
      record.at = replacement(record.at)
      record.fields = record.fields.mapValues { Field($0.value, replacement($0.stamp)) }
      return .restore(record)
    }
  }
}

// MARK: - Coding

extension Mutation: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(syncValue, "mutation")
    switch try reader.string("op") {
    case "insert": self = .insert(try Insert(reader))
    case "update": self = .update(try Update(reader))
    case "delete": self = .delete(try Delete(reader))
    case "restore": self = .restore(try reader.coded("record"))
    // An unknown operation can't be ignored as an unknown member is: its effect would be missing.
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
