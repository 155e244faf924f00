import Foundation
import GRDB
import GRDBSQLite

/// Opens connections to one store's file, or to memory.
struct StoreOpener: Sendable {
  /// Page cache of each connection, in KiB.
  static let cacheSize = 16 * 1024
  /// Marks a SQLite file as ours: "Sted".
  static let applicationID: Int64 = 0x5374_6564

  private let configuration: ModelConfiguration

  init(_ configuration: ModelConfiguration) { self.configuration = configuration }

  private var path: String { configuration.url.path }

  /// Where the files of large values lie: beside the store, under its name.
  var blobDirectory: URL {
    configuration.url.deletingLastPathComponent().appendingPathComponent(
      ".\(configuration.url.lastPathComponent)_external", isDirectory: true)
  }

  func removeBlobs() throws {
    guard FileManager.default.fileExists(atPath: blobDirectory.path) else { return }
    try FileManager.default.removeItem(at: blobDirectory)
  }

  /// Throws when the file is something else than a store. Reads only, so that it stays as it is.
  func checkFile() throws {
    guard !configuration.isStoredInMemoryOnly else { return }
    guard let header = StoreHeader(path: path) else {
      if configuration.allowsSave {
        try FileManager.default.createDirectory(
          at: configuration.url.deletingLastPathComponent(), withIntermediateDirectories: true)
      }
      return
    }
    try header.check(path: path)
    // Without a journal to roll back, nothing takes the mark from the file again.
    if header.isMarked, !header.hasRollbackJournal { return }
    if header.hasRollbackJournal, configuration.allowsSave { try rollBack() }
    let connection = try open(writable: false)
    let id = try connection.integer("PRAGMA application_id") ?? 0
    let tables = try connection.integer("SELECT count(*) FROM sqlite_schema") ?? 0
    guard id == Self.applicationID || (id == 0 && tables == 0) else {
      throw SwiftDataError(
        .unreadableStore,
        "\(path) is a SQLite database of another program. It was left untouched; give the store "
          + "a file of its own.")
    }
  }

  /// Takes back what a process was about when it was killed, before the store had a write-ahead log.
  ///
  /// A connection that only reads cannot do that, and refuses to read.
  private func rollBack() throws {
    _ = try open(writable: true, keepsJournalMode: true)
      .integer("SELECT count(*) FROM sqlite_schema")
  }

  func open(writable: Bool, keepsJournalMode: Bool = false) throws -> Connection {
    let usesLog = writable && !keepsJournalMode && !configuration.isStoredInMemoryOnly
    var setup = Configuration()
    setup.readonly = !writable
    setup.foreignKeysEnabled = false
    setup.busyMode = .timeout(TimeInterval(RecordStore.lockPatience))
    setup.maximumReaderCount = 1
    setup.prepareDatabase { database in
      guard let handle = database.sqliteConnection else { return }
      try SteadSQLFunctions.register(on: handle)
      try database.execute(sql: "PRAGMA cache_size = -\(Self.cacheSize)")
      // What a statement keeps for itself, such as the rows of RETURNING, needs no file.
      try database.execute(sql: "PRAGMA temp_store = MEMORY")
      if usesLog { try Self.useLog(database) }
    }
    do {
      return try connect(setup)
    } catch let error as DatabaseError {
      throw StoreErrors.error(
        code: error.extendedResultCode.rawValue, message: error.message ?? "", sql: error.sql ?? "")
    }
  }

  /// The library's pool would do so, too, but makes and drops a table each time it opens a store.
  private static func useLog(_ database: Database) throws {
    guard try String.fetchOne(database, sql: "PRAGMA journal_mode = WAL") == "wal" else {
      throw SwiftDataError(
        .storageFailure,
        "The store's file system cannot hold a write-ahead log. Put the store on a local disk.")
    }
    try database.execute(sql: "PRAGMA synchronous = NORMAL")
  }

  private func connect(_ setup: Configuration) throws -> Connection {
    let owner =
      configuration.isStoredInMemoryOnly
      ? try DatabaseQueue(configuration: setup)
      : try DatabaseQueue(path: path, configuration: setup)
    // The library opens, configures and closes the connection; statements go to SQLite directly.
    // Its queue is not used again, and a lock of ours keeps the connection to one thread at a time.
    guard let handle = owner.writeWithoutTransaction({ $0.sqliteConnection }) else {
      throw SwiftDataError(.storeFailure, "The store was closed while it was being opened.")
    }
    // The library's hooks observe statements that it runs itself; ours would surprise them.
    _ = sqlite3_commit_hook(handle, nil, nil)
    _ = sqlite3_rollback_hook(handle, nil, nil)
    _ = sqlite3_update_hook(handle, nil, nil)
    _ = sqlite3_set_authorizer(handle, nil, nil)
    return Connection(handle: handle, owner: owner)
  }
}
