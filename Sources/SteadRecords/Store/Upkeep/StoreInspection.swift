import SteadSQLite

/// Checks a store against the models that its container has. Reads only.
struct StoreInspection {
  /// How many of SQLite's findings about pages are reported.
  static let pageFindingLimit = 100

  let store: RecordStore
  let connection: StoreConnection
  let progress: StoreProgressReporter
  private(set) var result = StoreCheck()
  /// What the models need that the store was opened with last.
  var recorded: RecordedTables?
  /// The tables of the models that have all columns.
  private(set) var readable: Set<String> = []
  /// Without the record of the models it is unknown which tables refer to files.
  var isRecordReadable = true

  init(_ store: RecordStore, _ connection: StoreConnection, _ progress: StoreProgressReporter) {
    self.store = store
    self.connection = connection
    self.progress = progress
  }

  var layout: StoreLayout { store.layout }

  /// The classes that the store holds.
  var entities: [EntityLayout] { layout.entities.filter { store.plans[$0.index] != nil } }

  /// Runs all checks in the transaction that the connection has open.
  mutating func run() throws -> StoreCheck {
    let progress = progress
    try attempt(nil, { try progress.send(.checkingPages, 0, of: nil) }) { try $0.checkPages() }
    let catalog = try StoreCatalog(connection)
    try attempt(nil) { try $0.checkModels(catalog) }
    let tables = store.tables.filter { checkTable($0, catalog) }
    readable = Set(tables.map(\.name))
    for (place, table) in tables.enumerated() {
      try progress.send(.checkingRows, place, of: tables.count)
      for entity in entities where entity.table == table.name {
        try attempt(entity) { try $0.checkIndexes(of: entity, table) }
        try attempt(entity) { try $0.checkRows(of: entity, catalog) }
      }
      try attempt(layout.entity(named: table.name)) { try $0.checkClasses(of: table) }
    }
    try progress.send(.checkingRows, tables.count, of: tables.count)
    try attempt(nil) { try $0.checkNumbers(tables, catalog) }
    if isRecordReadable { try attempt(nil) { try $0.checkFiles(catalog) } }
    return result
  }

  /// Runs one check. Damage becomes a finding, and the other checks continue.
  private mutating func attempt(
    _ entity: EntityLayout?, _ question: () throws -> Void = { try Task.checkCancellation() },
    _ check: (inout StoreInspection) throws -> Void
  ) throws {
    do {
      try connection.interruptibly(question) { try check(&self) }
    } catch let error as SwiftDataError where error.code == .unreadableStore {
      note(.damagedPages, entity, "The check found damage: \(error.message)")
    }
  }

  // MARK: Findings

  mutating func note(
    _ kind: StoreCheck.Problem.Kind, _ entity: EntityLayout?, rows: FoundRows = FoundRows(),
    _ description: String
  ) {
    result.problems.append(
      StoreCheck.Problem(
        kind: kind, store: store.configuration.url, entity: entity?.name, rows: rows.first,
        count: rows.count, description: description))
  }

  mutating func note(rowCount: Int, of entity: EntityLayout) {
    result.rowCounts[entity.name] = rowCount
  }

  /// The rows whose numbers a SELECT returns.
  func rows(_ sql: String) throws -> FoundRows {
    let statement = try connection.prepare(sql)
    var found = FoundRows()
    while try statement.step() { found.add(statement.integer(0)) }
    return found
  }
}
