import SteadRecords
import SteadSQLite
internal import SteadSyncProtocol

/// Turns changes of rows into edits of records.
///
/// The history says which properties of which rows have changed, and not their values: those are read from the rows as
/// they are now. So a row that was inserted and deleted again yields no edit, and of two saves that changed one
/// property the first edit has the value of the second.
struct ChangeCollector {
  let model: WireModel
  /// The transaction in which rows are read.
  let rows: RowTransaction
  /// The row of each record.
  let map: RowTable
  /// The records as this device sees them, with which rows are compared.
  let view: OpenZone
  /// The collected edits, in the order of the changes, each with its time in milliseconds since 1970.
  private(set) var edits: [(edit: Edit, milliseconds: Int64)] = []
  /// The records that were inserted whole: later changes of their rows have nothing to add.
  private var inserted: Set<RecordID> = []
  /// The links with an edit. Both sides of a relationship report a changed pair.
  private var links: Set<RecordID> = []

  private struct Counter: Hashable {
    let record: RecordID
    let field: String
  }

  /// The counters whose additions were already collected.
  private var counters: Set<Counter> = []

  init(_ model: WireModel, _ rows: RowTransaction, _ view: OpenZone) {
    self.model = model
    self.rows = rows
    map = RowTable(database: rows)
    self.view = view
  }

  // MARK: - Changes of a transaction

  /// Adds the changes of one transaction of the history. Changes of entities that no model of this app has are ignored.
  mutating func add(_ changes: [RowChanges.Change]) throws {
    for change in changes {
      guard let entity = model.entities[change.entity] else { continue }
      let row = RowTable.Row(root: entity.shape.root, number: change.number)
      switch change.kind {
      case .insert: try insert(row, entity, change.milliseconds)
      case .update: try update(row, entity, change)
      case .delete: try delete(row, change.milliseconds)
      }
    }
  }

  /// Adds a row as a whole, with its links.
  private mutating func insert(
    _ row: RowTable.Row, _ entity: WireModel.Entity, _ milliseconds: Int64
  ) throws {
    // Deleted since: the deletion follows in the history, and this record was never sent.
    guard let content = try rows.content(of: entity.shape, row.number) else { return }
    let id = try map.identify(row).id
    guard inserted.insert(id).inserted else { return }
    edits.append(
      (
        .insert(
          id: id, type: entity.shape.name, fields: try fields(entity.fields, of: content, nil)),
        milliseconds
      ))
    // Now, because later changes of an inserted row are skipped.
    for side in entity.links.values { try addLinks(of: id, row, side, milliseconds) }
  }

  /// Adds the fields and links of the properties that have changed.
  ///
  /// Only these: a record merges field by field, and a field that this device sends without having changed it would
  /// overwrite another device's edit.
  private mutating func update(
    _ row: RowTable.Row, _ entity: WireModel.Entity, _ change: RowChanges.Change
  ) throws {
    // A row that has no record yet was inserted before the history that is left begins.
    guard let id = try map.id(of: row) else {
      return try insert(row, entity, change.milliseconds)
    }
    if inserted.contains(id) { return }
    let indices = change.properties.flatMap { entity.fieldIndices[$0] ?? [] }
    // A row that was deleted since has no values. Its deletion follows in the history.
    if !indices.isEmpty, let content = try rows.content(of: entity.shape, row.number) {
      let fields = try fields(indices.map { entity.fields[$0] }, of: content, id)
      if !fields.isEmpty { edits.append((.update(id: id, fields: fields), change.milliseconds)) }
    }
    for side in change.properties.compactMap({ entity.links[$0] }) {
      try addLinks(of: id, row, side, change.milliseconds)
    }
  }

  /// Adds the deletion of a row's record. Its entry in the table of rows stays until the record is applied, so that
  /// the identity is still known then.
  private mutating func delete(_ row: RowTable.Row, _ milliseconds: Int64) throws {
    // A row without a record was inserted and deleted between two writes of the sync.
    guard let id = try map.id(of: row) else { return }
    edits.append((.delete(id: id), milliseconds))
  }

  // MARK: - All rows

  /// Adds the differences between a row and its record, as edits at one time; for rows whose history was removed or
  /// never kept.
  mutating func compare(
    _ content: RowContent, _ entity: WireModel.Entity, _ milliseconds: Int64
  ) throws {
    let row = RowTable.Row(root: entity.shape.root, number: content.number)
    guard let id = try map.id(of: row), let record = try view.record(id) else {
      return try insert(row, entity, milliseconds)
    }
    // What the record has already needs no edit: an edit of now would win against older ones of other devices.
    let fields = try fields(entity.fields, of: content, id).filter {
      record.fields[$0]?.value != $1
    }
    if !fields.isEmpty { edits.append((.update(id: id, fields: fields), milliseconds)) }
    // One side is enough, since all rows are compared.
    for side in entity.links.values where side.isOwner {
      try addLinks(of: id, row, side, milliseconds)
    }
  }

  // MARK: - Values

  /// Fields of a row, for its record. Of a counter, only this device's own entry, with what was added since.
  ///
  /// Invariant: an addition to a counter is sent once. The row has the sum after all changes that the history lists,
  /// so the first of them takes the whole difference, and `counters` keeps the others from taking it again.
  private mutating func fields(
    _ wanted: [WireModel.Field], of content: RowContent, _ id: RecordID?
  ) throws -> [String: SyncValue] {
    var fields: [String: SyncValue] = [:]
    for field in wanted {
      try read(field, of: content, into: &fields)
      guard case .attribute = field.kind, field.merge != .last else { continue }
      let known = try id.flatMap { try view.record($0) }?.fields[field.name]?.value
      let value = WireCoding.value(
        content.values[field.columnIndex], field.merge, known: known, device: view.device)
      fields[field.name] = value
      // The row has the value after all of the transaction's changes, so the first of them adds the whole difference.
      if field.merge == .counter, let id,
        value == known || !counters.insert(Counter(record: id, field: field.name)).inserted
      {
        fields[field.name] = nil
      }
    }
    return fields
  }

  /// Adds a field with the value of its column.
  private func read(
    _ field: WireModel.Field, of content: RowContent, into fields: inout [String: SyncValue]
  ) throws {
    let column = content.values[field.columnIndex]
    switch field.kind {
    case .attribute(let attribute) where attribute.isExternal:
      let row = RowTable.Row(root: content.shape.root, number: content.number)
      fields[field.name] = try BlobTable(database: rows).value(
        of: column, attribute.name, row, rows)
    case .attribute: fields[field.name] = WireCoding.value(column)
    case .list: fields[field.name] = WireCoding.value(column)
    case .reference(let relationship):
      guard case .integer(let number) = column else {
        fields[field.name] = .null
        return
      }
      // The target may have no record yet: it gets an identifier now, and its own insert follows or precedes.
      let row = RowTable.Row(root: relationship.destinationRoot, number: number)
      fields[field.name] = .string(try map.identify(row).id.text)
    }
  }

  // MARK: - Links

  /// Compares the list of a many-to-many relationship with the links of the row's record: adds those that the records
  /// lack, and deletes those that the list lacks.
  ///
  /// Invariant: a pair has one link, whichever side reports it. Its identity is derived from the pair and `links` has
  /// those that are done. The whole list is compared, since the history says only that it has changed.
  private mutating func addLinks(
    of id: RecordID, _ row: RowTable.Row, _ side: WireModel.LinkSide, _ milliseconds: Int64
  ) throws {
    let root = side.isOwner ? side.link.targetRoot : side.link.ownerRoot
    let numbers = try rows.destinations(in: side.link.list, of: row.number, isOwner: side.isOwner)
    let (own, other) =
      side.isOwner
      ? (WireModel.ownerField, WireModel.targetField)
      : (WireModel.targetField, WireModel.ownerField)
    var wanted: [RecordID: RecordID] = [:]
    for number in numbers {
      let far = try map.identify(RowTable.Row(root: root, number: number)).id
      let (owner, target) = side.isOwner ? (id, far) : (far, id)
      wanted[LinkID.make(relation: side.link.type, first: owner, second: target)] = far
    }
    // A link may have another identity than this device would give it: that of a record which was merged. So pairs are
    // compared, and not identities.
    var present: Set<RecordID> = []
    // Records of other types may refer to this one, too; the guard leaves them out.
    for link in try view.referrers(of: id) {
      guard let record = try view.record(link), record.type == side.link.type,
        record.fields[own]?.value.string == id.text,
        let far = record.fields[other]?.value.string.flatMap({ RecordID($0) })
      else { continue }
      present.insert(far)
      if !wanted.values.contains(far), links.insert(link).inserted {
        edits.append((.delete(id: link), milliseconds))
      }
    }
    for (link, far) in wanted where !present.contains(far) && links.insert(link).inserted {
      edits.append(
        (
          .insert(
            id: link, type: side.link.type,
            fields: [own: .string(id.text), other: .string(far.text)]), milliseconds
        ))
    }
  }
}

extension Edit {
  /// The record that is edited.
  var id: RecordID {
    switch self {
    case .insert(let id, _, _), .update(let id, _), .delete(let id): id
    }
  }
}
