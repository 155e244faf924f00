import Foundation
import SteadFiles
import SteadFormats
import SteadRecords
import SteadSQLite

/// Reads all rows of a store as rows of a container's classes.
///
/// First the keys of all rows are read, so that dangling links are recognized; then what would be
/// left out is counted, and refused unless the mapping allows it; then the rows are read.
struct CoreDataReader {
  /// The copy of the store.
  private let store: ForeignStore
  /// The store's entities, tables and columns.
  private let catalog: CoreDataCatalog
  /// Matches classes and properties with them.
  private let planner: CoreDataPlanner
  /// Converts values of other forms.
  private let values: CoreDataValue
  /// A digest of the store's UUID, which is part of each item's identity.
  private let storeDigest: String
  /// What the caller says about names and omissions.
  private let mapping: CoreDataMapping
  /// Reads the relationships that are stored in other tables.
  private var links: CoreDataLinks
  /// The numbers of the entities that are not imported.
  private let leftOut: Set<Int64>
  /// The plans by entity.
  private var plans: [Int64: CoreDataClassPlan] = [:]
  /// The entity of each row, to tell whether a link leads to an existing row.
  private var rows: [StoredRow.Key: Int64] = [:]
  /// What was found.
  private(set) var report = CoreDataReport()

  /// - Parameter files: The files next to the original, which are not copied.
  init(
    _ store: ForeignStore, _ schema: Schema, _ mapping: CoreDataMapping, files: CoreDataFiles
  ) throws {
    self.store = store
    self.mapping = mapping
    catalog = try CoreDataCatalog(store)
    planner = try CoreDataPlanner(store, catalog, schema, mapping)
    values = CoreDataValue(files: files)
    links = CoreDataLinks(store, catalog, planner)
    leftOut = Set(catalog.entities.values.filter(planner.isLeftOut).map(\.number))
    storeDigest = ItemDigest.text(of: Data(catalog.identifier.utf8))
    report.storeIdentifier = catalog.identifier
  }

  /// Adds a possible loss of the store's files to the report.
  mutating func addWarning(_ warning: String?) { report.warnings += [warning].compactMap(\.self) }

  /// All rows, by entity and number.
  mutating func read(_ progress: TransferProgress.Report) throws -> [TransferItem<StoredRow>] {
    let entities = catalog.entities.values.sorted { $0.number < $1.number }
    // Keys of all entities first, those left out included: a link to an excluded row isn't a
    // dangling one.
    let orphans = try readKeys(entities)
    for entity in entities where !entity.isInternal && !leftOut.contains(entity.number) {
      guard let name = planner.className(of: entity), !entity.table.isEmpty else { continue }
      plans[entity.number] = try ExternalStorageDetector(
        store: store, files: values.files, mapping: mapping
      )
      .withForms(planner.plan(entity, name))
    }
    try recordContents(entities)
    var items = orphans
    let total = rows.values.count { !leftOut.contains($0) } + orphans.count
    for entity in entities where !entity.isInternal && !leftOut.contains(entity.number) {
      try read(entity, into: &items) { count in
        try progress(TransferProgress(phase: .reading, completed: count, total: total))
      }
    }
    // After all rows, so that the error names each property with its count.
    try refuseDefaults()
    return items
  }

  /// Throws if rows would get default values that the mapping doesn't accept. One value for many
  /// rows isn't their own, so the caller has to ask for it.
  private func refuseDefaults() throws {
    guard !report.defaultedValues.isEmpty, !mapping.acceptsDefaults else { return }
    let listed = report.defaultedValues.sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value))" }
    throw planner.unsupported(
      "Rows have no value for properties that are not optional: \(listed.joined(separator: ", ")). Make "
        + "them optional, or set acceptsDefaults of the mapping to give each of these rows the "
        + "property's default value.")
  }

  // MARK: - Which rows there are

  /// Reads the keys of all rows; returns a failed item for each row that belongs to no entity of
  /// its table, or exists twice.
  private mutating func readKeys(
    _ entities: [CoreDataCatalog.Entity]
  ) throws -> [TransferItem<StoredRow>] {
    var orphans: [TransferItem<StoredRow>] = []
    let own = entities.filter { !$0.isInternal && !$0.table.isEmpty }
    for (table, members) in Dictionary(grouping: own, by: \.table).sorted(by: { $0.key < $1.key }) {
      // Before the query, whose own error wouldn't say that the store is damaged.
      try requireColumns(of: table)
      let numbers = Set(members.map(\.number))
      try store.forEachRow("SELECT Z_PK, Z_ENT FROM \(table.sqlName)") { row in
        guard let number = row[0].integer, let entity = row[1].integer, numbers.contains(entity),
          rows.updateValue(entity, forKey: .init(root: members[0].root, number: number)) == nil
        else {
          orphans.append(orphan(in: table, orphans.count))
          return
        }
      }
    }
    return orphans
  }

  /// The item for a row without an entity.
  private func orphan(in table: String, _ count: Int) -> TransferItem<StoredRow> {
    item(
      "\(table) ? \(count)", StoredRow.Key(root: "\(table)?", number: Int64(count)),
      .failure(notConverted("It belongs to no entity of its table, or exists twice.")))
  }

  /// Throws if a table lacks the columns that identify its rows.
  private func requireColumns(of table: String) throws {
    let columns = catalog.columns[table] ?? []
    for column in ["Z_PK", "Z_ENT"] where !columns.contains(column) {
      throw CoreDataCatalog.damaged("\(table) has no column \(column).")
    }
  }

  /// The error for a row that can't be imported.
  private func notConverted(_ reason: String) -> TransferError {
    TransferError(code: .notConverted, message: reason)
  }

  /// An item. Its identity is its number in the store, so that a changed row is the same item.
  private func item(
    _ name: String, _ key: StoredRow.Key, _ value: Result<StoredRow, any Error>
  ) -> TransferItem<StoredRow> {
    TransferItem(name: name, identity: key.identity(digest: storeDigest), value: value)
  }

  /// Reports which values are imported and which aren't; throws if values would be lost silently.
  private mutating func recordContents(_ entities: [CoreDataCatalog.Entity]) throws {
    let counts = rows.values.reduce(into: [Int64: Int]()) { $0[$1, default: 0] += 1 }
    for entity in entities where !entity.isInternal {
      let plan = plans[entity.number]
      let count = counts[entity.number] ?? 0
      // Entities without rows and without a class are of no interest.
      guard count > 0 || plan != nil else { continue }
      report.entities.append(.init(entity: entity.name, className: plan?.className, rows: count))
      if let plan, count > 0 {
        report.missingProperties += plan.missing.map { "\(plan.className).\($0)" }
      }
    }
    report.entities.sort { $0.entity < $1.entity }
    // Several entities of a class report the same property.
    report.missingProperties = Set(report.missingProperties).sorted()
    let tables = CoreDataOmissions(store: store, catalog: catalog, mapping: mapping)
    report.skippedTables = try tables.skippedTables()
    let left = try tables.leftOutValues(plans)
    report.leftOutValues = left.requested.merging(left.unmapped) { one, _ in one }
    if !left.unmapped.isEmpty, !mapping.leavesOutUnknown {
      let listed = left.unmapped.sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value))" }
      throw planner.unsupported(
        "The store holds values that no property takes: \(listed.joined(separator: ", ")). Give each a "
          + "property, name it in storedNames or leftOut of the mapping, or set leavesOutUnknown.")
    }
  }

  // MARK: - Rows

  /// Reads the rows of an entity.
  private mutating func read(
    _ entity: CoreDataCatalog.Entity, into items: inout [TransferItem<StoredRow>],
    _ progress: (Int) throws -> Void
  ) throws {
    guard !entity.table.isEmpty else { return }
    let plan = plans[entity.number]
    let layout = CoreDataRowLayout(plan)
    let sql =
      "SELECT \(layout.columns.map(\.sqlName).joined(separator: ", ")) "
      + "FROM \(entity.table.sqlName) WHERE Z_ENT = ?1 ORDER BY Z_PK"
    // The closure can't mutate `self` while the store, a part of it, is being accessed.
    var reader = self
    try store.forEachRow(sql, [.integer(entity.number)]) { row in
      // Rows without a number are among the orphans.
      guard let number = row[0].integer else { return }
      let key = StoredRow.Key(root: entity.root, number: number)
      let name = "\(entity.name) \(number)"
      guard let plan else {
        items.append(reader.item(name, key, .failure(reader.unmapped(entity))))
        return
      }
      items.append(reader.item(name, key, Result { try reader.stored(row, key, plan, layout) }))
      try progress(items.count)
    }
    self = reader
  }

  /// The error for rows of an entity without a class.
  private func unmapped(_ entity: CoreDataCatalog.Entity) -> TransferError {
    notConverted(
      "The container has no class \(entity.name). Name one in classes of the mapping, or the entity in "
        + "leftOutEntities.")
  }

  /// Converts a row.
  private mutating func stored(
    _ row: [SQLValue], _ key: StoredRow.Key, _ plan: CoreDataClassPlan, _ layout: CoreDataRowLayout
  ) throws -> StoredRow {
    var result = StoredRow(key: key, entity: plan.className, attributes: [:], relationships: [:])
    for attribute in plan.attributes {
      let value = layout.value(attribute.column, in: row)
      countArchive(value, attribute, plan)
      let converted = try converted(value, attribute, attribute.name)
      // The writer puts the default in.
      if attribute.hasDefault, converted == .null {
        report.defaultedValues["\(plan.className).\(attribute.name)", default: 0] += 1
      }
      result.attributes[attribute.name] = converted
    }
    for composite in plan.composites {
      let value = try joined(composite, row, layout)
      if composite.hasDefault, value == .null {
        report.defaultedValues["\(plan.className).\(composite.name)", default: 0] += 1
      }
      result.attributes[composite.name] = value
    }
    for relationship in plan.relationships {
      result.relationships[relationship.name] = try targets(relationship, key, row, plan, layout)
    }
    return result
  }

  /// Converts a value; a problem becomes the row's failure.
  private func converted(
    _ value: SQLValue, _ attribute: CoreDataClassPlan.Attribute, _ name: String
  ) throws -> SQLValue {
    do {
      return try values.convert(value, attribute)
    } catch let problem as CoreDataValue.Problem {
      throw notConverted("\(name) \(problem.reason).")
    }
  }

  /// Counts data that is an archive of objects: it is copied as bytes, which the app must be able
  /// to decode.
  private mutating func countArchive(
    _ value: SQLValue, _ attribute: CoreDataClassPlan.Attribute, _ plan: CoreDataClassPlan
  ) {
    switch attribute.encoding {
    case .data, .external, .opaque: break
    default: return
    }
    guard case .blob(let data) = value, PlainArchive.isArchive(data) else { return }
    report.archives["\(plan.className).\(attribute.name)", default: 0] += 1
  }

  /// The JSON of a property whose parts have columns.
  private func joined(
    _ composite: CoreDataClassPlan.Composite, _ row: [SQLValue], _ layout: CoreDataRowLayout
  ) throws -> SQLValue {
    let object = try object(composite, composite.name, row, layout)
    return try object.map { try CoreDataField.column($0) } ?? composite.empty
  }

  /// The parts that have a value; nil if none has.
  private func object(
    _ composite: CoreDataClassPlan.Composite, _ path: String, _ row: [SQLValue],
    _ layout: CoreDataRowLayout
  ) throws -> [String: Any]? {
    var object: [String: Any] = [:]
    var missing: [String: Any] = [:]
    for field in composite.fields {
      let value = layout.value(field.column, in: row)
      if composite.form == .cases {
        guard value != .null else { continue }
        // The column of a case has the case's name, or NULL.
        guard value == .text(field.name), object.isEmpty else {
          throw notConverted("\(path) does not hold the name of one case.")
        }
        object[field.name] = [String: Any]()
        continue
      }
      let converted = try converted(value, field, "\(path).\(field.name)")
      if let plain = try CoreDataField.jsonValue(converted, field) {
        object[field.name] = plain
      }
    }
    for inner in composite.nested {
      guard let value = try self.object(inner, "\(path).\(inner.name)", row, layout) else {
        // A struct that isn't optional, within one that has values, has fields that are all nil.
        if !inner.isOptional, inner.form == .fields { missing[inner.name] = inner.emptyObject }
        continue
      }
      // An enum has one case at a time.
      guard composite.form == .fields || object.isEmpty else {
        throw notConverted("\(path) holds values of several cases.")
      }
      object[inner.name] = value
    }
    if object.isEmpty { return nil }
    return composite.form == .fields ? object.merging(missing) { one, _ in one } : object
  }

  /// The rows that a relationship leads to, without those that don't exist or are left out.
  private mutating func targets(
    _ relationship: CoreDataClassPlan.Relationship, _ key: StoredRow.Key, _ row: [SQLValue],
    _ plan: CoreDataClassPlan, _ layout: CoreDataRowLayout
  ) throws -> [StoredRow.Key] {
    var found: [StoredRow.Key]
    if case .own(let reference) = relationship.storage {
      let value = layout.value(reference.column, in: row)
      if value == .null { return [] }
      guard let number = value.integer else {
        throw notConverted("\(relationship.name) does not hold the number of a row.")
      }
      let entity = reference.entityColumn.map { layout.value($0, in: row) } ?? .null
      found = [.init(root: catalog.root(entity) ?? reference.destination, number: number)]
    } else {
      found = try links.targets(of: relationship, from: key)
    }
    let name = "\(plan.className).\(relationship.name)"
    // A foreign key without a row is an error in the store, which Core Data tolerates as nil.
    found = found.filter { target in
      guard let entity = rows[target] else {
        report.danglingLinks[name, default: 0] += 1
        return false
      }
      guard leftOut.contains(entity) else { return true }
      report.leftOutLinks[name, default: 0] += 1
      return false
    }
    // A to-one relationship that is read from the other side's column may have several rows there.
    guard relationship.isToMany || found.count <= 1 else {
      throw notConverted("\(relationship.name) is to one row, and several refer to this one.")
    }
    report.links[name, default: 0] += found.count
    return found
  }
}
