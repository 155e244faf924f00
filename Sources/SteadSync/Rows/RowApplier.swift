import SteadRecords
import SteadSQLite
internal import SteadSyncProtocol

/// Writes records into their rows.
///
/// It first deletes the rows of deleted records, then writes changed rows, then new ones. A reference to a record
/// that hasn't arrived stays NULL until it does; a row that requires the reference waits.
struct RowRenderer {
  let model: WireModel
  let rows: RowTransaction
  let map: RowMap
  let view: any ZoneView

  init(_ model: WireModel, _ rows: RowTransaction, _ view: any ZoneView) {
    self.model = model
    self.rows = rows
    map = RowMap(database: rows)
    self.view = view
  }

  /// A record that has a row or gets one.
  private struct Item {
    let id: RecordID
    let record: Record
    let entity: WireModel.Entity
    var number: Int64?
  }

  /// Writes records as they are in the view; returns the number of changed rows.
  @discardableResult
  func show(_ ids: Set<RecordID>) throws -> Int {
    var (dead, old, new): ([(RecordID, RowMap.Row)], [Item], [Item]) = ([], [], [])
    var links: [(link: WireModel.Link, id: RecordID, record: Record?)] = []
    for id in ids.sorted() {
      let record = try view.record(id)
      if let record, let link = model.links[record.type] {
        links.append((link, id, record))
        continue
      }
      if record == nil,
        let link = try LinkTable(database: rows).type(of: id).flatMap({ model.links[$0] })
      {
        links.append((link, id, nil))
        continue
      }
      let row = try map.row(of: id)
      guard let record else {
        if let row { dead.append((id, row)) } else { try clearNote(id) }
        continue
      }
      // A type of a later version of the app: it stays in the base, without a row.
      guard let entity = model.entities[record.type] else { continue }
      if let row {
        old.append(Item(id: id, record: record, entity: entity, number: row.number))
      } else {
        new.append(Item(id: id, record: record, entity: entity))
      }
    }
    var count = 0
    for (link, id, record) in links where record == nil { count += try removeLink(id, link) }
    for (id, row) in dead { count += try delete(id, row) }
    // Before any row is written, so that rows of one turn can refer to each other.
    var last: [String: Int64] = [:]
    for place in new.indices { try number(&new[place], after: &last) }
    count += try update(old)
    var waiting: Set<RecordID> = []
    for item in new {
      let referrers = try view.referrers(of: item.id)
      if try insert(item) {
        count += 1
        // Records that arrived before their targets.
        waiting.formUnion(referrers.filter { !ids.contains($0) })
      } else {
        // Rows of this turn may already have its number.
        for referrer in referrers where try map.row(of: referrer) != nil {
          waiting.insert(referrer)
        }
      }
    }
    for (link, id, record) in links {
      if let record { count += try insertLink(id, link, record) }
    }
    return waiting.isEmpty ? count : count + (try show(waiting))
  }

  // MARK: - Rows

  private func delete(_ id: RecordID, _ row: RowMap.Row) throws -> Int {
    try map.forget(id)
    try clearNote(id)
    try BlobTable(database: rows).forget(row)
    let shape = model.entities.values.first {
      $0.shape.root == row.root
    }?.shape
    guard let shape, let entity = try rows.entityName(of: row.number, in: shape),
      let own = model.entities[entity]?.shape
    else { return 0 }
    try rows.delete(row.number, of: own)
    return 1
  }

  /// Gives a new row its number.
  ///
  /// - Parameter last: The last numbers of the hierarchies, which are looked up once.
  private func number(_ item: inout Item, after last: inout [String: Int64]) throws {
    let shape = item.entity.shape
    let number = try (last[shape.root] ?? lastNumber(in: shape)) + 1
    last[shape.root] = number
    item.number = number
    try map.set(RowMap.Row(root: shape.root, number: number), for: item.id)
  }

  /// The last number of a hierarchy's rows and of records whose rows are yet to be written.
  private func lastNumber(in shape: RowShape) throws -> Int64 {
    let last =
      try map.database.integer(
        "SELECT max(number) FROM stead_sync_rows WHERE root = ?1", [.text(shape.root)]) ?? 0
    return max(try rows.newNumber(in: shape) - 1, last)
  }

  private func update(_ items: [Item]) throws -> Int {
    var changes: [(item: Item, values: [(column: String, value: SQLValue)], old: RowContent)] = []
    for item in items {
      guard let number = item.number,
        let content = try rows.content(of: item.entity.shape, number)
      else {
        // The row no longer exists, but the record does: the deletion was refused.
        var lost = item
        lost.number = nil
        try map.forget(item.id)
        var last: [String: Int64] = [:]
        try self.number(&lost, after: &last)
        _ = try insert(lost)
        continue
      }
      let target: [SQLValue]
      switch try values(of: item, from: content) {
      case .columns(let values): target = values
      case .cannotBeShown: continue
      case .waits:
        // A record that it requires no longer exists.
        _ = try delete(item.id, RowMap.Row(root: item.entity.shape.root, number: number))
        continue
      }
      let changed = zip(item.entity.shape.columns, zip(content.values, target)).filter {
        $0.1.0 != $0.1.1
      }.map { (column: $0.0, value: $0.1.1) }
      try noteBlobs(item, number)
      if !changed.isEmpty { changes.append((item, changed, content)) }
    }
    // Rows first give up their old unique values, so that two rows can swap them.
    for (item, values, _) in changes {
      let unique = values.map(\.column).filter(item.entity.uniqueColumns.contains)
      if let number = item.number, !unique.isEmpty {
        try rows.clear(unique, of: number, in: item.entity.shape)
      }
    }
    for (item, values, old) in changes { try write(values, item, old) }
    return changes.count
  }

  private func write(
    _ values: [(column: String, value: SQLValue)], _ item: Item, _ old: RowContent
  ) throws {
    guard let number = item.number else { return }
    let shape = item.entity.shape
    do {
      try rows.set(values, of: number, in: shape)
    } catch {
      return try note(item.id, "its values cannot be stored: \(error)")
    }
    let names = Set(values.map(\.column))
    for attribute in shape.attributes where attribute.isExternal && names.contains(attribute.name) {
      if let place = shape.columns.firstIndex(of: attribute.name) {
        rows.drop(external: old.values[place])
      }
    }
    for relationship in shape.relationships where names.contains(relationship.name) {
      guard let place = shape.columns.firstIndex(of: relationship.name) else { continue }
      let new = values.first { $0.column == relationship.name }?.value
      for case .integer(let owner) in [old.values[place], new ?? .null] {
        try rows.noteList(of: relationship, owner: owner)
      }
    }
  }

  private func insert(_ item: Item) throws -> Bool {
    guard let number = item.number else { return false }
    let shape = item.entity.shape
    let blank = RowContent(shape, number, values: shape.blankValues, pairs: [])
    guard case .columns(let values) = try values(of: item, from: blank) else {
      try map.forget(item.id)
      return false
    }
    do {
      try rows.insert(values, as: number, of: shape)
    } catch {
      try map.forget(item.id)
      try note(item.id, "its values cannot be stored: \(error)")
      return false
    }
    try noteBlobs(item, number)
    for relationship in shape.relationships {
      if let place = shape.columns.firstIndex(of: relationship.name),
        case .integer(let owner) = values[place]
      {
        try rows.noteList(of: relationship, owner: owner)
      }
    }
    return true
  }

  /// Records which blobs a row has, so that they aren't fetched again.
  private func noteBlobs(_ item: Item, _ number: Int64) throws {
    for field in item.entity.fields {
      guard case .attribute(let attribute) = field.kind, attribute.isExternal,
        let value = item.record.fields[field.name]?.value,
        let blob = SteadSyncProtocol.Schema.blob(value)
      else { continue }
      let row = RowMap.Row(root: item.entity.shape.root, number: number)
      try BlobTable(database: rows).place(blob.text, row, attribute.name)
    }
  }

  // MARK: - Values

  private enum Values {
    case columns([SQLValue])
    /// A record that the row requires hasn't arrived.
    case waits
    case cannotBeShown
  }

  /// The new values of a row's columns.
  private func values(of item: Item, from content: RowContent) throws -> Values {
    let shape = item.entity.shape
    var result = content.values
    var attributes: [String: SQLValue] = [:]
    for field in item.entity.fields {
      let value = item.record.fields[field.name]?.value
      switch field.kind {
      case .attribute(let attribute):
        guard let value else {
          try keep(attribute, of: content, in: &attributes)
          continue
        }
        guard let column = try column(value, field.merge) else {
          try note(item.id, "\(field.name) has a value of another type")
          return .cannotBeShown
        }
        attributes[attribute.name] = column
      case .list: result[field.place] = value.flatMap { ColumnCoding.column($0) } ?? .null
      case .reference(let relationship):
        let target = try value.flatMap { SteadSyncProtocol.Schema.target($0) }.flatMap {
          try map.row(of: $0)
        }
        if let target, target.root == relationship.destinationRoot {
          result[field.place] = .integer(target.number)
        } else {
          result[field.place] = .null
          if relationship.minimum > 0, value != nil, value != .null { return .waits }
        }
      }
    }
    let converted: [SQLValue]
    do {
      converted = try rows.convert(attributes, for: shape)
    } catch let problems as RowProblems {
      try note(item.id, problems.problems.joined(separator: ", "))
      return .cannotBeShown
    }
    for (attribute, value) in zip(shape.attributes, converted) {
      guard let place = shape.columns.firstIndex(of: attribute.name) else { continue }
      result[place] = try column(value, attribute, old: content.values[place])
    }
    try clearNote(item.id)
    return .columns(result)
  }

  /// A field that the record lacks, because its author's models do, stays as it is; a new row gets the default value.
  private func keep(
    _ attribute: RowShape.Attribute, of content: RowContent,
    in attributes: inout [String: SQLValue]
  ) throws {
    guard let place = content.shape.columns.firstIndex(of: attribute.name) else { return }
    let column = content.values[place]
    guard column != .null else { return }
    attributes[attribute.name] = attribute.isExternal ? try rows.bytes(ofExternal: column) : column
  }

  /// Nil for a value that no column of this version can hold, and for a blob that hasn't arrived.
  private func column(_ value: SyncValue, _ rule: MergeRule) throws -> SQLValue? {
    guard let blob = SteadSyncProtocol.Schema.blob(value) else {
      return MergedValue.column(value, rule)
    }
    return try BlobTable(database: rows).bytes(of: blob, model, rows).map { .blob($0) }
  }

  /// A column of an external attribute stays as it is if its file has the same bytes.
  private func column(
    _ value: SQLValue, _ attribute: RowShape.Attribute, old: SQLValue
  ) throws -> SQLValue {
    guard attribute.isExternal, case .blob(let bytes) = value else { return value }
    if case .text = old, try rows.bytes(ofExternal: old) == value { return old }
    return try rows.column(forExternal: bytes)
  }

  // MARK: - Links

  private func insertLink(
    _ id: RecordID, _ link: WireModel.Link, _ record: Record
  ) throws -> Int {
    guard let owner = try row(record.fields[WireModel.ownerField], link.ownerRoot),
      let target = try row(record.fields[WireModel.targetField], link.targetRoot)
    else { return try removeLink(id, link) }
    let pair = RowPair(owner: owner, target: target, ownerOrder: nil, targetOrder: nil)
    let known = try LinkTable(database: rows).pair(of: id)
    if let known, known != (owner, target) { _ = try removeLink(id, link) }
    try LinkTable(database: rows).set(id, link.type, owner, target)
    try rows.insert(pair, into: link.list)
    return 1
  }

  private func removeLink(_ id: RecordID, _ link: WireModel.Link) throws -> Int {
    guard let known = try LinkTable(database: rows).pair(of: id) else { return 0 }
    try LinkTable(database: rows).forget(id)
    // Another link may mean the same pair, until both are merged.
    if try LinkTable(database: rows).hasPair(link.type, known.owner, known.target) { return 0 }
    try rows.remove(
      RowPair(owner: known.owner, target: known.target, ownerOrder: nil, targetOrder: nil),
      from: link.list)
    return 1
  }

  private func row(_ field: Field?, _ root: String) throws -> Int64? {
    guard let id = field.flatMap({ SteadSyncProtocol.Schema.target($0.value) }),
      let row = try map.row(of: id), row.root == root
    else { return nil }
    return row.number
  }

  // MARK: - Notes

  /// Notes why a record has no row, for the status.
  private func note(_ id: RecordID, _ reason: String) throws {
    try map.database.run(
      "INSERT INTO stead_sync_unshown VALUES (?1, ?2) "
        + "ON CONFLICT DO UPDATE SET reason = excluded.reason", [.text(id.text), .text(reason)])
  }

  private func clearNote(_ id: RecordID) throws {
    try map.database.run("DELETE FROM stead_sync_unshown WHERE id = ?1", [.text(id.text)])
  }
}
