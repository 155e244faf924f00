import Foundation
import SteadSQLite

/// Decodes the changes of one store's transactions, from the text in a transaction's row to ``HistoryChange``.
///
/// Most transactions name the same few entities and properties, so names are looked up once and found again by their
/// bytes. A decoder serves one read of the history, on one connection.
final class ChangeDecoder {
  private let layout: StoreLayout
  private let plans: [EntityPlan.Lazy?]
  /// An entity of the store, with what its objects' identifiers carry. It is kept, since asking the plan for it takes
  /// longer than decoding a row.
  fileprivate struct StoredEntity {
    let entity: EntityLayout
    let reference: EntityReference
  }

  /// The entities by the bytes of their names; nil for those that the container does not have.
  private var entities: [(name: [UInt8], stored: StoredEntity?)] = []
  /// The properties that lists of names stand for, by the list's bytes.
  private var names: [(entity: Int, list: [UInt8], names: PropertyNames)] = []
  /// The rows as they were before, if the store keeps old values.
  private let old: RowVersions
  /// The columns of the tables of old rows, by table.
  private var oldColumns: [String: [String]] = [:]
  /// The old rows that were read last. Triggers write a group for each row, so the next group often needs the same
  /// ones.
  private var lastOldRows:
    (number: Int64, table: String, columns: [String: Int], rows: [Int64: [SQLValue]?])?
  /// The transaction after which old values are kept; nil if none are.
  private let oldStart: Int64?

  /// Reads from which transaction on the store keeps old values.
  init(_ store: RecordStore, _ connection: StoreConnection) throws {
    layout = store.layout
    plans = store.plans
    old = RowVersions(connection: connection)
    oldStart = try old.start()
  }

  /// The changes of a transaction, without those of entities that the container does not have.
  ///
  /// - Parameters:
  ///   - text: The text of the transaction's row.
  ///   - number: The transaction's number.
  ///   - stamp: When it was committed; groups store the age of each change relative to it.
  /// - Throws: ``HistoryFormat/Malformed`` if the text is damaged.
  func changes(_ text: UnsafeBufferPointer<UInt8>, of number: Int64, at stamp: Int64) throws
    -> [HistoryChange]
  {
    var list = ChangeBuilder(number: number, stamp: stamp)
    let hasOld = oldStart.map { number > $0 } ?? false
    try HistoryFormat.forEachGroup(in: text) { try add(decoded($0), to: &list, hasOld) }
    return list.finished()
  }

  /// A group whose names are looked up; those of properties only if the container has the entity.
  private func decoded(_ group: HistoryFormat.Group) throws -> ChangeGroup {
    let stored = entity(named: group.rawEntity)
    return ChangeGroup(
      kind: group.kind, stored: stored, rows: group.rows, ages: group.ages,
      properties: try stored.flatMap { try properties(of: group, $0.entity) },
      values: try group.values())
  }

  /// Adds the changes of a group, whose model type is opened once for all of its rows.
  private func add(_ group: ChangeGroup, to list: inout ChangeBuilder, _ hasOld: Bool) throws {
    // An entity that the container does not have: another program, or an earlier version, has it.
    guard let stored = group.stored else { return }
    let values = hasOld ? try oldValues(group, stored.entity, list.number) : nil
    func open<M: PersistentModel>(_ type: M.Type) {
      list.add(group, stored.reference, type, values)
    }
    _openExistential(stored.entity.type, do: open)
  }

  /// What the properties of a group's rows were: all of them for deletes, those that changed for updates.
  private func oldValues(
    _ group: ChangeGroup, _ entity: EntityLayout, _ number: Int64
  ) throws -> OldValues? {
    // Before its insertion the object had no row.
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

  /// The old rows of a table in a transaction by primary key, with the index of each column.
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

  /// The entity of a name; nil if the container does not have it.
  private func entity(named raw: UnsafeBufferPointer<UInt8>) -> StoredEntity? {
    // By the bytes, without making a string. A schema has few entities, so that a linear search is
    // quick.
    if let known = entities.first(where: { raw.isEqual($0.name) }) { return known.stored }
    let stored = layout.entity(named: String(decoding: raw, as: UTF8.self)).flatMap { entity in
      plans[entity.index].map { StoredEntity(entity: entity, reference: $0.plan.reference) }
    }
    entities.append((Array(raw), stored))
    return stored
  }

  /// The properties that a group names, under their present or their former names; nil if it names none.
  private func properties(
    of group: HistoryFormat.Group, _ entity: EntityLayout
  ) throws -> PropertyNames? {
    guard let raw = group.rawNames else { return nil }
    if let known = names.last(where: { $0.entity == entity.index && raw.isEqual($0.list) }) {
      return known.names
    }
    // A transaction may be older than a renaming, and then has the former name.
    let properties = try group.names().map { name in
      entity.property(named: name) ?? entity.properties.first { $0.originalName == name }
    }
    func open<M: PersistentModel>(_ type: M.Type) -> PropertyNames {
      KeyPathNames<M>(properties, entity)
    }
    let result = _openExistential(entity.type, do: open)
    // The list is searched from its end, so it must stay short. Programs use far fewer combinations.
    if names.count >= Self.nameLimit { names.removeAll() }
    names.append((entity.index, Array(raw), result))
    return result
  }

  /// The number of lists of names that are remembered.
  private static let nameLimit = 32
}

extension UnsafeBufferPointer<UInt8> {
  /// Whether the bytes are those of an array.
  func isEqual(_ bytes: [UInt8]) -> Bool {
    guard count == bytes.count, let start = baseAddress else { return isEmpty && bytes.isEmpty }
    return memcmp(start, bytes, count) == 0
  }
}

// MARK: - Names of properties

/// The properties that a group of changes names, without their model's type.
class PropertyNames {
  /// nil for those that the model no longer has.
  let properties: [PropertyLayout?]

  init(_ properties: [PropertyLayout?]) { self.properties = properties }
}

/// The same with the key paths of the model, made once for all rows of a group.
final class KeyPathNames<Model: PersistentModel>: PropertyNames {
  /// nil for those that the model no longer has.
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

// MARK: - Old values

/// What the properties of some rows were before a transaction.
private struct OldValues {
  let entity: EntityLayout
  let properties: [PropertyLayout]
  /// What identifiers of a relationship's destinations carry; nil for attributes.
  let references: [EntityReference?]
  /// The index of each property's column in an old row; nil if the column did not exist.
  let columns: [Int?]
  let rows: [Int64: [SQLValue]?]

  /// The old values of one row; nil if no old row is kept.
  func values<Model: PersistentModel>(_ row: Int64) -> HistoryTombstone<Model>? {
    // An update that only changes lists changes no column of its row, so it has no old row.
    if properties.isEmpty { return HistoryTombstone([]) }
    // An inner nil: the row did not exist before the transaction.
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

// MARK: - Groups of changes

/// A group of the history's text with what its names stand for.
private struct ChangeGroup {
  let kind: HistoryFormat.Kind
  /// nil if the container does not have the entity.
  let stored: ChangeDecoder.StoredEntity?
  /// The primary keys, in rising runs.
  let rows: NumberRuns
  /// How long before the commit each change was made, in falling runs.
  let ages: NumberRuns
  let properties: PropertyNames?
  /// The preserved values of deleted rows as SQL literals, an array for each row.
  let values: [[String]]
}

// MARK: - Building changes

/// Collects the changes of one transaction.
private struct ChangeBuilder {
  let number: Int64
  let stamp: Int64
  private var changes: [HistoryChange] = []
  /// How many groups of updates there were. With one alone no object can have two updates.
  private var updateGroups = 0

  init(number: Int64, stamp: Int64) {
    self.number = number
    self.stamp = stamp
  }

  /// Adds a group's changes.
  ///
  /// The three kinds are separate functions: for a model type that is not known at compile time the runtime looks up
  /// the generic type of each kind of change, and one function would look up all three.
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

  /// Adds an insertion for each row.
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
            transactionIdentifier: number, stamp: stamp &- ages.read())))
    }
  }

  /// Adds an update for each row, all with the group's properties.
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
            oldValues: old?.values(row), stamp: stamp &- ages.read())))
    }
  }

  /// Adds a deletion for each row, each with the values that were preserved of it.
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
            oldValues: old?.values(row), stamp: stamp &- ages.read())))
      index += 1
    }
  }

  /// The preserved values of one deleted row.
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

  /// The changes in order, in which each object is updated at most once.
  func finished() -> [HistoryChange] {
    updateGroups > 1 ? UpdateMerging.merged(changes) : changes
  }
}

// MARK: - Merging updates

/// Merges the updates of one object. SQL of other programs, or several groups, may have updated it several times.
private enum UpdateMerging {
  /// The changes, with later updates of an object merged into its first one.
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

  /// One update of two; nil if they are of different types.
  private static func merge(_ first: any HistoryUpdate, _ second: any HistoryUpdate) -> (
    any HistoryUpdate
  )? {
    (first as? any MergeableUpdate)?.merged(with: second)
  }
}

/// Lets code that holds two updates of some model merge them.
private protocol MergeableUpdate {
  /// This update with the properties of a later one of the same object; nil if their types differ.
  func merged(with other: any HistoryUpdate) -> (any HistoryUpdate)?
}

extension DefaultHistoryUpdate: MergeableUpdate {
  fileprivate func merged(with other: any HistoryUpdate) -> (any HistoryUpdate)? {
    guard let other = other as? Self else { return nil }
    // Each property once, in the order of the first update, then the ones that only the later one
    // names.
    let new = other.updatedAttributes.filter { !containsAttribute($0) }
    return Self(
      changeIdentifier: changeIdentifier,
      changedPersistentIdentifier: changedPersistentIdentifier,
      transactionIdentifier: transactionIdentifier, updatedAttributes: updatedAttributes + new,
      oldValues: oldValues.flatMap { first in other.oldValues.map { first.joined(with: $0) } },
      stamp: max(stamp, other.stamp))
  }
}

// MARK: - Values

/// Decodes the value of an attribute from what its column held.
private enum PreservedValue {
  /// The attribute's value; nil for NULL, and for what the property's present type does not read.
  static func decode(_ stored: SQLValue, _ property: PropertyLayout) -> (any Sendable)? {
    // Left out: a tombstone has no nil values.
    if stored == .null { return nil }
    // The type may have changed since; a value that it does not read is left out.
    let type = PropertyShape(property.valueType).wrapped
    func open<T>(_ type: T.Type) -> Any? {
      if let value = stored.decoded(as: type) { return value }
      guard case .text(let text) = stored, let decodable = type as? any Decodable.Type else {
        return nil
      }
      return try? JSONColumn.decoder.decode(decodable, from: Data(text.utf8))
    }
    guard let value = _openExistential(type, do: open) else { return nil }
    // The two types have one layout, and nothing else refers to the value, which was made here.
    return unsafeBitCast(value as Any, to: (any Sendable).self)
  }
}

// MARK: - SQL literals

/// Reads values as SQLite's function `quote` writes them. The triggers of the history write preserved values with it.
enum SQLLiteral {
  /// The value of a literal; nil if the string is none.
  static func value(_ text: String) -> SQLValue? {
    if text == "NULL" { return .null }
    if text.hasPrefix("'"), text.count >= 2 {
      // SQL doubles a quote within a string.
      return .text(String(text.dropFirst().dropLast()).replacing("''", with: "'"))
    }
    if text.hasPrefix("X'") { return blob(text.utf8.dropFirst(2).dropLast()) }
    // Before floating-point numbers, which `quote` writes with a point or an exponent.
    if let number = Int64(text) { return .integer(number) }
    switch text {
    case "Inf", "9.0e+999", "9e999": return .real(.infinity)
    case "-Inf", "-9.0e+999", "-9e999": return .real(-.infinity)
    default: return Double(text).map { .real($0) }
    }
  }

  /// The bytes of hexadecimal digits; nil if they are none.
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
