import SteadFiles
import SteadSQLite

/// Checks a store against the models that its container has. Reads only.
struct StoreInspection {
  /// How many of SQLite's findings about pages are reported.
  static let pageFindingLimit = 100

  /// The store, whose models the file is compared with.
  let store: RecordStore
  /// It has a snapshot open, which all checks read.
  let connection: StoreConnection
  /// Told of each step. Throws to end the check.
  let progress: StoreProgressReporter
  /// What was found so far.
  private(set) var result = StoreCheck()
  /// The tables that the last opened models need.
  var recorded: RecordedTables?
  /// The tables of the models that have all columns.
  private(set) var readable: Set<String> = []
  /// Whether the store's record of its models can be read: without it, it is unknown which tables refer to files.
  var isRecordReadable = true

  /// Prepares a check. The caller has a transaction open on the connection.
  init(_ store: RecordStore, _ connection: StoreConnection, _ progress: StoreProgressReporter) {
    self.store = store
    self.connection = connection
    self.progress = progress
  }

  /// The models of the container.
  var layout: StoreLayout { store.layout }

  /// The classes that the store holds.
  var entities: [EntityLayout] { layout.entities.filter { store.plans[$0.index] != nil } }

  /// Runs all checks in the transaction that the connection has open.
  mutating func run() throws -> StoreCheck {
    let progress = progress
    // The report is also what interrupts the statement, which may take minutes.
    try attempt(nil, { try progress.send(.checkingPages, 0, of: nil) }) { try $0.checkPages() }
    let catalog = try StoreCatalog(connection)
    // Before the tables: what they lack is no damage if the store has other models by now.
    try attempt(nil) { try $0.checkModels(catalog) }
    let tables = store.tables.filter { checkTable($0, catalog) }
    readable = Set(tables.map(\.name))
    for (index, table) in tables.enumerated() {
      try progress.send(.checkingRows, index, of: tables.count)
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
      // Other errors, such as of a lock, say nothing about the content, and end the check.
      addProblem(.damagedPages, entity, "The check found damage: \(error.message)")
    }
  }

  // MARK: Findings

  /// Adds a problem.
  mutating func addProblem(
    _ kind: StoreCheck.Problem.Kind, _ entity: EntityLayout?, rows: FoundRows = FoundRows(),
    _ description: String
  ) {
    result.problems.append(
      StoreCheck.Problem(
        kind: kind, store: store.configuration.url, entity: entity?.name, rows: rows.first,
        count: rows.count, description: description))
  }

  /// Records how many rows a class has.
  mutating func setRowCount(to rowCount: Int, of entity: EntityLayout) {
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

// MARK: - Files

extension StoreInspection {
  /// Compares the files of large values with the rows that refer to them, and reads each.
  ///
  /// A store in use changes while it is checked. So a file that is missing, or that no row refers to, is only a
  /// finding if it still is while nothing writes.
  mutating func checkFiles(_ catalog: StoreCatalog) throws {
    guard let blobs = store.blobs else { return }
    let references = ExternalReferences(store, catalog)
    let used = try references.read(connection)
    let present = try blobs.references()
    let missing = used.keys.filter { !present.contains($0) }
    var unused = present.subtracting(try references.readAll(connection))
    var lost: Set<String> = []
    if !missing.isEmpty || !unused.isEmpty {
      // Others may have written or removed some since the snapshot. Only a second look, while nothing writes, is a finding.
      let (now, all, files) = try store.settled {
        (try references.read($0), try references.readAll($0), try blobs.references())
      }
      lost = Set(missing).intersection(now.keys).subtracting(files)
      unused = unused.intersection(files).subtracting(all)
    }
    var damaged: Set<String> = []
    let readable = present.intersection(used.keys)
    for (index, reference) in readable.sorted().enumerated() {
      try progress.send(.checkingFiles, index, of: readable.count)
      do {
        _ = try blobs.read(reference)
      } catch let error as FileError where error.code == .notFound {
        // Its last row was deleted in the meantime.
      } catch is FileError {
        damaged.insert(reference)
      }
    }
    try progress.send(.checkingFiles, readable.count, of: readable.count)
    addProblem(.missingFile, lost, used, "A file of a large value does not exist for")
    addProblem(
      .damagedFile, damaged, used,
      "A file of a large value cannot be read, or differs from what was written, for")
    // A copy of the past leads to the files of its store, which has rows for the others.
    let isBorrowed =
      try !store.configuration.allowsSave
      && POSIXDisk().status(at: blobs.directory.checkedPath)?.kind == .link
    // What a sweep would leave is no finding.
    unused = try unused.filter(blobs.isRemovable)
    if !unused.isEmpty, !isBorrowed { addUnusedFiles(unused.count) }
  }

  /// Adds the number of files that no row refers to.
  private mutating func addUnusedFiles(_ count: Int) {
    var rows = FoundRows()
    rows.count(count)
    addProblem(
      .unusedFile, nil, rows: rows,
      "No row refers to \(count == 1 ? "a file" : "\(count) files") of large values. They only take up space; "
        + "`compact()` removes them.")
  }

  /// Adds a problem for each class whose rows refer to some files.
  private mutating func addProblem(
    _ kind: StoreCheck.Problem.Kind, _ references: Set<String>,
    _ users: [String: [ExternalReferences.User]], _ words: String
  ) {
    var found: [Int: FoundRows] = [:]
    // Sorted, so that the smallest numbers are the ones that are named.
    for user in references.flatMap({ users[$0] ?? [] }).sorted(by: { $0.row < $1.row }) {
      found[user.entity, default: FoundRows()].add(user.row)
    }
    for (index, rows) in found.sorted(by: { $0.key < $1.key }) {
      let entity = layout.entities[index]
      addProblem(
        kind, entity, rows: rows,
        "\(words) \(rows) of \(entity.name). Restore the store's directory from a backup, or set the values again."
      )
    }
  }
}

// MARK: - Recorded models

/// What the tables of a store should have by the models that it was last opened with.
struct RecordedTables {
  /// The columns of each table, with the first words of their types.
  private(set) var columns: [String: [String: String]] = [:]
  /// The tables of pairs.
  let pairs: Set<String>
  /// The names of the indexes of sets of properties.
  private(set) var indexes: Set<String> = []
  /// The number of each class in the hierarchy of a table.
  private(set) var classes: [String: [String: Int]] = [:]

  /// Derives the tables from a schema alone, whose types the program may lack.
  init(_ schema: Schema) {
    let links = SchemaLinks(schema)
    pairs = links.pairTables
    for (index, entity) in schema.entities.enumerated() {
      let table = entity.root.name
      // These two columns are in no schema.
      columns[table, default: [:]]["_id"] = "INTEGER"
      if entity.isInHierarchy {
        columns[table]?["_entity"] = "INTEGER"
        classes[table, default: [:]][entity.name] = index + 1
      }
      for property in entity.storedProperties { add(property, of: entity, links) }
      for (sets, isUnique) in [(entity.uniquenessConstraints, true), (entity.indices, false)] {
        indexes.formUnion(sets.map { TableIndex.name(table, $0, isUnique: isUnique) })
      }
    }
  }

  /// Adds the columns of a property.
  private mutating func add(
    _ property: any SchemaProperty, of entity: Schema.Entity, _ links: SchemaLinks
  ) {
    if let attribute = property as? Schema.Attribute {
      let type = TableLayout.type(of: attribute.encoding).prefix { $0 != " " }
      columns[entity.root.name]?[attribute.name] = String(type)
    }
    guard let relationship = property as? Schema.Relationship else { return }
    switch links.storage(of: relationship, in: entity) {
    case .column(let table, let column): columns[table]?[column] = "INTEGER"
    case .inverse(let table, let column, let list):
      columns[table, default: [:]][HiddenColumn.order(of: column)] = "INTEGER"
      if list != nil { columns[table]?[HiddenColumn.list(of: column)] = "INTEGER" }
    case .pairs: break
    }
  }
}
