import SteadRecords
import SteadSQLite
internal import SteadSyncProtocol

/// Writes records into their rows.
///
/// A record and its row can differ for three reasons: a record that the row refers to hasn't arrived, so the reference
/// is NULL, or there is no row if the models require the reference; a value doesn't fit this app's models; or the app
/// has no model for the type. In each case the record stays in the base, and is applied again when the reason is gone.
struct RowApplier {
  let model: WireModel
  /// The transaction in which rows are written.
  let rows: RowTransaction
  /// The row of each record.
  let map: RowTable
  /// The records as programs are to see them: the base with the pending edits.
  let view: OpenZone

  init(_ model: WireModel, _ rows: RowTransaction, _ view: OpenZone) {
    self.model = model
    self.rows = rows
    map = RowTable(database: rows)
    self.view = view
  }

  /// A record with its row's number, which a new row gets before anything is written.
  private struct Item {
    let id: RecordID
    let record: Record
    let entity: WireModel.Entity
    var number: Int64?
  }

  /// Writes records as they are in the view.
  ///
  /// The order of the steps matters:
  ///
  /// 1. Links and rows of deleted records go, which frees unique values.
  /// 2. New rows get their numbers, so that rows of one call can refer to each other, also in a cycle.
  /// 3. Changed rows are updated, then new ones inserted.
  /// 4. Links are inserted, when both of their rows are there.
  /// 5. Records that were waiting for a new row, or that refer to one that could not be written, are applied in turn.
  ///    That ends, since each round inserts rows or takes numbers away.
  ///
  /// Invariant: afterwards each record of the call is in its row, or is one of those that ``RowApplier`` describes.
  /// No step makes an edit: ``RecordZone`` reads the history only after these changes the next time.
  func apply(_ ids: Set<RecordID>) throws {
    var (dead, old, new): ([(RecordID, RowTable.Row)], [Item], [Item]) = ([], [], [])
    var links: [(link: WireModel.Link, id: RecordID, record: Record?)] = []
    // Sorted, so that the numbers of new rows don't depend on the order of a set.
    for id in ids.sorted() {
      let record = try view.record(id)
      if let record, let link = model.links[record.type] {
        links.append((link, id, record))
        continue
      }
      // A deleted link has no type any more; the table of links tells it.
      if record == nil,
        let link = try LinkTable(database: rows).type(of: id).flatMap({ model.links[$0] })
      {
        links.append((link, id, nil))
        continue
      }
      let row = try map.row(of: id)
      guard let record else {
        if let row { dead.append((id, row)) } else { try clearUnshown(id) }
        continue
      }
      // A type of a later version of the app: its records stay in the base, without rows.
      guard let entity = model.entities[record.type] else { continue }
      if let row {
        old.append(Item(id: id, record: record, entity: entity, number: row.number))
      } else {
        new.append(Item(id: id, record: record, entity: entity))
      }
    }
    for (link, id, record) in links where record == nil { try removeLink(id, link) }
    // Before any row is written: a new one may have a unique value of a deleted one.
    for (id, row) in dead { try delete(id, row) }
    var last: [String: Int64] = [:]
    for index in new.indices { try assignNumber(to: &new[index], after: &last) }
    // Before the insertions, since an update may give up a unique value that a new row has.
    try update(old)
    var waiting: Set<RecordID> = []
    for item in new {
      let referrers = try view.referrers(of: item.id)
      if try insert(item) {
        // Records that arrived before this one.
        waiting.formUnion(referrers.filter { !ids.contains($0) })
      } else {
        // Rows that were written a moment ago may refer to its number.
        for referrer in referrers where try map.row(of: referrer) != nil {
          waiting.insert(referrer)
        }
      }
    }
    for (link, id, record) in links {
      if let record { try insertLink(id, link, record) }
    }
    if !waiting.isEmpty { try apply(waiting) }
  }

  // MARK: - Rows

  /// Deletes the row of a record, unless a program has deleted it already. The store sets references to it to NULL
  /// and applies no delete rule: what the rules change is in other records of the zone.
  private func delete(_ id: RecordID, _ row: RowTable.Row) throws {
    try map.remove(id)
    try clearUnshown(id)
    try BlobTable(database: rows).remove(row)
    // Any class of the hierarchy: it names the table in which the row's own class is looked up.
    let shape = model.entities.values.first {
      $0.shape.root == row.root
    }?.shape
    guard let shape, let entity = try rows.entityName(of: row.number, in: shape),
      let own = model.entities[entity]?.shape
    else { return }
    try rows.delete(row.number, of: own)
  }

  /// Gives a new row its number, which is above all numbers of its hierarchy, and above those of records that are to
  /// get their rows in the same call.
  ///
  /// - Parameter last: The last numbers of the hierarchies, which are looked up once.
  private func assignNumber(to item: inout Item, after last: inout [String: Int64]) throws {
    let shape = item.entity.shape
    let number = try (last[shape.root] ?? lastNumber(in: shape)) + 1
    last[shape.root] = number
    item.number = number
    // Before the row is written, so that rows of the same call can refer to it.
    try map.set(RowTable.Row(root: shape.root, number: number), for: item.id)
  }

  /// The last number of a hierarchy's rows and of records whose rows are yet to be written.
  private func lastNumber(in shape: RowShape) throws -> Int64 {
    let last =
      try map.database.integer(
        "SELECT max(number) FROM stead_sync_rows WHERE root = ?1", [.text(shape.root)]) ?? 0
    return max(try rows.newNumber(in: shape) - 1, last)
  }

  /// Updates the rows of records, only in columns whose values differ.
  ///
  /// All new values are determined before the first row is written, since unique values may move between rows: first
  /// every changed unique value is cleared, then all rows are set.
  ///
  /// Invariant: a row whose values the database takes has all of its record's. A row without its required record
  /// goes, and its record stays in the base.
  private func update(_ items: [Item]) throws {
    var changes: [(item: Item, values: [(column: String, value: SQLValue)], old: RowContent)] = []
    for item in items {
      guard let number = item.number,
        let content = try rows.content(of: item.entity.shape, number)
      else {
        // A program has deleted the row, but the deletion was refused: the record gets a row again.
        var lost = item
        lost.number = nil
        try map.remove(item.id)
        var last: [String: Int64] = [:]
        try assignNumber(to: &lost, after: &last)
        _ = try insert(lost)
        continue
      }
      let target: [SQLValue]
      switch try values(of: item, from: content) {
      case .columns(let values): target = values
      case .cannotBeShown: continue
      case .waits:
        // A record that the row requires no longer exists. The row comes back if that record does.
        try delete(item.id, RowTable.Row(root: item.entity.shape.root, number: number))
        continue
      }
      // Only columns that differ are set: the history and contexts see what has really changed.
      let changed = zip(item.entity.shape.columns, zip(content.values, target)).filter {
        $0.1.0 != $0.1.1
      }.map { (column: $0.0, value: $0.1.1) }
      try recordBlobs(item, number)
      if !changed.isEmpty { changes.append((item, changed, content)) }
    }
    // Clears the old unique values, so that two rows can swap theirs.
    for (item, values, _) in changes {
      let unique = values.map(\.column).filter(item.entity.uniqueColumns.contains)
      if let number = item.number, !unique.isEmpty {
        try rows.clear(unique, of: number, in: item.entity.shape)
      }
    }
    for (item, values, old) in changes { try write(values, item, old) }
  }

  /// Sets columns of a row. A value that the database refuses, such as a second unique one, leaves the row as
  /// ``update(_:)`` has prepared it: with its old values, and its changed unique ones cleared.
  private func write(
    _ values: [(column: String, value: SQLValue)], _ item: Item, _ old: RowContent
  ) throws {
    guard let number = item.number else { return }
    let shape = item.entity.shape
    // An error here is of this row alone, such as a value that a later constraint of the store
    // forbids. SQLite undoes only the failed statement (ABORT). The rest of the page must not wait
    // for this row.
    do {
      try rows.set(values, of: number, in: shape)
    } catch {
      return try recordUnshown(item.id, "its values cannot be stored: \(error)")
    }
    let names = Set(values.map(\.column))
    // The store deletes the files of replaced values once the transaction is committed.
    for attribute in shape.attributes where attribute.isExternal && names.contains(attribute.name) {
      if let index = shape.columns.firstIndex(of: attribute.name) {
        rows.drop(external: old.values[index])
      }
    }
    // The lists of the old and of the new owner have changed, which contexts and the history need to know.
    for relationship in shape.relationships where names.contains(relationship.name) {
      guard let index = shape.columns.firstIndex(of: relationship.name) else { continue }
      let new = values.first { $0.column == relationship.name }?.value
      for case .integer(let owner) in [old.values[index], new ?? .null] {
        try rows.noteList(of: relationship, owner: owner)
      }
    }
  }

  /// Inserts the row of a record. Returns false if it can't be inserted yet; the record then has no row and no
  /// number.
  ///
  /// Invariant: the table of rows never names a row that doesn't exist. Otherwise the next comparison of all rows
  /// would take the record for one whose row a program has deleted, and delete it on every device.
  private func insert(_ item: Item) throws -> Bool {
    guard let number = item.number else { return false }
    let shape = item.entity.shape
    // A new row begins with the models' default values, as a program's own object would.
    let blank = RowContent(shape, number, values: shape.blankValues, pairs: [])
    guard case .columns(let values) = try values(of: item, from: blank) else {
      try map.remove(item.id)
      return false
    }
    do {
      try rows.insert(values, as: number, of: shape)
    } catch {
      try map.remove(item.id)
      try recordUnshown(item.id, "its values cannot be stored: \(error)")
      return false
    }
    try recordBlobs(item, number)
    // The row joins the lists of its owners, which contexts and the history need to know.
    for relationship in shape.relationships {
      if let index = shape.columns.firstIndex(of: relationship.name),
        case .integer(let owner) = values[index]
      {
        try rows.noteList(of: relationship, owner: owner)
      }
    }
    return true
  }

  /// Records which blobs a row has, so that they are found there instead of being fetched again.
  private func recordBlobs(_ item: Item, _ number: Int64) throws {
    for field in item.entity.fields {
      guard case .attribute(let attribute) = field.kind, attribute.isExternal,
        let value = item.record.fields[field.name]?.value,
        let blob = SteadSyncProtocol.Schema.blob(value)
      else { continue }
      let row = RowTable.Row(root: item.entity.shape.root, number: number)
      try BlobTable(database: rows).record(blob.text, row, attribute.name)
    }
  }

  // MARK: - Values

  /// The result of converting a record into the columns of its row.
  private enum Values {
    /// A value for each column of the row.
    case columns([SQLValue])
    /// A record that the row requires hasn't arrived, or no longer exists.
    case waits
    /// A value doesn't fit the models; the reason is recorded for the status.
    case cannotBeShown
  }

  /// The new values of a row's columns.
  ///
  /// Attributes are converted by the store, as for any other value that comes from outside. Blobs must be here
  /// already. A column whose field the record lacks keeps its value: the record's author has older models, and knows
  /// nothing of it.
  ///
  /// Invariant: it writes nothing but the reason for the status. So ``update(_:)`` can ask for the values of all rows
  /// before it changes the first.
  private func values(of item: Item, from content: RowContent) throws -> Values {
    let shape = item.entity.shape
    var result = content.values
    var attributes: [String: SQLValue] = [:]
    for field in item.entity.fields {
      let value = item.record.fields[field.name]?.value
      switch field.kind {
      case .attribute(let attribute):
        guard let value else {
          try keepColumn(attribute, of: content, in: &attributes)
          continue
        }
        guard let column = try column(value, field.merge) else {
          try recordUnshown(item.id, "\(field.name) has a value of another type")
          return .cannotBeShown
        }
        attributes[attribute.name] = column
      case .list: result[field.columnIndex] = value.flatMap { WireCoding.column($0) } ?? .null
      case .reference(let relationship):
        let target = try value.flatMap { SteadSyncProtocol.Schema.target($0) }.flatMap {
          try map.row(of: $0)
        }
        if let target, target.root == relationship.destinationRoot {
          result[field.columnIndex] = .integer(target.number)
        } else {
          result[field.columnIndex] = .null
          // A row waits for a referenced record that can still arrive; null on the wire names no such record.
          if relationship.minimum > 0, value != nil, value != .null { return .waits }
        }
      }
    }
    let converted: [SQLValue]
    do {
      converted = try rows.convert(attributes, for: shape)
    } catch let problems as RowProblems {
      try recordUnshown(item.id, problems.problems.joined(separator: ", "))
      return .cannotBeShown
    }
    for (attribute, value) in zip(shape.attributes, converted) {
      guard let index = shape.columns.firstIndex(of: attribute.name) else { continue }
      result[index] = try column(value, attribute, old: content.values[index])
    }
    // All values fit now, whatever was recorded before.
    try clearUnshown(item.id)
    return .columns(result)
  }

  /// Keeps the column of a field that the record lacks, because its author's models do; a new row has the default
  /// value.
  private func keepColumn(
    _ attribute: RowShape.Attribute, of content: RowContent,
    in attributes: inout [String: SQLValue]
  ) throws {
    guard let index = content.shape.columns.firstIndex(of: attribute.name) else { return }
    let column = content.values[index]
    guard column != .null else { return }
    // The conversion takes the bytes themselves, and not the name of their file.
    attributes[attribute.name] = attribute.isExternal ? try rows.bytes(ofExternal: column) : column
  }

  /// The column of a field; nil for a value that no column of this version can hold, and for a blob that hasn't
  /// arrived.
  private func column(_ value: SyncValue, _ rule: MergeRule) throws -> SQLValue? {
    guard let blob = SteadSyncProtocol.Schema.blob(value) else {
      return WireCoding.column(value, rule)
    }
    return try BlobTable(database: rows).bytes(of: blob, model, rows).map { .blob($0) }
  }

  /// The column of an external attribute, which stays as it is if its file has the same bytes: no second file is
  /// written.
  private func column(
    _ value: SQLValue, _ attribute: RowShape.Attribute, old: SQLValue
  ) throws -> SQLValue {
    guard attribute.isExternal, case .blob(let bytes) = value else { return value }
    if case .text = old, try rows.bytes(ofExternal: old) == value { return old }
    return try rows.column(forExternal: bytes)
  }

  // MARK: - Links

  /// Inserts a link's pair, or removes it while one of its two rows is missing.
  private func insertLink(
    _ id: RecordID, _ link: WireModel.Link, _ record: Record
  ) throws {
    guard let owner = try row(record.fields[WireModel.ownerField], link.ownerRoot),
      let target = try row(record.fields[WireModel.targetField], link.targetRoot)
    else { return try removeLink(id, link) }
    let pair = RowPair(owner: owner, target: target, ownerOrder: nil, targetOrder: nil)
    let known = try LinkTable(database: rows).pair(of: id)
    // A merge of records, or a row that was written again, has given the link another pair.
    if let known, known != (owner, target) { try removeLink(id, link) }
    try LinkTable(database: rows).set(id, link.type, owner, target)
    try rows.insert(pair, into: link.list)
  }

  /// Removes a link's pair, if it has one.
  private func removeLink(_ id: RecordID, _ link: WireModel.Link) throws {
    guard let known = try LinkTable(database: rows).pair(of: id) else { return }
    try LinkTable(database: rows).remove(id)
    // Two devices may have linked the same rows under two records. The pair stays until the last of both is gone.
    if try LinkTable(database: rows).hasPair(link.type, known.owner, known.target) { return }
    try rows.remove(
      RowPair(owner: known.owner, target: known.target, ownerOrder: nil, targetOrder: nil),
      from: link.list)
  }

  /// The number of the row to which a reference leads; nil while it has none.
  private func row(_ field: Field?, _ root: String) throws -> Int64? {
    guard let id = field.flatMap({ SteadSyncProtocol.Schema.target($0.value) }),
      let row = try map.row(of: id), row.root == root
    else { return nil }
    return row.number
  }

  // MARK: - Records without rows

  /// Records why a record isn't in its row, for the status.
  private func recordUnshown(_ id: RecordID, _ reason: String) throws {
    try map.database.run(
      "INSERT INTO stead_sync_unshown VALUES (?1, ?2) "
        + "ON CONFLICT DO UPDATE SET reason = excluded.reason", [.text(id.text), .text(reason)])
  }

  private func clearUnshown(_ id: RecordID) throws {
    try map.database.run("DELETE FROM stead_sync_unshown WHERE id = ?1", [.text(id.text)])
  }
}
