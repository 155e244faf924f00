import SteadRecords
import SteadSQLite
internal import SteadSyncProtocol

/// The questions about a zone that are needed to turn rows into edits.
protocol ZoneView {
  /// The device that adds to counters.
  var device: DeviceID { get }
  /// The record as programs see it; nil if it isn't live.
  func record(_ id: RecordID) throws -> Record?
  /// The live records that refer to a record.
  func referrers(of id: RecordID) throws -> [RecordID]
}

/// Turns changes of rows into edits of records.
///
/// It reads the rows' present values. A row that was inserted and deleted again yields no edit.
struct ChangeCollector {
  let model: WireModel
  let rows: RowTransaction
  let map: RowMap
  let view: any ZoneView
  /// The collected edits, in order, each with its time in milliseconds since 1970.
  private(set) var edits: [(edit: Edit, milliseconds: Int64)] = []
  private var inserted: Set<RecordID> = []
  private var links: Set<RecordID> = []

  private struct Counter: Hashable {
    let record: RecordID
    let field: String
  }

  /// The counters whose additions were already collected.
  private var counters: Set<Counter> = []

  init(_ model: WireModel, _ rows: RowTransaction, _ view: any ZoneView) {
    self.model = model
    self.rows = rows
    map = RowMap(database: rows)
    self.view = view
  }

  // MARK: - Changes of a transaction

  /// Adds the changes of one transaction of the history.
  mutating func add(_ changes: [RowChanges.Change]) throws {
    for change in changes {
      guard let entity = model.entities[change.entity] else { continue }
      let row = RowMap.Row(root: entity.shape.root, number: change.number)
      switch change.kind {
      case .insert: try insert(row, entity, change.milliseconds)
      case .update: try update(row, entity, change)
      case .delete: try delete(row, change.milliseconds)
      }
    }
  }

  private mutating func insert(
    _ row: RowMap.Row, _ entity: WireModel.Entity, _ milliseconds: Int64
  ) throws {
    guard let content = try rows.content(of: entity.shape, row.number) else { return }
    let id = try map.identify(row).id
    guard inserted.insert(id).inserted else { return }
    edits.append(
      (
        .insert(
          id: id, type: entity.shape.name, fields: try fields(entity.fields, of: content, nil)),
        milliseconds
      ))
    for side in entity.links.values { try addLinks(of: id, row, side, milliseconds) }
  }

  private mutating func update(
    _ row: RowMap.Row, _ entity: WireModel.Entity, _ change: RowChanges.Change
  ) throws {
    guard let id = try map.id(of: row) else {
      return try insert(row, entity, change.milliseconds)
    }
    if inserted.contains(id) { return }
    let places = change.properties.flatMap { entity.places[$0] ?? [] }
    if !places.isEmpty, let content = try rows.content(of: entity.shape, row.number) {
      let fields = try fields(places.map { entity.fields[$0] }, of: content, id)
      if !fields.isEmpty { edits.append((.update(id: id, fields: fields), change.milliseconds)) }
    }
    for side in change.properties.compactMap({ entity.links[$0] }) {
      try addLinks(of: id, row, side, change.milliseconds)
    }
  }

  private mutating func delete(_ row: RowMap.Row, _ milliseconds: Int64) throws {
    guard let id = try map.id(of: row) else { return }
    edits.append((.delete(id: id), milliseconds))
  }

  // MARK: - All rows

  /// Adds the differences between a row and its record, as edits of now; for rows whose history isn't known.
  mutating func compare(
    _ content: RowContent, _ entity: WireModel.Entity, _ milliseconds: Int64
  ) throws {
    let row = RowMap.Row(root: entity.shape.root, number: content.number)
    guard let id = try map.id(of: row), let record = try view.record(id) else {
      return try insert(row, entity, milliseconds)
    }
    let fields = try fields(entity.fields, of: content, id).filter {
      record.fields[$0]?.value != $1
    }
    if !fields.isEmpty { edits.append((.update(id: id, fields: fields), milliseconds)) }
    for side in entity.links.values where side.isOwner {
      try addLinks(of: id, row, side, milliseconds)
    }
  }

  // MARK: - Values

  /// Fields of a row, for its record.
  private mutating func fields(
    _ wanted: [WireModel.Field], of content: RowContent, _ id: RecordID?
  ) throws -> [String: SyncValue] {
    var fields: [String: SyncValue] = [:]
    for field in wanted {
      try read(field, of: content, into: &fields)
      guard case .attribute = field.kind, field.merge != .last else { continue }
      let known = try id.flatMap { try view.record($0) }?.fields[field.name]?.value
      let value = MergedValue.value(
        content.values[field.place], field.merge, known: known, device: view.device)
      fields[field.name] = value
      // The row's present value is read: the transaction's first change adds the whole difference.
      if field.merge == .counter, let id,
        value == known || !counters.insert(Counter(record: id, field: field.name)).inserted
      {
        fields[field.name] = nil
      }
    }
    return fields
  }

  private func read(
    _ field: WireModel.Field, of content: RowContent, into fields: inout [String: SyncValue]
  ) throws {
    let column = content.values[field.place]
    switch field.kind {
    case .attribute(let attribute) where attribute.isExternal:
      let row = RowMap.Row(root: content.shape.root, number: content.number)
      fields[field.name] = try BlobTable(database: rows).value(
        of: column, attribute.name, row, rows)
    case .attribute: fields[field.name] = ColumnCoding.value(column)
    case .list: fields[field.name] = ColumnCoding.value(column)
    case .reference(let relationship):
      guard case .integer(let number) = column else {
        fields[field.name] = .null
        return
      }
      let row = RowMap.Row(root: relationship.destinationRoot, number: number)
      fields[field.name] = .string(try map.identify(row).id.text)
    }
  }

  // MARK: - Links

  /// Adds the links in a row's list that the record lacks, and removes those that the list lacks.
  private mutating func addLinks(
    of id: RecordID, _ row: RowMap.Row, _ side: WireModel.LinkSide, _ milliseconds: Int64
  ) throws {
    let root = side.isOwner ? side.link.targetRoot : side.link.ownerRoot
    let numbers = try rows.destinations(in: side.link.list, of: row.number, isOwner: side.isOwner)
    let (own, other) =
      side.isOwner
      ? (WireModel.ownerField, WireModel.targetField)
      : (WireModel.targetField, WireModel.ownerField)
    var wanted: [RecordID: RecordID] = [:]
    for number in numbers {
      let far = try map.identify(RowMap.Row(root: root, number: number)).id
      let (owner, target) = side.isOwner ? (id, far) : (far, id)
      wanted[LinkID.make(relation: side.link.type, first: owner, second: target)] = far
    }
    // Some are aliases of records from other devices: their targets count.
    var present: Set<RecordID> = []
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
