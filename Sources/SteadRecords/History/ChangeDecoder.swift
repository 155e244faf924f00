import Foundation
import SteadSQLite

/// Makes the changes of transactions of one store.
///
/// Names are looked up once and remembered by their bytes, since most transactions name the same few.
final class ChangeDecoder {
  private let layout: StoreLayout
  private let plans: [EntityPlans.LazyPlan?]
  /// An entity of the store, with what its identifiers carry: asking its plan for that costs more than a row.
  fileprivate struct StoredEntity {
    let entity: EntityLayout
    let reference: EntityReference
  }

  /// Entities by their names' bytes; nil for those that the store does not have.
  private var entities: [(name: [UInt8], stored: StoredEntity?)] = []
  private var names: [(entity: Int, list: [UInt8], names: PropertyNames)] = []
  private let old: OldRows
  private var oldColumns: [String: [String]] = [:]
  private var lastOldRows:
    (number: Int64, table: String, columns: [String: Int], rows: [Int64: [SQLValue]?])?
  /// The transaction after which rows have old values.
  private let oldStart: Int64?

  init(_ store: RecordStore, _ connection: StoreConnection) throws {
    layout = store.layout
    plans = store.plans
    old = OldRows(connection: connection)
    oldStart = try old.start()
  }

  /// The changes of a transaction, without those of entities that the container does not have.
  func changes(_ text: UnsafeBufferPointer<UInt8>, of number: Int64, at stamp: Int64) throws
    -> [HistoryChange]
  {
    var list = ChangeBuilder(number: number, stamp: stamp)
    var parser = ChangeParser(text)
    let hasOld = oldStart.map { number > $0 } ?? false
    try parser.forEach { try add($0.group(self), to: &list, hasOld) }
    return list.finished()
  }

  private func add(_ group: ChangeGroup, to list: inout ChangeBuilder, _ hasOld: Bool) throws {
    guard let stored = group.stored else { return }
    let values = hasOld ? try oldValues(group, stored.entity, list.number) : nil
    func open<M: PersistentModel>(_ type: M.Type) {
      list.add(group, stored.reference, type, values)
    }
    _openExistential(stored.entity.type, do: open)
  }

  /// What the properties of a group's rows were: of deletes all, of updates those that changed.
  private func oldValues(
    _ group: ChangeGroup, _ entity: EntityLayout, _ number: Int64
  ) throws -> OldValues? {
    if group.kind == .insert { return nil }
    let named = group.properties?.properties.compactMap(\.self) ?? []
    let properties = (group.kind == .delete ? entity.properties : named).filter {
      $0.column != nil
    }
    let (columns, rows) = try oldRows(of: entity.table, before: number)
    let references = properties.map { property in
      property.destination.flatMap { plans[$0]?.plan.reference }
    }
    return OldValues(
      entity: entity, properties: properties, references: references,
      columns: properties.map { columns[$0.column ?? ""] }, rows: rows)
  }

  /// The old rows of a table in a transaction, by their numbers, with the place of each column in them. Kept for the next
  /// group: triggers write a group for each row.
  private func oldRows(
    of table: String, before number: Int64
  ) throws -> (columns: [String: Int], rows: [Int64: [SQLValue]?]) {
    if let last = lastOldRows, last.number == number, last.table == table {
      return (last.columns, last.rows)
    }
    let columns = try oldColumns[table] ?? old.tables().first { $0.table == table }?.columns ?? []
    oldColumns[table] = columns
    let indices = Dictionary(uniqueKeysWithValues: columns.enumerated().map { ($1, $0) })
    let rows = try old.rows(columns, of: table, before: number)
    lastOldRows = (number, table, indices, rows)
    return (indices, rows)
  }

  fileprivate func entity(named raw: UnsafeBufferPointer<UInt8>) -> StoredEntity? {
    if let known = entities.first(where: { raw.isEqual($0.name) }) { return known.stored }
    let stored = layout.entity(named: String(decoding: raw, as: UTF8.self)).flatMap { entity in
      plans[entity.index].map { StoredEntity(entity: entity, reference: $0.plan.reference) }
    }
    entities.append((Array(raw), stored))
    return stored
  }

  fileprivate func properties(
    _ raw: UnsafeBufferPointer<UInt8>, of entity: EntityLayout
  ) throws -> PropertyNames {
    if let known = names.last(where: { $0.entity == entity.index && raw.isEqual($0.list) }) {
      return known.names
    }
    var parser = ChangeParser(raw)
    let strings = try parser.strings()
    let properties = strings.map { name in
      entity.property(named: name) ?? entity.properties.first { $0.originalName == name }
    }
    func open<M: PersistentModel>(_ type: M.Type) -> PropertyNames {
      KeyPathNames<M>(properties, entity)
    }
    let result = _openExistential(entity.type, do: open)
    if names.count >= Self.nameLimit { names.removeAll() }
    names.append((entity.index, Array(raw), result))
    return result
  }

  /// How many lists of names are remembered.
  private static let nameLimit = 32
}

extension UnsafeBufferPointer<UInt8> {
  /// Whether the bytes are an array.
  func isEqual(_ bytes: [UInt8]) -> Bool {
    guard count == bytes.count, let start = baseAddress else { return isEmpty && bytes.isEmpty }
    return memcmp(start, bytes, count) == 0
  }
}

/// Properties that a group of changes names.
class PropertyNames {
  /// nil for those that the model no longer has.
  let properties: [PropertyLayout?]

  init(_ properties: [PropertyLayout?]) { self.properties = properties }
}

final class KeyPathNames<Model: PersistentModel>: PropertyNames {
  let paths: [(any PartialKeyPath<Model> & Sendable)?]

  init(_ properties: [PropertyLayout?], _ entity: EntityLayout) {
    paths = properties.map { property in
      guard let property, let path = entity.keyPaths[property.index] as? PartialKeyPath<Model>
      else { return nil }
      // The two types are the same reference. Macros write the paths, which hold no captured values.
      return unsafeBitCast(path, to: (any PartialKeyPath<Model> & Sendable).self)
    }
    super.init(properties)
  }
}

/// What properties of rows were before a transaction.
private struct OldValues {
  let entity: EntityLayout
  let properties: [PropertyLayout]
  /// Of each property that is a relationship, the names that its destinations' identifiers carry.
  let references: [EntityReference?]
  /// Where each property's value is in a row.
  let columns: [Int?]
  let rows: [Int64: [SQLValue]?]

  func values<Model: PersistentModel>(_ row: Int64) -> HistoryTombstone<Model>? {
    // An update that only changes lists changes no column of its row, so it has no old row.
    if properties.isEmpty { return HistoryTombstone([]) }
    guard case .some(.some(let stored)) = rows[row] else { return nil }
    var values: [(keyPath: any PartialKeyPath<Model> & Sendable, value: any Sendable)] = []
    let paths = KeyPathNames<Model>(properties, entity).paths
    for (index, property) in properties.enumerated() {
      guard let path = paths[index], let column = columns[index] else { continue }
      if property.destination != nil {
        guard let reference = references[index], case .integer(let target) = stored[column] else {
          continue
        }
        values.append((path, PersistentIdentifier(reference: reference, row: target)))
      } else if let value = PreservedValue.decode(stored[column], property) {
        values.append((path, value))
      }
    }
    return HistoryTombstone(values)
  }
}

/// Changes of one kind to rows of one entity.
struct ChangeGroup {
  let kind: ChangeList.Kind
  fileprivate let stored: ChangeDecoder.StoredEntity?
  let rows: NumberRuns
  let ages: NumberRuns
  var properties: PropertyNames?
  /// SQL literals of the preserved values, for each row.
  var values: [[String]] = []
}

extension ChangeParser {
  fileprivate mutating func group(_ decoder: ChangeDecoder) throws -> ChangeGroup {
    try expect("[")
    guard let kind = ChangeList.Kind(rawValue: Int(try number())) else { throw Malformed() }
    try expect(",")
    let stored = decoder.entity(named: try rawString())
    try expect(",")
    let rows = try runs()
    try expect(",")
    var group = ChangeGroup(kind: kind, stored: stored, rows: rows, ages: try runs())
    if takes(",") {
      let names = try rawStrings()
      if let stored { group.properties = try decoder.properties(names, of: stored.entity) }
    }
    if takes(",") { try forEach { group.values.append(try $0.strings()) } }
    try expect("]")
    return group
  }
}

/// Collects the changes of one transaction.
private struct ChangeBuilder {
  let number: Int64
  let stamp: Int64
  private var changes: [HistoryChange] = []
  private var updateGroups = 0

  init(number: Int64, stamp: Int64) {
    self.number = number
    self.stamp = stamp
  }

  mutating func add<Model: PersistentModel>(
    _ group: ChangeGroup, _ reference: EntityReference, _ type: Model.Type, _ old: OldValues?
  ) {
    changes.reserveCapacity(changes.count + Int(group.rows.count))
    // Apart, since each type of change of a model that is not known to the compiler is looked up.
    switch group.kind {
    case .insert: addInserts(group, reference, type)
    case .update: addUpdates(group, reference, type, old)
    case .delete: addDeletes(group, reference, type, old)
    }
  }

  private mutating func addInserts<Model: PersistentModel>(
    _ group: ChangeGroup, _ reference: EntityReference, _ type: Model.Type
  ) {
    var ages = NumberRuns.FallingReader(group.ages)
    group.rows.forEach { row in
      changes.append(
        .insert(
          DefaultHistoryInsert<Model>(
            changeIdentifier: Int64(changes.count),
            changedPersistentIdentifier: PersistentIdentifier(reference: reference, row: row),
            transactionIdentifier: number, stamp: stamp - ages.read())))
    }
  }

  private mutating func addUpdates<Model: PersistentModel>(
    _ group: ChangeGroup, _ reference: EntityReference, _ type: Model.Type, _ old: OldValues?
  ) {
    updateGroups += 1
    // Made once for all rows of the group.
    let attributes = (group.properties as? KeyPathNames<Model>)?.paths.compactMap(\.self) ?? []
    var ages = NumberRuns.FallingReader(group.ages)
    group.rows.forEach { row in
      changes.append(
        .update(
          DefaultHistoryUpdate<Model>(
            changeIdentifier: Int64(changes.count),
            changedPersistentIdentifier: PersistentIdentifier(reference: reference, row: row),
            transactionIdentifier: number, updatedAttributes: attributes,
            oldValues: old?.values(row), stamp: stamp - ages.read())))
    }
  }

  private mutating func addDeletes<Model: PersistentModel>(
    _ group: ChangeGroup, _ reference: EntityReference, _ type: Model.Type, _ old: OldValues?
  ) {
    let names = group.properties as? KeyPathNames<Model>
    var ages = NumberRuns.FallingReader(group.ages)
    var index = 0
    group.rows.forEach { row in
      let values = index < group.values.count ? group.values[index] : []
      changes.append(
        .delete(
          DefaultHistoryDelete<Model>(
            changeIdentifier: Int64(changes.count),
            changedPersistentIdentifier: PersistentIdentifier(reference: reference, row: row),
            transactionIdentifier: number, tombstone: Self.tombstone(names, values),
            oldValues: old?.values(row), stamp: stamp - ages.read())))
      index += 1
    }
  }

  private static func tombstone<Model: PersistentModel>(
    _ names: KeyPathNames<Model>?, _ literals: [String]
  ) -> HistoryTombstone<Model> {
    guard let names else { return HistoryTombstone([]) }
    var values: [(keyPath: any PartialKeyPath<Model> & Sendable, value: any Sendable)] = []
    for (index, literal) in literals.enumerated() where index < names.paths.count {
      if let path = names.paths[index], let property = names.properties[index],
        let stored = SQLLiteral.value(literal), let value = PreservedValue.decode(stored, property)
      {
        values.append((path, value))
      }
    }
    return HistoryTombstone(values)
  }

  /// The changes, in which each object is updated once.
  func finished() -> [HistoryChange] {
    updateGroups > 1 ? UpdateMerging.merged(changes) : changes
  }
}

/// Makes one update of several to an object.
private enum UpdateMerging {
  static func merged(_ changes: [HistoryChange]) -> [HistoryChange] {
    var result: [HistoryChange] = []
    var indices: [PersistentIdentifier: Int] = [:]
    for change in changes {
      guard case .update(let update) = change else {
        result.append(change)
        continue
      }
      if let index = indices[update.changedPersistentIdentifier],
        case .update(let first) = result[index], let merged = merge(first, update)
      {
        result[index] = .update(merged)
      } else {
        indices[update.changedPersistentIdentifier] = result.count
        result.append(change)
      }
    }
    return result
  }

  private static func merge(_ first: any HistoryUpdate, _ second: any HistoryUpdate) -> (
    any HistoryUpdate
  )? {
    (first as? any MergeableUpdate)?.merged(with: second)
  }
}

private protocol MergeableUpdate {
  func merged(with other: any HistoryUpdate) -> (any HistoryUpdate)?
}

extension DefaultHistoryUpdate: MergeableUpdate {
  fileprivate func merged(with other: any HistoryUpdate) -> (any HistoryUpdate)? {
    guard let other = other as? Self else { return nil }
    let new = other.updatedAttributes.filter { !containsAttribute($0) }
    return Self(
      changeIdentifier: changeIdentifier,
      changedPersistentIdentifier: changedPersistentIdentifier,
      transactionIdentifier: transactionIdentifier, updatedAttributes: updatedAttributes + new,
      oldValues: oldValues.flatMap { first in other.oldValues.map { first.joined(with: $0) } },
      stamp: max(stamp, other.stamp))
  }
}

/// What an attribute held, from what its column did.
private enum PreservedValue {
  static func decode(_ stored: SQLValue, _ property: PropertyLayout) -> (any Sendable)? {
    if stored == .null { return nil }
    let type = PropertyShape(property.valueType).wrapped
    func open<T>(_ type: T.Type) -> Any? {
      if let value = stored.decoded(as: type) { return value }
      guard case .text(let text) = stored, let decodable = type as? any Decodable.Type else {
        return nil
      }
      return try? JSONDecoder().decode(decodable, from: Data(text.utf8))
    }
    guard let value = _openExistential(type, do: open) else { return nil }
    // The two types have one layout, and nothing else refers to the value, which was made here.
    return unsafeBitCast(value as Any, to: (any Sendable).self)
  }
}

// MARK: - SQL literals

/// A value as SQLite's `quote` writes it.
enum SQLLiteral {
  static func value(_ text: String) -> SQLValue? {
    if text == "NULL" { return .null }
    if text.hasPrefix("'"), text.count >= 2 {
      return .text(String(text.dropFirst().dropLast()).replacing("''", with: "'"))
    }
    if text.hasPrefix("X'") { return blob(text.utf8.dropFirst(2).dropLast()) }
    if let number = Int64(text) { return .integer(number) }
    switch text {
    case "Inf", "9.0e+999", "9e999": return .real(.infinity)
    case "-Inf", "-9.0e+999", "-9e999": return .real(-.infinity)
    default: return Double(text).map { .real($0) }
    }
  }

  private static func blob(_ digits: some Collection<UInt8>) -> SQLValue? {
    var (data, high) = (Data(), UInt8?.none)
    for byte in digits {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init) else {
        return nil
      }
      if let first = high {
        data.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    return high == nil ? .blob(data) : nil
  }
}
