import Foundation
import SteadFiles
import SteadSQLite

/// The file of one store, or memory: checks its contents, and opens connections to it.
struct StoreFile: Sendable {
  /// Page cache of each connection, in KiB.
  static let cacheSize = 16 * 1024
  /// Marks a SQLite file as ours: "Sted".
  static let applicationID: Int64 = 0x5374_6564

  /// Where the store is, and how it is opened.
  let configuration: ModelConfiguration
  /// How the store is read, where it is opened read only.
  private(set) var reading = StoreReading.shared

  init(_ configuration: ModelConfiguration) { self.configuration = configuration }

  private var path: String { configuration.url.path }

  /// The directory of large values' files: next to the store, named after it.
  var blobDirectory: URL { Self.blobDirectory(of: path) }

  /// The directory of large values' files for the store at a path.
  static func blobDirectory(of path: String) -> URL {
    URL(filePath: path.directoryPath, directoryHint: .isDirectory).appendingPathComponent(
      ".\(path.fileName)_external", isDirectory: true)
  }

  /// Whether a write-ahead log with pages exists.
  var hasLog: Bool {
    !configuration.isStoredInMemoryOnly
      && ((try? POSIXDisk().status(at: path + "-wal"))?.size ?? 0) > 0
  }

  /// Removes the directory of large values if it is empty; `rmdir` fails for any other.
  func removeEmptyBlobDirectory() { rmdir(blobDirectory.path) }

  /// Finds out how the store can be read by this process; only for one that is opened read only.
  mutating func chooseReading() throws {
    guard !configuration.allowsSave, !configuration.isStoredInMemoryOnly else { return }
    reading = try StoreReading(of: path)
  }

  /// The error of a save to a read-only store, with the likely reason.
  var refusal: SwiftDataError {
    if configuration.isPast {
      return SwiftDataError(
        .readOnlyStore,
        "The container has a past state of the store, which cannot be changed. Save to the container that it was made "
          + "of, or call its restore(to:).")
    }
    let opened = "The store was opened with allowsSave: false."
    guard !configuration.isStoredInMemoryOnly else {
      return SwiftDataError(.readOnlyStore, "\(opened) Open it for writing to save.")
    }
    let directory = path.directoryPath
    if POSIXDisk().isReadOnlySystem(at: directory) {
      return SwiftDataError(
        .readOnlyStore,
        "\(opened) It is on a file system that is mounted read-only; copy it to another one to save."
      )
    }
    // The directory, too, since SQLite makes its log there.
    for place in [directory, path] where access(place, W_OK) != 0 {
      return SwiftDataError(
        .readOnlyStore,
        "\(opened) This process may not write to \(place); change its permissions, and open the store for writing to save."
      )
    }
    return SwiftDataError(.readOnlyStore, "\(opened) Open it for writing to save.")
  }

  /// Throws when the file is something else than a store. Reads only, so that it stays as it is.
  ///
  /// Invariant: no connection that writes is opened before the header was read without SQLite, and has shown a store
  /// or an empty file, with the log that belongs to it. SQLite would create files beside any file, apply any log to
  /// it, and take a file of a few bytes for an empty database.
  func check() throws {
    guard !configuration.isStoredInMemoryOnly else { return }
    // In this order: another process that is making the store makes the log after the file.
    let hasLog = hasLog
    guard let header = StoreHeader(path: path) else {
      if hasLog { throw lostFile }
      if configuration.allowsSave {
        if OpenStores.isOpen(configuration.url) { reportSecondStore() }
        try makeFile()
      } else if access(path, F_OK) != 0, errno == ENOENT {
        throw missingFile
      }
      return
    }
    try header.check(path: path)
    if header.hasLogMark, logBeginning == .nothing { try checkLog() }
    // A copy that a migration works on has names of another file, the store. Nobody puts another one in its place.
    if hasLog, header.isMarked, configuration.migration == .none { try checkLogName() }
    // Another process may just be moving the log into the file, so only what is missing for good counts.
    if header.isShort, !header.hasRollbackJournal, !isComplete { throw truncation }
    // Without a rollback journal, nothing would remove the mark from the file again.
    if header.isMarked, !header.hasRollbackJournal { return }
    if header.hasRollbackJournal, configuration.allowsSave { try rollBack() }
    let connection = try open(writable: false)
    // In this order: another process may be creating the store, and writes mark and tables in one commit.
    let tables = try connection.integer("SELECT count(*) FROM sqlite_schema") ?? 0
    let id = try connection.integer("PRAGMA application_id") ?? 0
    guard id == Self.applicationID || (id == 0 && tables == 0) else {
      throw SwiftDataError(
        .unreadableStore,
        "\(path) is a SQLite database of another program. It was left untouched; give the store "
          + "a separate file.")
    }
  }

  /// Throws when commits are missing that the log had.
  private func checkLog() throws {
    // Another process may just have closed the store, and have moved the log into the file. A snapshot is of one
    // moment: as long as it is open, nobody removes or empties a log that it needs.
    let connection = try open(writable: configuration.allowsSave, keepsJournalMode: true)
    // Closing the last connection would remove what is left of the log.
    connection.keepLog()
    try connection.begin()
    defer { try? connection.execute("ROLLBACK") }
    guard LogMark.isSet(in: try connection.integer("PRAGMA user_version") ?? 0) else { return }
    // With a log, the mark is one that a writer is setting just now.
    guard logBeginning == .nothing else { return }
    let problem =
      isLogEmpty
      ? "\(path) lacks its log, \(path.fileName)-wal, which has saves that the file does not have: the file was copied or "
        + "moved without it while a program used the store, or after one was killed. It was left untouched. Put the log "
        + "next to it, or open a backup."
      : "The log of \(path), \(path.fileName)-wal, which has saves that the file does not have, is damaged from its "
        + "beginning: it was cut short or overwritten. Both were left untouched. Put the whole log next to the file, or open "
        + "a backup."
    throw SwiftDataError(
      .unreadableStore,
      "\(problem) If the log is lost, `sqlite3 \(path.fileName) \"PRAGMA user_version = "
        + "\(StorePreparation.formatVersion)\"` lets the store open without these saves.")
  }

  /// What the log begins with.
  private var logBeginning: SQLiteLogFile.Beginning { SQLiteLogFile.beginning(of: logPath) }

  /// Where SQLite puts the log: beside the file that links lead to.
  private var logPath: String { ((try? POSIXDisk().resolveLinks(path)) ?? path) + "-wal" }

  /// Whether the log has no pages, or does not exist.
  private var isLogEmpty: Bool { ((try? POSIXDisk().status(at: logPath))?.size ?? 0) == 0 }

  /// The error for one of SQLite's.
  ///
  /// A connection that is opened after the log was removed begins an empty one, and lacks the pages of which the index,
  /// which other connections keep, says that the log has them.
  private func failure(_ error: SQLiteError) -> any Error {
    error.isOfShortFile && isLogEmpty ? removedLog : StoreErrors.error(error)
  }

  /// The error of a log that was removed while its index is in use.
  var removedLog: SwiftDataError {
    SwiftDataError(
      .unreadableStore,
      "The log of \(path), \(path.fileName)-wal, was removed, moved away or emptied while a program has the store open, and "
        + "has saves that the file does not have. The file was left untouched. If the log was moved, move it back. If it was "
        + "removed, let the programs end that have the store open: they still have the log, and move it into the file as "
        + "they end, unless they are killed. Then try again. If it was emptied, open a backup.")
  }

  /// The error of a file that was cut short, beside a log.
  var truncation: SwiftDataError {
    SwiftDataError(
      .unreadableStore,
      "\(path) was cut short, and lacks pages that its log does not have either. It was left untouched, and nothing was "
        + "written. Open a backup, or move the file away, with \(path.fileName)-wal, to start afresh."
    )
  }

  /// Whether a store whose file is shorter than it says has all of its pages: a checkpoint that is under way, or that was
  /// interrupted, leaves such a file, and a log that completes it. Costs a read of the headers in the log.
  ///
  /// Uses no connection: SQLite takes an empty file for a new database, and removes the log.
  var isComplete: Bool {
    // Another process may end a checkpoint between the readings of the two files, and begin the log again.
    for _ in 0..<Self.readingLimit {
      guard let header = StoreHeader(path: path) else { return false }
      guard header.isShort else { return true }
      guard let missing = header.missingPages else { return false }
      if SQLiteLogFile.hasPages(missing, at: logPath) { return true }
    }
    return false
  }

  /// Moves the log into the file, and empties it, unless one of the two was damaged: see ``SQLiteConnection/hasWholeLog``.
  /// Pages behind the end of a file that was cut short would make it look whole.
  func moveLog(_ connection: StoreConnection, busyTimeout: Int32) {
    guard connection.hasWholeLog, connection.fileHeader.isWhole || isComplete else {
      return connection.keepLog()
    }
    _ = try? connection.checkpoint(.emptying, busyTimeout: busyTimeout)
  }

  /// SQLite would remove the log, and begin an empty store.
  private var lostFile: SwiftDataError {
    SwiftDataError(
      .unreadableStore,
      "\(path) is missing, but its log, \(path.fileName)-wal, is there, with saves that the file may not have: the file was "
        + "moved or removed without it. The log was left untouched. Put the file back next to it; or, to begin a new store, "
        + "move the log away, with \(path.fileName)-shm.")
  }

  private var missingFile: SwiftDataError {
    SwiftDataError(
      .unreadableStore,
      "There is no store at \(path), and one that is opened with allowsSave: false is not created. Check the URL of the "
        + "configuration \(configuration.name), or open the store for writing once.")
  }

  /// Reports that an empty store is begun at a path at which another container had one: that container goes on with a
  /// file that nobody finds.
  private func reportSecondStore() {
    Report.problem(
      .storeDisplaced, subject: path,
      message:
        "The file was removed or moved away while another container of this process has it open, so an empty store is "
        + "begun. That container can no longer save. Close it before the store is removed; or move the file back."
    )
  }

  /// The error of a write to a file, or of its backup, when it isn't at the store's path any more.
  var displacement: SwiftDataError {
    SwiftDataError(
      .unreadableStore,
      "\(path) was removed, replaced or moved away while it was open, and nothing was written to it. To use it again, move the file "
        + "back, with \(path.fileName)-wal. If it is gone, open a new container, and insert the objects into that."
    )
  }

  /// Makes the file, and the directories above it that are missing, readable by their owner alone.
  private func makeFile() throws {
    let directory = configuration.url.deletingLastPathComponent().path
    do {
      try POSIXDisk().makeDirectories(directory)
    } catch let error as FileError {
      throw SwiftDataError(
        .storageFailure,
        "The store's directory cannot be created: \(error). Make its parent writable, set XDG_DATA_HOME, or "
          + "HOME, to a directory that is, or give the configuration a URL.", cause: error)
    }
    // SQLite gives the files beside it the same mode.
    SQLiteFile.makePrivate(at: path)
  }

  /// Takes back what a process was about when it was killed, before the store had a write-ahead log.
  ///
  /// A connection that only reads cannot do that, and refuses to read.
  private func rollBack() throws {
    _ = try open(writable: true, keepsJournalMode: true)
      .integer("SELECT count(*) FROM sqlite_schema")
  }

  /// Opens a connection to the store, with this library's functions, which waits for other connections.
  ///
  /// - Parameters:
  ///   - writable: Whether it may write. If so, the file is set to use a write-ahead log, which may change the file.
  ///   - keepsJournalMode: Leaves the file's journal mode as it is, even if the connection may write.
  ///   - isAlone: Reads the file without its log.
  /// - Throws: What ``StoreErrors/error(_:)`` makes of SQLite's errors, and `storageFailure` if the file cannot have a
  ///   log.
  func open(
    writable: Bool, keepsJournalMode: Bool = false, isAlone: Bool = false
  ) throws -> StoreConnection {
    let isFile = !configuration.isStoredInMemoryOnly
    var options = SQLiteOptions(isFile ? .file(reading.path(for: path)) : .memory)
    options.isWritable = writable
    // SQLite then takes no lock and reads no log, for a file that nobody writes to.
    options.isImmutable = isFile && (isAlone || reading.isAlone)
    options.busyTimeout = Int32(RecordStore.lockTimeout) * 1000
    options.cacheSize = Self.cacheSize
    // Fields of structs are columns made by json_extract, and triggers keep the tables of FTS5.
    options.trustsSchema = true
    options.functions = SteadSQLFunctions.functions
    options.collations = SteadSQLFunctions.collations
    // Memory has no log that could be gone.
    options.failure = isFile ? failure : StoreErrors.error
    let connection = try StoreConnection(options)
    // A statement's temporary data, such as the rows of RETURNING, needs no file.
    try connection.execute("PRAGMA temp_store = MEMORY")
    if writable, isFile, !keepsJournalMode {
      // A connection that fails here must not move a log into the file as it closes.
      connection.keepLog()
      try useLog(connection)
      connection.keepLog(false)
    }
    return connection
  }

  /// A connection that reads the file without its log; the copy, where the store is read from one.
  func openAlone() throws -> StoreConnection { try open(writable: false, isAlone: true) }

  /// A writing connection to a store that is open; does not make the file again if it was removed.
  func openAgain() throws -> StoreConnection {
    guard try POSIXDisk().statusFollowingLinks(path) != nil else { throw refusal }
    return try open(writable: true, keepsJournalMode: true)
  }

  /// Sets the file to use a write-ahead log, and to sync the log at checkpoints alone: a loss of power then may lose
  /// the last commits, and damages nothing.
  ///
  /// - Throws: `storageFailure` if the file system has no shared memory for the log's index.
  private func useLog(_ connection: StoreConnection) throws {
    guard try connection.useLog() else {
      throw SwiftDataError(
        .storageFailure,
        "The store's file system cannot hold a write-ahead log. Put the store on a local disk.")
    }
    try connection.execute("PRAGMA synchronous = NORMAL")
  }
}
