// The only module that calls SQLite: connections that are hardened against crafted files, prepared
// statements, SQL fragments with their parameters, functions and collations, errors.
//
// It knows nothing of models. Its clients set in `SQLiteOptions` what its errors become.

import CSteadSQLite
import Foundation

// Sendable: `handle`, `failure`, `path`, `openedPath` and `mainFile` are constants, and `statements` is used by the one thread
// that has the connection. SQLite uses no lock of its own (NOMUTEX); the owners do: `StoreConnection` explains how, and a
// `ForeignStore` isn't Sendable.
/// One connection to a SQLite database, with its prepared statements; used by one thread at a time, but for ``hasMoved``.
///
/// Anybody may have created a file. So each connection is hardened as <https://sqlite.org/security.html>
/// recommends: what a file's schema names (views, triggers, defaults) calls no function with side effects,
/// nothing writes to SQLite's own tables, no extension is loaded, and pages are checked when they are read.
///
/// ```swift
/// let connection = try SQLiteConnection(SQLiteOptions(.file(path)))
/// try connection.run("INSERT INTO item (name) VALUES (?1)", [.text(name)])
/// let count = try connection.integer("SELECT count(*) FROM item")
/// ```
package final class SQLiteConnection: @unchecked Sendable {
  /// SQLite's `sqlite3`.
  let handle: OpaquePointer
  /// The prepared statements, by their SQL; at most ``statementLimit``.
  private var statements: [String: SQLiteStatement] = [:]
  /// Makes what the connection throws.
  let failure: @Sendable (SQLiteError) -> any Error
  /// How long a statement waits for the locks of other connections, in milliseconds.
  private(set) var busyTimeout: Int32 = 0
  /// The path that was opened.
  private let path: String
  /// The path that SQLite uses, if that is another one: as bytes, since the target of a link need not be UTF-8.
  private let openedPath: [CChar]?
  /// The main file, which stays the same as long as the connection is open.
  private let mainFile: UnsafeMutablePointer<sqlite3_file>?

  /// The maximum number of prepared statements kept; beyond it all are dropped, since a program with more SQL
  /// strings than this builds them from values.
  package static let statementLimit = 512

  /// Opens a database, hardens the connection, and registers functions and collations.
  ///
  /// Reads no page of the file: that it isn't a database, or is damaged, shows with the first statement. Costs a few
  /// calls of the system.
  ///
  /// - Throws: What `options.failure` returns for a ``SQLiteError``.
  package init(_ options: SQLiteOptions) throws {
    failure = options.failure
    let path: String
    switch options.location {
    case .memory: path = ":memory:"
    case .file(let file) where options.isImmutable: path = Self.immutableURI(file)
    // A path of this form could be mistaken for a special name of SQLite.
    case .file(let file): path = file.hasPrefix("/") ? file : "./" + file
    }
    let access =
      options.isImmutable
      ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
      : !options.isWritable
        ? SQLITE_OPEN_READONLY
        : SQLITE_OPEN_READWRITE | (options.makesFile ? SQLITE_OPEN_CREATE : 0)
    var handle: OpaquePointer?
    // NOMUTEX: a lock for each call would only cost time, since the owner gives the connection to one thread at a
    // time.
    let code = sqlite3_open_v2(path, &handle, access | SQLITE_OPEN_NOMUTEX, nil)
    // SQLite makes a handle even if it fails, to be asked for the reason and to be closed.
    guard code == SQLITE_OK, let handle else {
      let message = String(cString: handle == nil ? sqlite3_errstr(code) : sqlite3_errmsg(handle))
      let extended = handle == nil ? code : sqlite3_extended_errcode(handle)
      let number = sqlite3_system_errno(handle)
      sqlite3_close_v2(handle)
      throw options.failure(SQLiteError(code: extended, systemError: number, message: message))
    }
    self.handle = handle
    self.path = path
    openedPath = Self.openedPath(of: handle, at: path)
    mainFile = Self.mainFile(of: handle)
    try prepare(options)
  }

  deinit {
    // Statements are finalized before their connection is closed.
    statements.removeAll()
    // _v2: statements that a client still holds may be finalized later.
    sqlite3_close_v2(handle)
  }

  /// A file's name as a URI, by SQLite's documentation.
  ///
  /// See https://www.sqlite.org/uri.html: these three characters have a meaning in a URI.
  private static func immutableURI(_ file: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in file.utf8 {
      switch byte {
      case UInt8(ascii: "%"), UInt8(ascii: "?"), UInt8(ascii: "#"):
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      default: bytes.append(byte)
      }
    }
    return "file:" + String(decoding: bytes, as: UTF8.self) + "?immutable=1"
  }

  /// Sets up the open connection. If it throws, `deinit` closes the connection.
  private func prepare(_ options: SQLiteOptions) throws {
    sqlite3_extended_result_codes(handle, 1)
    setBusyTimeout(options.busyTimeout)
    try harden(options)
    for collation in options.collations { try check(collation.register(on: handle)) }
    for function in options.functions { try check(function.register(on: handle)) }
    if let size = options.cacheSize { try execute("PRAGMA cache_size = -\(size)") }
  }

  /// Turns off what a crafted file could use, and sets limits, before the first statement reads the schema.
  private func harden(_ options: SQLiteOptions) throws {
    let settings: [(Int32, Bool)] = [
      // No writing to the schema's own table and to the tables behind virtual ones.
      (SQLITE_DBCONFIG_DEFENSIVE, true),
      (SQLITE_DBCONFIG_TRUSTED_SCHEMA, options.trustsSchema),
      (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, false),
      // fts3_tokenizer() takes a pointer from SQL.
      (SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
      // "text" in double quotes is a name, and never a string.
      (SQLITE_DBCONFIG_DQS_DML, false), (SQLITE_DBCONFIG_DQS_DDL, false),
      (SQLITE_DBCONFIG_ENABLE_VIEW, options.readsViews),
    ]
    for (setting, value) in settings {
      try check(stead_sqlite_set(handle, setting, value ? 1 : 0))
    }
    let limits = [
      (SQLITE_LIMIT_SQL_LENGTH, SQLiteLimit.statementLength),
      (SQLITE_LIMIT_EXPR_DEPTH, SQLiteLimit.expressionDepth),
      (SQLITE_LIMIT_TRIGGER_DEPTH, SQLiteLimit.triggerDepth),
      (SQLITE_LIMIT_ATTACHED, SQLiteLimit.attachedDatabases),
    ]
    for (limit, value) in limits { sqlite3_limit(handle, limit, value) }
    // Damage is found as a page is loaded, before it is used.
    try execute("PRAGMA cell_size_check = ON")
  }

  /// Sets how long a statement waits for the locks of other connections, in milliseconds.
  package func setBusyTimeout(_ milliseconds: Int32) {
    busyTimeout = milliseconds
    sqlite3_busy_timeout(handle, milliseconds)
  }

  /// Keeps the log next to the file when the connection is the last to be closed; SQLite would otherwise move
  /// the log's pages into the file.
  package func keepLog(_ keeps: Bool = true) {
    _ = stead_sqlite_set(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keeps ? 1 : 0)
  }

  /// Turns the file's triggers on or off for this connection; temporary ones are always on.
  ///
  /// Statements are prepared again when they next run.
  package func setsOffTriggers(_ isOn: Bool) throws {
    try check(stead_sqlite_set(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, isOn ? 1 : 0))
  }

  /// Throws the connection's present error unless a code is `SQLITE_OK`.
  private func check(_ code: Int32) throws {
    if code != SQLITE_OK { throw error() }
  }

  // MARK: Statements

  /// A prepared statement, made once for each SQL string. The caller resets it before and after its use: a statement
  /// that is left at a row keeps the read transaction open, and so the WAL from being emptied.
  package func statement(_ sql: String) throws -> SQLiteStatement {
    if let statement = statements[sql] { return statement }
    if statements.count >= Self.statementLimit { statements.removeAll() }
    let statement = try SQLiteStatement(sql, on: self)
    statements[sql] = statement
    return statement
  }

  /// Runs SQL without parameters and results; it may contain several statements. They are prepared each time. If one
  /// fails, those before it have run, and those after it haven't.
  package func execute(_ sql: String) throws {
    if sqlite3_exec(handle, sql, nil, nil, nil) != SQLITE_OK { throw error(sql) }
  }

  /// Runs one of the connection's prepared statements for its effect.
  package func run(_ sql: String, _ values: [SQLValue] = []) throws {
    let statement = try statement(sql)
    statement.reset()
    statement.bind(values)
    try statement.run()
  }

  /// All rows of a statement, in memory at once.
  package func rows(_ sql: String, _ values: [SQLValue] = []) throws -> [[SQLValue]] {
    let statement = try statement(sql)
    statement.reset()
    defer { statement.reset() }
    statement.bind(values)
    let count = statement.columnCount
    var result: [[SQLValue]] = []
    while try statement.step() { result.append((0..<count).map { statement.value($0) }) }
    return result
  }

  /// The first column of the first row; nil for NULL or without a row.
  package func integer(_ sql: String, _ values: [SQLValue] = []) throws -> Int64? {
    let statement = try statement(sql)
    statement.reset()
    defer { statement.reset() }
    statement.bind(values)
    return try statement.step() && !statement.isNull(0) ? statement.integer(0) : nil
  }

  // MARK: State

  /// The number of rows that the last statement changed.
  package var changedRows: Int { Int(sqlite3_changes(handle)) }

  /// Whether a transaction is open. Some errors, such as a full disk, end one by themselves
  /// (https://www.sqlite.org/lang_transaction.html), so this has to be asked before a rollback.
  package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// A number that changes when another connection has changed the file, or this one itself.
  ///
  /// It describes the open snapshot; costs no statement.
  package var dataVersion: UInt32 {
    var version: UInt32 = 0
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &version)
    return version
  }

  /// How many commits have changed the file since the index of its log was made, by whichever connection; nil if the
  /// index cannot be read.
  ///
  /// It is `iChange` in the index's header (<https://sqlite.org/walformat.html>), and starts again after its greatest value. It
  /// counts the newest commit of all connections, whatever the open snapshot has. Costs no call of the system.
  ///
  /// Not for a file without a log, where SQLite would make an index.
  package var commitCount: UInt32? {
    guard let file = mainFile, let methods = file.pointee.pMethods, methods.pointee.iVersion >= 2,
      let map = methods.pointee.xShmMap
    else { return nil }
    var index: UnsafeMutableRawPointer?
    // Region 0 has the header. The 0 after the size keeps SQLite from enlarging the index.
    let code = map(file, 0, Self.indexRegionSize, 0, &index)
    // An index that this process may only read is mapped, too.
    guard code == SQLITE_OK || code == SQLITE_READONLY, let index else { return nil }
    // After the version of the index and an unused word, of four bytes each.
    return index.load(fromByteOffset: 8, as: UInt32.self)
  }

  /// The size of the parts in which SQLite maps the index of a log.
  private static let indexRegionSize: Int32 = 32_768

  /// How many pages the connection has written to files.
  package var writtenPages: Int32 {
    var (current, highest): (Int32, Int32) = (0, 0)
    sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_WRITE, &current, &highest, 0)
    return current
  }

  /// SQLite's object for the main file; nil if the connection has none.
  private static func mainFile(of handle: OpaquePointer) -> UnsafeMutablePointer<sqlite3_file>? {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
    return code == SQLITE_OK ? file : nil
  }

  /// Whether another file, or none, is beside the log. Costs one call of the system.
  private var isDisplaced: Bool {
    var hasMoved: Int32 = 0
    // `sqlite3_file_control` would look the file up in what another thread's statement may be changing. The file itself compares
    // constants with the file at its path.
    if let mainFile, let methods = mainFile.pointee.pMethods {
      _ = methods.pointee.xFileControl?(mainFile, SQLITE_FCNTL_HAS_MOVED, &hasMoved)
    }
    return hasMoved != 0
  }

  /// Whether the path that was opened leads to another file now, or to none.
  ///
  /// Costs one call of the system, and two more if symbolic links are in the path. Any thread may ask for it.
  package var hasMoved: Bool { isDisplaced || leadsElsewhere }

  /// Whether the log has the frames that its index counts, and the beginning of its header. False once another program
  /// has emptied the log, cut it or written over its beginning while this connection has it open.
  ///
  /// SQLite goes on by the index, which is in memory. It would write the next commit behind what is gone, and a checkpoint
  /// would then move zeros over the file's pages. To be asked in a write transaction, where nobody changes the index, and
  /// only of a file that uses a log. Costs two calls of the system.
  ///
  /// The layout of both is that of <https://sqlite.org/walformat.html>.
  package var hasWholeLog: Bool {
    var found: UnsafeMutablePointer<sqlite3_file>?
    guard let mainFile, let map = mainFile.pointee.pMethods?.pointee.xShmMap,
      sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &found) == SQLITE_OK,
      let log = found, let methods = log.pointee.pMethods?.pointee
    else { return true }
    var index: UnsafeMutableRawPointer?
    guard map(mainFile, 0, 32_768, 0, &index) == SQLITE_OK, let index else { return true }
    let frameCount = Int64(index.load(fromByteOffset: 16, as: UInt32.self))
    if frameCount == 0 { return true }
    // 65,536 does not fit, and is stored as 1.
    let stored = Int64(index.load(fromByteOffset: 14, as: UInt16.self))
    let pageSize = stored == 1 ? 65_536 : stored
    var (size, magic): (sqlite3_int64, UInt32) = (0, 0)
    guard methods.xFileSize?(log, &size) == SQLITE_OK,
      size >= Self.logHeaderSize + frameCount * (Self.frameHeaderSize + pageSize),
      methods.xRead?(log, &magic, 4, 0) == SQLITE_OK
    else { return false }
    // The lowest bit is the byte order of the checksums.
    return UInt32(bigEndian: magic) & ~1 == 0x377f_0682
  }

  /// What the file itself says at one moment, whatever the log has.
  package struct FileHeader: Sendable {
    /// Whether the file is as long as its header says. False once another program has cut it short, and while a checkpoint of
    /// another connection moves pages into it, or was interrupted by the end of its process: then the log has what is missing.
    package let isWhole: Bool
    /// `PRAGMA user_version` as the file has it; nil if it cannot be read.
    package let userVersion: UInt32?
  }

  /// The header of the file, compared with its length.
  ///
  /// Both may change at any time, since other connections move the log's pages into the file. Costs two calls of the system.
  package var fileHeader: FileHeader {
    guard let file = mainFile, let methods = file.pointee.pMethods else {
      return FileHeader(isWhole: true, userVersion: nil)
    }
    // The page size is at 16, in two bytes, the number of pages at 28, and the user version at 60: one read of 12 words.
    var words:
      (
        UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32,
        UInt32
      ) = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    var size: sqlite3_int64 = 0
    let hasSize = methods.pointee.xFileSize(file, &size) == SQLITE_OK
    guard methods.pointee.xRead(file, &words, 48, 16) == SQLITE_OK else {
      return FileHeader(isWhole: !hasSize, userVersion: nil)
    }
    let (stored, pages) = (UInt32(bigEndian: words.0) >> 16, UInt32(bigEndian: words.3))
    // 65,536 does not fit, and is stored as 1.
    let length = Int64(pages) * (stored == 1 ? 65_536 : Int64(stored))
    return FileHeader(
      isWhole: !hasSize || size >= length, userVersion: UInt32(bigEndian: words.11))
  }

  private static let logHeaderSize: Int64 = 32
  private static let frameHeaderSize: Int64 = 24

  /// SQLite follows the links of a path once, and then uses the path without them.
  private var leadsElsewhere: Bool {
    guard let openedPath else { return false }
    var (here, opened) = (stat(), stat())
    // A path that leads nowhere counts as moved.
    guard stat(path, &here) == 0, stat(openedPath, &opened) == 0 else { return true }
    return here.st_ino != opened.st_ino || here.st_dev != opened.st_dev
  }

  /// The path without symbolic links that SQLite uses; nil if it is the given one, and for a relative path.
  private static func openedPath(of handle: OpaquePointer, at path: String) -> [CChar]? {
    guard path.hasPrefix("/"), let name = sqlite3_db_filename(handle, "main"),
      strcmp(name, path) != 0
    else { return nil }
    return Array(UnsafeBufferPointer(start: name, count: strlen(name) + 1))
  }

  /// How much of the log a checkpoint moves into the file.
  package enum Checkpoint: String, Sendable {
    /// All, and waits for readers of older states as long as the connection is patient.
    case full = "FULL"
    /// All as with `full`; then the log is emptied.
    case emptying = "TRUNCATE"
  }

  /// Moves what the log has into the file, and returns whether that was all.
  ///
  /// What readers of older states do not allow stays in the log. So does everything where another file has taken the place
  /// of the one that is open: the log may have that file's commits. Costs two syncs of the disk if the log has anything.
  ///
  /// Must not be called within a transaction of this connection: SQLite then fails with `SQLITE_LOCKED`.
  ///
  /// - Parameter busyTimeout: How long it waits for writers and readers, in milliseconds.
  package func checkpoint(_ kind: Checkpoint, busyTimeout: Int32) throws -> Bool {
    // SQLite asks this only as it closes the log.
    guard !isDisplaced else { return false }
    // Only for this call: a client's usual timeout may be far longer.
    sqlite3_busy_timeout(handle, busyTimeout)
    defer { sqlite3_busy_timeout(handle, self.busyTimeout) }
    let result = try rows("PRAGMA wal_checkpoint(\(kind.rawValue))").first ?? []
    // Busy, pages in the log, pages of them in the file.
    return result.count == 3 && result[0] == .integer(0) && result[1] == result[2]
  }

  /// The error for a code that a call returned, when the connection may hold none.
  func error(code: Int32) -> any Error {
    failure(SQLiteError(code: code, message: String(cString: sqlite3_errstr(code))))
  }

  /// The error that SQLite holds for the connection's last call.
  func error(_ sql: String = "") -> any Error {
    failure(
      SQLiteError(
        code: sqlite3_extended_errcode(handle), systemError: sqlite3_system_errno(handle),
        message: String(cString: sqlite3_errmsg(handle)), sql: sql))
  }
}

// MARK: - Interrupting

extension SQLiteConnection {
  /// The number of SQLite's own steps between two checks whether a statement may go on: some milliseconds.
  package static let stepsPerQuestion: Int32 = 100_000

  /// Runs a body whose statements go on only until `question` throws; its error is rethrown.
  ///
  /// An interrupted statement has no effect. The body may not use this function itself.
  package func interruptibly<Result>(
    _ question: () throws -> Void, _ body: () throws -> Result
  ) throws -> Result {
    try withoutActuallyEscaping(question) { question in
      // SQLite asks while a statement runs, so the question does not outlive the body.
      let interruption = Interruption(question)
      let context = Unmanaged.passUnretained(interruption).toOpaque()
      sqlite3_progress_handler(
        handle, Self.stepsPerQuestion,
        { context in
          guard let context else { return 0 }
          let interruption = Unmanaged<Interruption>.fromOpaque(context).takeUnretainedValue()
          return interruption.isWanted() ? 1 : 0
        }, context)
      // Before the object that the handler points to ends.
      defer { sqlite3_progress_handler(handle, 0, nil, nil) }
      do {
        return try withExtendedLifetime(interruption) { try body() }
      } catch {
        // SQLite's error only says that the statement was interrupted.
        throw interruption.reason ?? error
      }
    }
  }
}

/// Checks whether to go on, and keeps the reason if not.
private final class Interruption {
  /// Throws to end the statement.
  private let question: () throws -> Void
  /// What the question has thrown.
  private(set) var reason: (any Error)?

  init(_ question: @escaping () throws -> Void) { self.question = question }

  /// Whether the statement has to end. Once that is so, the question isn't asked again: the first reason counts.
  func isWanted() -> Bool {
    guard reason == nil else { return true }
    do {
      try question()
    } catch {
      reason = error
    }
    return reason != nil
  }
}

// MARK: - The log

extension SQLiteConnection {
  /// The longest pause between two attempts to change the journal, in microseconds.
  private static let pauseLimit: useconds_t = 20_000

  /// Has the file use a write-ahead log, and returns whether it does.
  ///
  /// Nothing is written if it does so already. The change needs the write lock. SQLite takes that while it reads, and so
  /// asks no busy handler: it fails at once while another connection writes, as when several programs create one file.
  /// This pauses between attempts for as long as the connection is patient. An attempt may itself wait as long, where
  /// another connection keeps it from reading, so that a stopped process which creates the file holds this up for longer.
  ///
  /// - Parameter pause: Sleeps, since nothing tells when a lock is free; called between two attempts with a number of microseconds.
  package func useLog(pause: (useconds_t) -> Void = { usleep($0) }) throws -> Bool {
    var left = Int64(busyTimeout) * 1000
    var length: useconds_t = 1000
    while true {
      do {
        return try rows("PRAGMA journal_mode = WAL").first?.first == .text("wal")
      } catch {
        // The thrown error is the client's, so SQLite is asked for its code.
        guard sqlite3_errcode(handle) & 0xff == SQLITE_BUSY, left > 0 else { throw error }
      }
      pause(length)
      left -= Int64(length)
      // Doubled, so that a long wait costs few attempts; limited, so that a free lock is soon
      // noticed.
      length = min(length * 2, Self.pauseLimit)
    }
  }
}

// MARK: - Errors

/// An error that SQLite reported.
///
/// Contains the statement's SQL, and none of its parameters.
package struct SQLiteError: Error, Equatable {
  /// SQLite's extended result code; see <https://sqlite.org/rescode.html>.
  package let code: Int32
  /// The `errno` of the call of the system that failed, for errors of files; 0 where there is none.
  package let systemError: Int32
  /// SQLite's own message.
  package let message: String
  /// The statement; empty for an action without one, such as opening a file.
  package let sql: String

  package init(code: Int32, systemError: Int32 = 0, message: String, sql: String = "") {
    self.code = code
    self.systemError = systemError
    self.message = message
    self.sql = sql
  }

  /// Damage that a file's content reveals before SQLite itself notices.
  package static func damaged(_ message: String) -> SQLiteError {
    SQLiteError(code: SQLITE_CORRUPT, message: message)
  }

  /// Whether a file, such as the log, ends before the bytes that it should have.
  package var isOfShortFile: Bool { code == SQLITE_IOERR | (2 << 8) }

  /// What a caller of SQLite can act on. `locked` may be over at once, `full` needs space, `damaged` a restored file,
  /// and `view` is a view that this connection may not read; the others are faults of the caller or of the system.
  package enum Kind: Equatable {
    case full, damaged, locked, readOnly, notOpened, disk, constraint, interrupted, view, other
  }

  /// The beginning of SQLite's message for a view that may not be read; it has no code for that.
  private static let refusedView = "access to view"

  /// Whether a file could not be made or extended for want of space. SQLite has `SQLITE_FULL` only for its writes: the
  /// index of a log, or a file's first byte, fail by `SQLITE_IOERR` or `SQLITE_CANTOPEN`.
  private var isOfFullDisk: Bool {
    // A short read is no failed call, so the number is an earlier one's.
    (systemError == ENOSPC || systemError == EDQUOT) && !isOfShortFile
  }

  /// The kind of the error, by the primary result code: the lowest 8 bits of the extended one.
  package var kind: Kind {
    switch code & 0xff {
    // Before the plain codes: a full disk has another remedy than a failing one.
    case SQLITE_IOERR where isOfFullDisk, SQLITE_CANTOPEN where isOfFullDisk: .full
    case SQLITE_FULL: .full
    case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
    case SQLITE_BUSY, SQLITE_LOCKED: .locked
    case SQLITE_READONLY: .readOnly
    case SQLITE_CANTOPEN: .notOpened
    case SQLITE_IOERR: .disk
    case SQLITE_CONSTRAINT: .constraint
    case SQLITE_INTERRUPT: .interrupted
    case SQLITE_ERROR where message.hasPrefix(Self.refusedView): .view
    default: .other
    }
  }
}

extension SQLiteError: CustomStringConvertible {
  package var description: String {
    sql.isEmpty ? "\(message) (SQLite \(code))" : "\(message) (SQLite \(code)) in: \(sql)"
  }
}
