import Foundation
import SteadFiles
import SteadSQLite

/// The file of one store, or memory: what it holds is checked, and connections to it are opened.
struct StoreFile: Sendable {
  /// Page cache of each connection, in KiB.
  static let cacheSize = 16 * 1024
  /// Marks a SQLite file as ours: "Sted".
  static let applicationID: Int64 = 0x5374_6564

  let configuration: ModelConfiguration

  init(_ configuration: ModelConfiguration) { self.configuration = configuration }

  private var path: String { configuration.url.path }

  /// Where the files of large values lie: beside the store, under its name.
  var blobDirectory: URL {
    configuration.url.deletingLastPathComponent().appendingPathComponent(
      ".\(configuration.url.lastPathComponent)_external", isDirectory: true)
  }

  /// Whether there is a write-ahead log with pages.
  var hasLog: Bool {
    !configuration.isStoredInMemoryOnly
      && ((try? POSIXDisk().status(at: path + "-wal"))?.size ?? 0) > 0
  }

  func removeBlobs() throws {
    guard FileManager.default.fileExists(atPath: blobDirectory.path) else { return }
    try FileManager.default.removeItem(at: blobDirectory)
  }

  /// Throws when the file is something else than a store. Reads only, so that it stays as it is.
  func check() throws {
    guard !configuration.isStoredInMemoryOnly else { return }
    guard let header = StoreHeader(path: path) else {
      if configuration.allowsSave { try makeFile() }
      return
    }
    try header.check(path: path)
    // Without a journal to roll back, nothing takes the mark from the file again.
    if header.isMarked, !header.hasRollbackJournal { return }
    if header.hasRollbackJournal, configuration.allowsSave { try rollBack() }
    let connection = try open(writable: false)
    // In this order: another process may be making the store, and writes mark and tables in one commit.
    let tables = try connection.integer("SELECT count(*) FROM sqlite_schema") ?? 0
    let id = try connection.integer("PRAGMA application_id") ?? 0
    guard id == Self.applicationID || (id == 0 && tables == 0) else {
      throw SwiftDataError(
        .unreadableStore,
        "\(path) is a SQLite database of another program. It was left untouched; give the store "
          + "a file of its own.")
    }
  }

  /// Makes the file, and the directories above it that are missing, readable by their owner alone.
  private func makeFile() throws {
    let directory = configuration.url.deletingLastPathComponent().path
    do {
      try POSIXDisk().makeDirectories(directory)
    } catch let error as FileError {
      throw SwiftDataError(
        .storageFailure,
        "The store's directory cannot be made: \(error). Make its parent writable, set XDG_DATA_HOME, or "
          + "HOME, to a directory that is, or give the configuration a URL.", cause: error)
    }
    SQLiteFile.makePrivate(at: path)
  }

  /// Takes back what a process was about when it was killed, before the store had a write-ahead log.
  ///
  /// A connection that only reads cannot do that, and refuses to read.
  private func rollBack() throws {
    _ = try open(writable: true, keepsJournalMode: true)
      .integer("SELECT count(*) FROM sqlite_schema")
  }

  func open(writable: Bool, keepsJournalMode: Bool = false) throws -> StoreConnection {
    let isFile = !configuration.isStoredInMemoryOnly
    var options = SQLiteOptions(isFile ? .file(path) : .memory)
    options.isWritable = writable
    options.lockPatience = Int32(RecordStore.lockPatience) * 1000
    options.cacheSize = Self.cacheSize
    // Fields of structs are columns made by json_extract, and triggers keep the tables of FTS5.
    options.trustsSchema = true
    options.functions = SteadSQLFunctions.functions
    options.collations = SteadSQLFunctions.collations
    options.failure = StoreErrors.error
    let connection = try StoreConnection(options)
    // What a statement keeps for itself, such as the rows of RETURNING, needs no file.
    try connection.execute("PRAGMA temp_store = MEMORY")
    if writable, isFile, !keepsJournalMode { try useLog(connection) }
    return connection
  }

  private func useLog(_ connection: StoreConnection) throws {
    guard try connection.rows("PRAGMA journal_mode = WAL").first?.first == .text("wal") else {
      throw SwiftDataError(
        .storageFailure,
        "The store's file system cannot hold a write-ahead log. Put the store on a local disk.")
    }
    try connection.execute("PRAGMA synchronous = NORMAL")
  }
}
