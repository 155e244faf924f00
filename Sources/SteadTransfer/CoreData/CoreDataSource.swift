public import Foundation
import SteadFiles
public import SteadRecords
import SteadSQLite
import Synchronization

extension TransferSource where Value == StoredRow {
  /// The rows of a store that Core Data or SwiftData wrote; ``CoreDataImport`` is a transfer of
  /// them.
  ///
  /// Each read is of a new copy; neither the original nor a file next to it is ever written. A
  /// row's identity is its number in its store, so a row that was changed is not another item.
  ///
  /// - Parameters:
  ///   - url: The store's file, the one that has a `-wal` next to it.
  ///   - schema: The classes that take the rows.
  ///   - mapping: Which entities and classes belong together although their names differ, and what
  ///     is left out.
  /// - Throws: ``TransferError`` for a URL that isn't one of a file.
  public static func coreData(
    _ url: URL, schema: Schema, mapping: CoreDataMapping = CoreDataMapping()
  ) throws -> Self {
    Self(try CoreDataSource(url, schema: schema, mapping: mapping))
  }
}

/// A store of Core Data or SwiftData as the source of a transfer.
final class CoreDataSource: ItemSource {
  /// The store's path, without symbolic links.
  private let path: String
  /// The classes that take the rows.
  private let schema: Schema
  /// The exceptions to the names.
  private let mapping: CoreDataMapping
  /// What the latest read found.
  private let latestReport = Mutex<CoreDataReport?>(nil)
  /// A copy that was made to find the identifier, for the next read, which takes it.
  private let pendingSnapshot = Mutex<CoreDataSnapshot?>(nil)

  /// A source; nothing is read yet.
  ///
  /// - Throws: ``TransferError`` for a URL that isn't one of a file.
  init(_ url: URL, schema: Schema, mapping: CoreDataMapping = CoreDataMapping()) throws {
    do {
      // The files next to the store are found by its real path.
      path = try POSIXDisk().resolveLinks(url.checkedPath)
    } catch let error as FileError {
      throw Self.failure(error)
    }
    self.schema = schema
    self.mapping = mapping
  }

  /// `the store` and its path.
  var name: String { "the store \(path)" }
  /// Nil: a copy of a store is the same source, wherever it is. The transfer's name has the store's
  /// UUID.
  var stableName: String? { nil }
  /// False: stores of other programs are never written.
  var isRemovable: Bool { false }

  /// Identities, sizes and times of the store's files.
  func versionTag() throws -> String? {
    try mappingErrors { try CoreDataState(of: path).versionTag }
  }

  /// What the latest read found; nil before the first.
  var report: CoreDataReport? { latestReport.withLock { $0 } }

  /// All rows, by entity and number.
  ///
  /// Costs a copy of the file and of its log, a check of all pages, and memory for all values.
  func open(_ progress: TransferProgress.Report) throws -> ItemReading<StoredRow> {
    ItemReading(try items(progress))
  }

  private func items(_ progress: TransferProgress.Report) throws -> [TransferItem<StoredRow>] {
    try mappingErrors {
      let snapshot = try takeSnapshot()
      let store = try ForeignStore(copy: snapshot.store)
      var reader = try CoreDataReader(store, schema, mapping, files: CoreDataFiles(besides: path))
      reader.addWarning(snapshot.warning)
      // Also after an error: the report says what was found until then.
      defer { latestReport.withLock { [report = reader.report] in $0 = report } }
      let items = try reader.read(progress)
      // Deallocating the snapshot deletes the files that SQLite has open.
      return withExtendedLifetime(snapshot) { items }
    }
  }

  /// Removes nothing.
  func remove(_ entries: [TransferReceipt.Entry]) throws -> Int { 0 }

  /// An error of the file system as one of a transfer.
  private static func failure(_ error: FileError) -> TransferError {
    TransferError(code: .failed, message: error.message, cause: error)
  }

  /// The store's UUID.
  ///
  /// Read from the file itself if it has it without its log, which saves the copy; otherwise from a
  /// copy, which is kept for the next read.
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

  /// The UUID in the file itself; nil while the file is being written, or if it has none without
  /// its log.
  private func storedIdentifier() throws -> String? {
    // With a rollback journal the file may have uncommitted pages.
    guard let before = try? CoreDataState(of: path), before.versionTag != nil, !before.hasJournal
    else {
      return nil
    }
    var options = SQLiteOptions(.file(path))
    // Immutable, so that SQLite takes no lock and creates neither a `-wal` nor a `-shm`. It then
    // ignores the log, too; but a store's UUID never changes once it is in the file.
    options.isImmutable = true
    // After any error the copy decides.
    let row = try? SQLiteConnection(options).rows(
      "SELECT Z_UUID FROM Z_METADATA ORDER BY Z_VERSION DESC LIMIT 1"
    ).first
    // The state is compared again: the file may have been written while SQLite read it.
    guard case .text(let identifier)? = row?.first, try CoreDataState(of: path) == before else {
      return nil
    }
    return identifier
  }

  /// The pending snapshot, or a new one.
  private func takeSnapshot() throws -> CoreDataSnapshot {
    let copy = pendingSnapshot.withLock { pending in
      defer { pending = nil }
      return pending
    }
    return try copy ?? CoreDataSnapshot(of: path)
  }

  /// Runs a body, and maps errors of SQLite and of files to those of a transfer.
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

/// A SQLite database of another program, opened for reading; used by one thread at a time.
///
/// Reading can write: SQLite creates a `-shm` next to the file, and checkpoints the log into it. So
/// it gets a copy.
final class ForeignStore {
  /// The connection to the copy.
  private let connection: SQLiteConnection

  /// Opens a copy, log included, and checks all of its pages.
  ///
  /// Costs a read of the whole file.
  ///
  /// - Throws: `SQLiteError` if it isn't a database, or is damaged.
  init(copy url: URL) throws {
    var options = SQLiteOptions(.file(url.path))
    // Hardened connections refuse views. Those of the other program only read its tables.
    options.readsViews = true
    connection = try SQLiteConnection(options)
    // The first access recovers the log, or rolls back a journal. It is the last one that may
    // write.
    _ = try connection.integer("SELECT count(*) FROM sqlite_schema")
    try connection.execute("PRAGMA query_only = ON")
    // Damage is found before any row is written, not in the middle.
    guard try rows("PRAGMA quick_check(1)").first?.first == .text("ok") else {
      throw SQLiteError.damaged("its pages do not fit")
    }
  }

  /// All rows of a query. Text that isn't UTF-8 is a blob of its bytes.
  func rows(_ sql: String, _ values: [SQLValue] = []) throws -> [[SQLValue]] {
    var result: [[SQLValue]] = []
    try forEachRow(sql, values) { result.append($0) }
    return result
  }

  /// Calls a body with each row of a query.
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

  /// The value of a column, checked: another program's text may have any bytes.
  private static func value(_ statement: SQLiteStatement, _ column: Int32) -> SQLValue {
    guard statement.isText(column) else { return statement.value(column) }
    return statement.validText(column).map { .text($0) } ?? .blob(statement.data(column))
  }
}
