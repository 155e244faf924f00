import SteadSQLite
import Synchronization

/// The SQL of one entity's rows, made once per store.
final class EntityPlan: @unchecked Sendable {
  // Sendable: everything is immutable after init but `updates`, which has its own lock; the maps are
  // written by init alone and freed by deinit.
  let entity: EntityLayout
  /// The names that the entity's permanent identifiers carry.
  let reference: EntityReference
  /// The table, quoted.
  let table: String
  /// All columns of the table's alias `t0`: `_id`, in a hierarchy `_entity`, then the values.
  let columnList: String
  /// The result column of each property in `columnList`.
  let columns: UnsafePointer<Int32>
  let selectByID: String
  let insert: String
  /// The columns of other classes in a hierarchy's table, which a new row has no values in. A table that had no hierarchy
  /// may have columns with a DEFAULT.
  let otherColumns: [String]
  /// The parameter of each property in `insert`: 1 is `_id`, in a hierarchy 2 is `_entity`.
  let insertParameters: UnsafePointer<Int32>
  let updateAll: Update
  let delete: String
  let deleteRange: String
  /// Returns the greatest number that a row has or ever had.
  let newest: String
  /// Columns before the values: 1, or 2 in a hierarchy.
  let prefix: Int
  /// The properties that have a column.
  let storedProperties: PropertySet
  let hasExternal: Bool
  /// The result columns in `columnList` that record which of several lists an object is in.
  let lists: [ListColumn]
  /// Their parameters in `insert`.
  let insertLists: [ListColumn]
  private let updates = Mutex<[PropertySet: Update]>([:])
  private let maps: [UnsafeMutablePointer<Int32>]
  let tableLayout: TableLayout

  /// An UPDATE of some columns; the parameter behind the last column is `_id`.
  final class Update: Sendable {
    let sql: String
    // Sendable: written once, before the object is shared.
    nonisolated(unsafe) let parameters: UnsafeMutablePointer<Int32>
    let idParameter: Int32
    let lists: [ListColumn]

    init(
      sql: String, parameters: UnsafeMutablePointer<Int32>, idParameter: Int32,
      lists: [ListColumn]
    ) {
      self.sql = sql
      self.parameters = parameters
      self.idParameter = idParameter
      self.lists = lists
    }

    deinit { parameters.deallocate() }
  }

  init(entity: EntityLayout, table layout: TableLayout, store: RecordStore.Identity) {
    self.entity = entity
    reference = .permanent(entity.name, store: store.identifier)
    tableLayout = layout
    table = layout.name.sqlName
    prefix = layout.isHierarchy ? 2 : 1
    let names =
      ["_id"] + (layout.isHierarchy ? ["_entity"] : []) + layout.columns.map(\.name)
    columnList = names.map { "t0.\($0.sqlName)" }.joined(separator: ", ")
    selectByID = "SELECT \(columnList) FROM \(table) AS t0 WHERE t0.\"_id\" = ?1"
    let name = layout.name.replacing("'", with: "''")
    newest =
      "SELECT max(ifnull((SELECT max(\"_id\") FROM \(table)), 0), "
      + "ifnull((SELECT last FROM stead_sequence WHERE name = '\(name)'), 0))"
    delete = "DELETE FROM \(table) WHERE \"_id\" = ?1"
    deleteRange = "DELETE FROM \(table) WHERE \"_id\" BETWEEN ?1 AND ?2"

    let columnMap = Self.makeMap(entity, -1)
    let insertMap = Self.makeMap(entity, 0)
    var insertNames = Array(names.prefix(prefix))
    var lists: [ListColumn] = []
    var insertLists: [ListColumn] = []
    for property in entity.properties {
      guard let column = property.column, let position = layout.position[column] else { continue }
      columnMap[property.index] = Int32(position + prefix)
      insertNames.append(column)
      insertMap[property.index] = Int32(insertNames.count)
      if let name = property.listColumn, let position = layout.position[name] {
        insertNames.append(name)
        lists.append(ListColumn(property: property, index: Int32(position + prefix)))
        insertLists.append(ListColumn(property: property, index: Int32(insertNames.count)))
      }
    }
    self.lists = lists
    self.insertLists = insertLists
    columns = UnsafePointer(columnMap)
    insertParameters = UnsafePointer(insertMap)
    maps = [columnMap, insertMap]
    otherColumns = Self.otherColumns(insertNames, layout)
    let list = (insertNames + otherColumns).map(\.sqlName).joined(separator: ", ")
    let marks = ((1...insertNames.count).map { "?\($0)" } + otherColumns.map { _ in "NULL" })
      .joined(separator: ", ")
    insert = "INSERT INTO \(table) (\(list)) VALUES (\(marks))"
    storedProperties = PropertySet(entity.properties.filter { $0.column != nil }.map(\.index))
    hasExternal = entity.properties.contains {
      if case .attribute(.external) = $0.kind { true } else { false }
    }
    updateAll = Self.makeUpdate(entity, table) { _ in true }
  }

  deinit { maps.forEach { $0.deallocate() } }

  private static func otherColumns(_ own: [String], _ layout: TableLayout) -> [String] {
    guard layout.isHierarchy else { return [] }
    let own = Set(own)
    return layout.columns.map(\.name).filter { !own.contains($0) }
  }

  private static func makeMap(
    _ entity: EntityLayout, _ value: Int32
  ) -> UnsafeMutablePointer<Int32> {
    let count = max(entity.properties.count, 1)
    let map = UnsafeMutablePointer<Int32>.allocate(capacity: count)
    map.initialize(repeating: value, count: count)
    return map
  }

  private static func makeUpdate(
    _ entity: EntityLayout, _ table: String, where isIncluded: (Int) -> Bool
  ) -> Update {
    let map = makeMap(entity, 0)
    var terms: [String] = []
    var lists: [ListColumn] = []
    for property in entity.properties {
      guard let column = property.column, isIncluded(property.index) else { continue }
      terms.append("\(column.sqlName) = ?\(terms.count + 1)")
      map[property.index] = Int32(terms.count)
      if let name = property.listColumn {
        terms.append("\(name.sqlName) = ?\(terms.count + 1)")
        lists.append(ListColumn(property: property, index: Int32(terms.count)))
      }
    }
    let id = terms.count + 1
    // Even an update of no column must find out whether the row exists.
    let assignments = terms.isEmpty ? "\"_id\" = \"_id\"" : terms.joined(separator: ", ")
    return Update(
      sql: "UPDATE \(table) SET \(assignments) WHERE \"_id\" = ?\(id)", parameters: map,
      idParameter: Int32(id), lists: lists)
  }

  func reader(_ statement: SQLiteStatement, _ context: RowContext) -> _RowReader {
    _RowReader(
      statement: statement.pointer, columns: columns, context: .passUnretained(context))
  }

  /// Passes a map of the columns without those of changed properties.
  func withColumns(excluding changes: PropertySet, _ body: (UnsafePointer<Int32>) -> Void) {
    let map = Self.makeMap(entity, -1)
    defer { map.deallocate() }
    for index in entity.properties.indices where !changes.contains(index) {
      map[index] = columns[index]
    }
    body(UnsafePointer(map))
  }

  /// The UPDATE of changed properties.
  func update(changes: PropertySet) -> Update {
    updates.withLock { updates in
      if let update = updates[changes] { return update }
      let update = Self.makeUpdate(entity, table) { changes.contains($0) }
      updates[changes] = update
      return update
    }
  }
}
