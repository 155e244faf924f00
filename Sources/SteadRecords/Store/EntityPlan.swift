import SteadSQLite
import Synchronization

/// The SQL of one entity's rows, made once per store.
///
/// Its maps have the result column and the parameter of each property. The code of a model reads them through
/// pointers, without bounds checks, so they have a place for each property of the entity.
///
/// For an entity `Stop` with an attribute and a to-one relationship, the statements are:
///
/// ```sql
/// SELECT t0."_id", t0."name", t0."trip" FROM "Stop" AS t0 WHERE t0."_id" = ?1
/// INSERT INTO "Stop" ("_id", "name", "trip") VALUES (?1, ?2, ?3)
/// UPDATE "Stop" SET "name" = ?1, "trip" = ?2 WHERE "_id" = ?3
/// DELETE FROM "Stop" WHERE "_id" = ?1
/// ```
final class EntityPlan: @unchecked Sendable {
  // Sendable: everything is immutable after init but `updates`, which has its own lock; the maps are
  // written by init alone and freed by deinit.
  /// The entity whose rows these are.
  let entity: EntityLayout
  /// The names that the entity's permanent identifiers carry.
  let reference: EntityReference
  /// The table, quoted.
  let table: String
  /// All columns of the table's alias `t0`: `_id`, in a hierarchy `_entity`, then the values.
  let columnList: String
  /// The result column of each property in `columnList`.
  let columns: UnsafePointer<Int32>
  /// Selects ``columnList`` of the row whose number is parameter 1.
  let selectByID: String
  /// Inserts a row: its number, the entity's columns, and NULL in ``otherColumns``.
  let insert: String
  /// The columns of other classes in a hierarchy's table, which a new row has no values in. A table that had no hierarchy
  /// may have columns with a DEFAULT.
  let otherColumns: [String]
  /// The parameter of each property in `insert`: 1 is `_id`, in a hierarchy 2 is `_entity`.
  let insertParameters: UnsafePointer<Int32>
  /// The UPDATE of all properties.
  let updateAll: Update
  /// Deletes the row whose number is parameter 1.
  let delete: String
  /// Deletes the rows whose numbers are from parameter 1 to parameter 2.
  let deleteRange: String
  /// Returns the greatest number that a row has or ever had.
  let newest: String
  /// Columns before the values: 1, or 2 in a hierarchy.
  let prefix: Int
  /// The properties that have a column.
  let storedProperties: PropertySet
  /// Whether a property keeps large values in files.
  let hasExternal: Bool
  /// The result columns in `columnList` that record which of several lists an object is in.
  let lists: [ListColumn]
  /// Their parameters in `insert`.
  let insertLists: [ListColumn]
  /// The UPDATEs that were made, by their properties: one for each combination that a program
  /// saves.
  private let updates = Mutex<[PropertySet: Update]>([:])
  /// The memory of both maps, which `deinit` frees.
  private let maps: [UnsafeMutablePointer<Int32>]
  /// The table of the entity's hierarchy.
  let tableLayout: TableLayout

  /// An UPDATE of some columns; the parameter behind the last column is `_id`.
  final class Update: Sendable {
    let sql: String
    // Sendable: written once, before the object is shared.
    nonisolated(unsafe) let parameters: UnsafeMutablePointer<Int32>
    let idParameter: Int32
    /// The parameters of list numbers.
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

  /// Makes the statements.
  ///
  /// Invariant: a value has the same column in each SELECT of the plan, whatever the class, since
  /// all classes of a hierarchy select all columns of the table.
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
    // A literal in the SQL, so that the statement needs no parameter.
    let name = layout.name.replacing("'", with: "''")
    newest =
      "SELECT max(ifnull((SELECT max(\"_id\") FROM \(table)), 0), "
      + "ifnull((SELECT CAST(last AS INTEGER) FROM stead_sequence WHERE name = '\(name)'), 0))"
    delete = "DELETE FROM \(table) WHERE \"_id\" = ?1"
    deleteRange = "DELETE FROM \(table) WHERE \"_id\" BETWEEN ?1 AND ?2"

    // -1 and 0 mean none: SQLite counts result columns from 0, and parameters from 1.
    let columnMap = Self.makeMap(entity, -1)
    let insertMap = Self.makeMap(entity, 0)
    var insertNames = Array(names.prefix(prefix))
    var lists: [ListColumn] = []
    var insertLists: [ListColumn] = []
    for property in entity.properties {
      // A to-many relationship has no column.
      guard let column = property.column, let position = layout.position[column] else { continue }
      columnMap[property.index] = Int32(position + prefix)
      insertNames.append(column)
      insertMap[property.index] = Int32(insertNames.count)
      // The list number belongs to the reference, so the insert writes both.
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

  /// The columns of a hierarchy's table that an entity does not have.
  private static func otherColumns(_ own: [String], _ layout: TableLayout) -> [String] {
    // Without a hierarchy the table has no columns of other classes.
    guard layout.isHierarchy else { return [] }
    let own = Set(own)
    return layout.columns.map(\.name).filter { !own.contains($0) }
  }

  /// A map of an entity's properties with one value for all. Has room for one at least: an allocation of nothing has
  /// no address to read.
  private static func makeMap(
    _ entity: EntityLayout, _ value: Int32
  ) -> UnsafeMutablePointer<Int32> {
    let count = max(entity.properties.count, 1)
    let map = UnsafeMutablePointer<Int32>.allocate(capacity: count)
    map.initialize(repeating: value, count: count)
    return map
  }

  /// The UPDATE of some properties. The number of a list is written with its reference, since the two are one value.
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

  /// A reader of the statement's current row. Statement, context and plan must outlive it.
  func reader(_ statement: SQLiteStatement, _ context: RowContext) -> _RowReader {
    _RowReader(
      statement: statement.pointer, columns: columns, context: .passUnretained(context))
  }

  /// Passes a map of the columns without those of changed properties.
  func withColumns(excluding changes: PropertySet, _ body: (UnsafePointer<Int32>) -> Void) {
    let map = Self.makeMap(entity, -1)
    defer { map.deallocate() }
    // A property without a column here keeps what the object has.
    for index in entity.properties.indices where !changes.contains(index) {
      map[index] = columns[index]
    }
    body(UnsafePointer(map))
  }

  /// The UPDATE of changed properties.
  func update(changes: PropertySet) -> Update {
    // Under the lock, so that each is made once.
    updates.withLock { updates in
      if let update = updates[changes] { return update }
      let update = Self.makeUpdate(entity, table) { changes.contains($0) }
      updates[changes] = update
      return update
    }
  }
}

// MARK: - Selections

extension EntityPlan {
  /// Selects the rows whose numbers are in the JSON array of parameter 1: one statement for any
  /// number of rows.
  var selectionOfRows: String {
    "SELECT \(columnList) FROM \(table) AS t0 "
      + "WHERE t0.\"_id\" IN (SELECT value FROM json_each(?1))"
  }

  /// The condition that selects the rows of an entity and its subclasses; nil if they are the whole table.
  var familyCondition: SQLFragment? {
    // A root's family is the whole table.
    guard let discriminator = entity.discriminator,
      entity.rootIndex != entity.index || entity.familyDiscriminators.isEmpty
    else { return nil }
    let family =
      entity.familyDiscriminators.isEmpty ? [discriminator] : entity.familyDiscriminators
    return SQLFragment(
      sql: "t0.\"_entity\" IN (\(family.map(String.init).joined(separator: ", ")))")
  }

  /// A SELECT from the entity's table.
  ///
  /// Rows of other classes in the table are left out. Parameters are in the order of the SQL: the
  /// condition's, the order's, the limit and the offset.
  func selection(
    of columns: String, where condition: SQLFragment?, order: SQLFragment?, limit: Int?,
    offset: Int?
  ) -> SQLFragment {
    var sql = "SELECT \(columns) FROM \(table) AS t0"
    var bindings: [SQLValue] = []
    let terms = [familyCondition, condition].compactMap(\.self)
    if !terms.isEmpty {
      sql += " WHERE \(terms.map(\.sql).joined(separator: " AND "))"
      bindings += terms.flatMap(\.bindings)
    }
    if let order {
      sql += " ORDER BY \(order.sql)"
      bindings += order.bindings
    }
    // SQLite has no OFFSET without a LIMIT; -1 is none.
    if limit != nil || offset != nil {
      sql += " LIMIT ? OFFSET ?"
      bindings += [.integer(Int64(limit ?? -1)), .integer(Int64(offset ?? 0))]
    }
    return SQLFragment(sql: sql, bindings: bindings)
  }

  /// The columns of a fetch that only wants identifiers.
  ///
  /// In a hierarchy with `_entity`, since an identifier has the object's own class.
  var identifierColumns: String {
    entity.discriminator == nil ? "t0.\"_id\"" : "t0.\"_id\", t0.\"_entity\""
  }
}

extension EntityPlan {
  /// The row's number and some columns.
  func columnList(of columns: [String]) -> String {
    (["_id"] + columns).map { "t0.\($0.sqlName)" }.joined(separator: ", ")
  }
}

extension SearchTable {
  /// The rows that match, best first: their columns, the rank and a snippet. The parameters are the
  /// query and the limit.
  func selection(from plan: EntityPlan, words: Int) -> String {
    let search = name.sqlName
    let family =
      plan.entity.familyDiscriminators.isEmpty
      ? ""
      : " AND t0.\"_entity\" IN "
        + "(\(plan.entity.familyDiscriminators.map(String.init).joined(separator: ", ")))"
    return "SELECT \(plan.columnList), s.rank, snippet(\(search), -1, '[', ']', '…', \(words)) "
      + "FROM \(search) AS s JOIN \(plan.table) AS t0 ON t0.\"_id\" = s.rowid "
      + "WHERE \(search) MATCH ?1\(family) ORDER BY s.rank LIMIT ?2"
  }
}

// MARK: - The first use

extension EntityPlan {
  /// A plan that is made when it is first asked for: most programs open more models than they use at first. Several
  /// threads may ask at once.
  final class Lazy: Sendable {
    private let entity: EntityLayout
    private let table: TableLayout
    private let store: RecordStore.Identity
    private let made = AtomicLazyReference<EntityPlan>()

    init(_ entity: EntityLayout, _ table: TableLayout, _ store: RecordStore.Identity) {
      self.entity = entity
      self.table = table
      self.store = store
    }

    var plan: EntityPlan {
      // Two threads may both make one: `storeIfNil` keeps the first, and both return that.
      made.load() ?? made.storeIfNil(EntityPlan(entity: entity, table: table, store: store))
    }
  }
}

// MARK: - To-many relationships

/// The SELECT of a to-many relationship's destinations, and the indices of its columns.
///
/// Rows come grouped by owner, in the order of insertion; the caller sorts them by their position.
///
/// For the stops of one trip:
///
/// ```sql
/// SELECT t0."_id", t0."name", t0."trip", t0."trip", t0."_trip_order" FROM "Stop" AS t0
/// WHERE t0."trip" = ?1 ORDER BY t0."trip", t0."_id"
/// ```
struct ToManyQuery {
  /// The plan of the destination, whose columns come first.
  let plan: EntityPlan
  /// The SELECT. Its parameter is an owner's row, or a JSON array of rows.
  let sql: String
  /// The index of the column with the owner's row.
  let ownerColumn: Int32
  /// The index of the column with the position; NULL stands for the row's number.
  let positionColumn: Int32
  /// Whether a row can come more than once, with different owners.
  let mayRepeat: Bool

  /// - Parameters:
  ///   - list: The relationship's number among those that share its inverse.
  ///   - isSingle: Whether the parameter is one owner's row, not a JSON array of rows.
  init(_ storage: ToManyStorage, _ list: Int?, _ plan: EntityPlan, isSingle: Bool) {
    self.plan = plan
    // One SQL for any number of owners, so that the statement stays prepared.
    let test = isSingle ? "= ?1" : "IN (SELECT value FROM json_each(?1))"
    ownerColumn = Int32(plan.prefix + plan.tableLayout.columns.count)
    positionColumn = ownerColumn + 1
    // Sibling classes may share the column, or inherit the table of pairs.
    let own = plan.entity.ownRows("t0")
    switch storage {
    case .inverse(let toOne):
      mayRepeat = false
      let property = plan.entity.properties[toOne]
      let column = property.column ?? ""
      let key = "t0.\(column.sqlName)"
      let order = "t0.\(HiddenColumn.order(of: column).sqlName)"
      sql =
        "SELECT \(plan.columnList), \(key), \(order) FROM \(plan.table) AS t0 "
        + "WHERE \(key) \(test)\(Self.isIn(list, property))\(own) ORDER BY \(key), t0.\"_id\""
    case .join(let table, let owner, let target):
      mayRepeat = true
      sql =
        "SELECT \(plan.columnList), j.\(owner), ifnull(j.\(owner)_order, j.\"_id\") "
        + "FROM \(table.sqlName) AS j JOIN \(plan.table) AS t0 ON t0.\"_id\" = j.\(target) "
        + "WHERE j.\(owner) \(test)\(own) ORDER BY j.\(owner), j.\"_id\""
    }
  }

  /// The owner of the current row, and the row's position in the owner's list.
  func ownership(in statement: SQLiteStatement) -> (owner: Int64, position: Int64) {
    // `integer` is 0 for NULL, so the type is only asked for then.
    let position = statement.integer(positionColumn)
    let isRow = position == 0 && statement.isNull(positionColumn)
    return (statement.integer(ownerColumn), isRow ? statement.integer(0) : position)
  }

  /// The rest of a condition, true for rows in one of several lists over a to-one property.
  private static func isIn(_ list: Int?, _ toOne: PropertyLayout) -> String {
    // NULL stands for the first list, whose number is 0.
    guard let list, let column = toOne.listColumn else { return "" }
    return " AND ifnull(t0.\(column.sqlName), 0) = \(list)"
  }
}

// MARK: - Contexts

/// An entity as a context works with it: what the schema says of it, where its rows are, and how they are read and
/// written.
///
/// A context has one array of these, in the order of ``StoreLayout/entities``. The state of each object has the place of
/// its entity there. The array is made with the context, and never changes.
///
/// A stored field of an element is read in place: `entities[index].storeIndex` and `entities[index].layout.isConstrained`
/// retain nothing. A copy of the element, which a computed property makes, too, would retain all that it refers to. So
/// there are no computed ones, and loops over objects copy no element.
struct ContextEntity {
  /// The class and its table.
  let layout: EntityLayout
  /// The place of its store among the container's stores, in the order of their locks.
  let storeIndex: Int
  /// What reads and writes its rows besides a statement. The context's own, since one thread at a time may use it.
  let rowContext: RowContext
  /// The SQL of its rows in that store, made with the first use.
  let lazyPlan: EntityPlan.Lazy

  init(
    _ layout: EntityLayout, in store: RecordStore, at storeIndex: Int, _ lazyPlan: EntityPlan.Lazy
  ) {
    self.layout = layout
    self.storeIndex = storeIndex
    self.lazyPlan = lazyPlan
    rowContext = RowContext(
      labels: layout.labels, blobs: store.blobs,
      acceptsMissingValues: store.configuration.migration == .ofCustomStage)
  }
}
