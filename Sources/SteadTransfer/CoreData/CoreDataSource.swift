public import Foundation
import SteadFiles
public import SteadRecords
import SteadSQLite
import Synchronization

extension TransferSource where Value == StoredRow {
  /// The rows of a store that Core Data or SwiftData wrote; ``CoreDataImport`` is a transfer of them.
  ///
  /// Each reading is of a copy that is made for it; the original is never written to, nor is a file next to
  /// it. A row's identity is its number in its store, so one that was changed is not taken for another.
  ///
  /// - Parameters:
  ///   - url: The store: the file that has the `-wal` next to it.
  ///   - schema: The classes that are to take the rows.
  ///   - mapping: Which entities and classes belong together although their names differ, and what is left out.
  /// - Throws: ``TransferError`` for a URL that is not a file's.
  public static func coreData(
    _ url: URL, schema: Schema, mapping: CoreDataMapping = CoreDataMapping()
  ) throws -> Self {
    Self(try CoreDataSource(url, schema: schema, mapping: mapping))
  }
}

/// The rows of a store that Core Data or SwiftData wrote, as a source of a transfer.
final class CoreDataSource: ItemSource {
  private let path: String
  private let schema: Schema
  private let mapping: CoreDataMapping
  private let latestReport = Mutex<CoreDataReport?>(nil)
  /// A copy that was made to look at, for the next reading.
  private let pendingSnapshot = Mutex<CoreDataSnapshot?>(nil)

  /// A store; nothing is read yet.
  ///
  /// - Parameters:
  ///   - url: The store: the file that has the `-wal` next to it.
  ///   - schema: The classes that are to take the rows.
  ///   - mapping: Which entities and classes belong together although their names differ, and what is left out.
  /// - Throws: ``TransferError`` for a URL that isn't a file's.
  init(_ url: URL, schema: Schema, mapping: CoreDataMapping = CoreDataMapping()) throws {
    do {
      path = try POSIXDisk().resolveLinks(url.checkedPath)
    } catch let error as FileError {
      throw Self.failure(error)
    }
    self.schema = schema
    self.mapping = mapping
  }

  /// `the store` and its path.
  var name: String { "the store \(path)" }
  /// A copy of a store is the same source, wherever it is.
  var stableName: String? { nil }
  /// False: a store of another program is left as it is.
  var isRemovable: Bool { false }

  /// The sizes and times of the store's files, and which files these are.
  func versionTag() throws -> String? {
    try mappingErrors { try CoreDataState(of: path).versionTag }
  }

  /// The findings of the latest reading; nil before the first.
  var report: CoreDataReport? { latestReport.withLock { $0 } }

  /// All rows, by entity and number.
  ///
  /// Costs a copy of the file and of its log, a look through all its pages, and memory for all values.
  func open(_ progress: TransferProgress.Report) throws -> ItemReading<StoredRow> {
    ItemReading(try items(progress))
  }

  private func items(_ progress: TransferProgress.Report) throws -> [TransferItem<StoredRow>] {
    try mappingErrors {
      let snapshot = try takeSnapshot()
      let store = try ForeignStore(copy: snapshot.store)
      var reader = try CoreDataReader(store, schema, mapping, files: CoreDataFiles(besides: path))
      reader.addWarning(snapshot.warning)
      defer { latestReport.withLock { [report = reader.report] in $0 = report } }
      let items = try reader.read(progress)
      return withExtendedLifetime(snapshot) { items }
    }
  }

  /// A store of another program is left as it is.
  func remove(_ entries: [TransferReceipt.Entry]) throws -> Int { 0 }

  private static func failure(_ error: FileError) -> TransferError {
    TransferError(code: .failed, message: error.message, cause: error)
  }

  /// The store's identifier.
  ///
  /// If the file itself doesn't show it, a copy does, which is kept for the next reading.
  func identifier() throws -> String {
    if let identifier = try storedIdentifier() { return identifier }
    return try mappingErrors {
      let snapshot = try CoreDataSnapshot(of: path)
      let store = try ForeignStore(copy: snapshot.store)
      let identifier = try CoreDataCatalog(store).identifier
      pendingSnapshot.withLock { $0 = snapshot }
      return identifier
    }
  }

  /// The identifier in the file itself, which never changes; nil while the file is being written, or if it has none
  /// without its log.
  private func storedIdentifier() throws -> String? {
    guard let before = try? CoreDataState(of: path), before.versionTag != nil, !before.hasJournal
    else {
      return nil
    }
    var options = SQLiteOptions(.file(path))
    options.isImmutable = true
    let row = try? SQLiteConnection(options).rows(
      "SELECT Z_UUID FROM Z_METADATA ORDER BY Z_VERSION DESC LIMIT 1"
    ).first
    guard case .text(let identifier)? = row?.first, try CoreDataState(of: path) == before else {
      return nil
    }
    return identifier
  }

  private func takeSnapshot() throws -> CoreDataSnapshot {
    let copy = pendingSnapshot.withLock { pending in
      defer { pending = nil }
      return pending
    }
    return try copy ?? CoreDataSnapshot(of: path)
  }

  private func mappingErrors<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as SQLiteError {
      throw TransferError(
        code: .unreadable,
        message: "\(path) is not a SQLite database, or is damaged. It was left as it is; import a "
          + "backup of it.", cause: error)
    } catch let error as FileError {
      throw Self.failure(error)
    }
  }
}

// MARK: - Database

/// A SQLite database of another program, opened to be read; used by one thread at a time.
///
/// SQLite may write next to the file, and may write its log into it. So it gets a copy.
final class ForeignStore {
  private let connection: SQLiteConnection

  /// Opens a copy, log included, and looks through its pages.
  ///
  /// Costs a read of the whole file. Throws ``SQLiteError`` if it isn't a database, or is damaged.
  init(copy url: URL) throws {
    var options = SQLiteOptions(.file(url.path))
    // The other program's views read its tables, and nothing else.
    options.readsViews = true
    connection = try SQLiteConnection(options)
    // The log is read in by the first look at the tables, which is the last that may write.
    _ = try connection.integer("SELECT count(*) FROM sqlite_schema")
    try connection.execute("PRAGMA query_only = ON")
    guard try rows("PRAGMA quick_check(1)").first?.first == .text("ok") else {
      throw SQLiteError.damaged("its pages do not fit")
    }
  }

  /// All rows of a statement. A string that isn't UTF-8 becomes a blob of its bytes.
  func rows(_ sql: String, _ values: [SQLValue] = []) throws -> [[SQLValue]] {
    var result: [[SQLValue]] = []
    try forEachRow(sql, values) { result.append($0) }
    return result
  }

  /// Hands over one row of a statement after the other.
  func forEachRow(
    _ sql: String, _ values: [SQLValue] = [], _ body: ([SQLValue]) throws -> Void
  ) throws {
    let statement = try connection.statement(sql)
    statement.reset()
    defer { statement.reset() }
    statement.bind(values)
    let count = statement.columnCount
    while try statement.step() { try body((0..<count).map { Self.value(statement, $0) }) }
  }

  private static func value(_ statement: SQLiteStatement, _ column: Int32) -> SQLValue {
    guard statement.isText(column) else { return statement.value(column) }
    return statement.validText(column).map { .text($0) } ?? .blob(statement.data(column))
  }
}
