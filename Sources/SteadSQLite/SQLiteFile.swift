import CSteadSQLite
import Foundation

/// The file of a database, handled without a connection.
package enum SQLiteFile {
  /// Creates an empty file that only its owner may read, unless one exists; SQLite copies its mode to the
  /// files that it creates next to it.
  ///
  /// SQLite itself would let everybody read it. Does nothing where the file system cannot do this: opening
  /// the database then creates the file, or reports why not.
  package static func makePrivate(at path: String) {
    // Created without a descriptor: closing one on the file itself would release the locks that connections
    // of this process may hold on it by then. Fails when anything exists there, even a symbolic link that
    // leads nowhere.
    if mknod(path, S_IFREG | 0o600, 0) == 0 {
      // A umask may have withheld even its owner's permissions.
      _ = fchmodat(AT_FDCWD, path, 0o600, AT_SYMLINK_NOFOLLOW)
      return
    }
    if errno == EEXIST { return }
    // On Apple's systems only the superuser may do that. So it is created under another name, which remains
    // if the process is killed within these lines.
    let draft = "\(path)-\(UUID().uuidString)"
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    _ = fchmod(descriptor, 0o600)
    close(descriptor)
    link(draft, path)
    unlink(draft)
  }

  /// The first bytes of a file; none when it is shorter or cannot be read.
  ///
  /// Reads through SQLite's own file layer, which keeps a file open while connections of this process hold locks on
  /// it: closing any other descriptor of the file would release their locks, and another process would then remove
  /// the log that they use (https://www.sqlite.org/howtocorrupt.html, section 2.2).
  package static func start(of path: String, count: Int) -> [UInt8] {
    guard let system = sqlite3_vfs_find(nil) else { return [] }
    // A file object has a size that only the file layer knows.
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: Int(system.pointee.szOsFile), alignment: MemoryLayout<Int>.alignment)
    defer { memory.deallocate() }
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: Int(system.pointee.szOsFile))
    let file = memory.assumingMemoryBound(to: sqlite3_file.self)
    // SQLite searches for parameters after the name, up to a second NUL.
    return (path.utf8CString + [0]).withUnsafeBufferPointer { name in
      let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB
      guard system.pointee.xOpen(system, name.baseAddress, file, flags, nil) == SQLITE_OK,
        let methods = file.pointee.pMethods
      else { return [] }
      defer { _ = methods.pointee.xClose(file) }
      var bytes = [UInt8](repeating: 0, count: count)
      let code = methods.pointee.xRead(file, &bytes, Int32(count), 0)
      // A shorter file gives SQLITE_IOERR_SHORT_READ, and so no bytes.
      return code == SQLITE_OK ? bytes : []
    }
  }
}

extension SQLiteFile {
  /// Where SQLite puts its temporary files.
  ///
  /// The first directory that can be written, in the order of <https://sqlite.org/tempfiles.html>.
  package static var temporaryDirectory: String {
    let environment = ProcessInfo.processInfo.environment
    let named = ["SQLITE_TMPDIR", "TMPDIR"].compactMap { environment[$0] }
    let usual = ["/var/tmp", "/usr/tmp", "/tmp"]
    return (named + usual).first { access($0, W_OK | X_OK) == 0 } ?? "."
  }
}

// MARK: - Options

/// How a connection is opened.
package struct SQLiteOptions: Sendable {
  /// Where a database is stored.
  package enum Location: Sendable {
    /// A file, by its path.
    case file(String)
    /// Memory that only this connection sees, and that ends with it.
    case memory
  }

  /// The file, or memory.
  package var location: Location
  /// Whether the connection may write.
  package var isWritable = true
  /// Whether a connection that may write creates a missing file.
  package var makesFile = true
  /// Whether only the file itself is read as it is, without its log, its locks, and any file next to it; for
  /// one that nobody writes to meanwhile. The connection does not write then.
  package var isImmutable = false
  /// How long a statement waits for the locks of other connections, in milliseconds.
  package var busyTimeout: Int32 = 0
  /// The page cache, in KiB; nil keeps SQLite's default, which is 2,000.
  package var cacheSize: Int?
  /// Whether views can be read. Off, since a file with views where tables are expected was made by somebody else.
  package var readsViews = false
  /// Whether the file's schema may call functions of SQLite that aren't marked harmless. SQLite before 3.42
  /// doesn't mark JSON functions and FTS5. Our functions are out of its reach anyway.
  package var trustsSchema = false
  /// Functions and collations that SQLite lacks.
  package var functions: [SQLFunction] = []
  /// Collations that SQLite lacks.
  package var collations: [SQLCollation] = []
  /// What the connection throws instead of a ``SQLiteError``.
  package var failure: @Sendable (SQLiteError) -> any Error = { $0 }

  /// The options of a connection that may write and creates a missing file.
  package init(_ location: Location) { self.location = location }
}

/// Limits that keep a crafted file, or a statement built from a huge value, from taking all memory.
package enum SQLiteLimit {
  /// The longest statement, in bytes. Values are parameters and do not count.
  package static let statementLength: Int32 = 1_000_000
  /// The maximum depth of an expression.
  package static let expressionDepth: Int32 = 1_000
  /// How many triggers may activate one another.
  package static let triggerDepth: Int32 = 20
  /// How many databases a statement may attach: `VACUUM` needs one.
  package static let attachedDatabases: Int32 = 1
}

// MARK: - Copying

extension SQLiteConnection {
  /// The number of pages copied between two reports: 1 MiB at the usual page size.
  package static let pagesPerReport: Int32 = 256

  /// Copies the database into a file that is empty or does not exist yet, and that only its owner may read.
  /// The copy is on the disk when this returns.
  ///
  /// It copies what the open transaction sees, or otherwise the last commit. Costs reading and writing all
  /// pages. Other connections may read and write meanwhile.
  ///
  /// - Parameter progress: Called with the numbers of copied pages and of all pages; throwing an error ends
  ///   the copying, and leaves a file that isn't a database.
  package func copy(
    to path: String, _ progress: (_ copied: Int, _ total: Int) throws -> Void = { _, _ in }
  ) throws {
    SQLiteFile.makePrivate(at: path)
    var status = stat()
    guard stat(path, &status) != 0 || status.st_size == 0 else {
      throw failure(
        SQLiteError(code: SQLITE_CANTOPEN, message: "the copy would replace a file"))
    }
    var options = SQLiteOptions(.file(path))
    options.failure = failure
    let target = try SQLiteConnection(options)
    // An unfinished copy is thrown away, so nothing has to be rolled back.
    try target.execute("PRAGMA journal_mode = OFF")
    let ownsSnapshot = !isInTransaction
    if ownsSnapshot { try execute("BEGIN") }
    defer { if ownsSnapshot { try? execute("ROLLBACK") } }
    // Without a snapshot each commit of another connection would restart the copying.
    _ = try integer("SELECT count(*) FROM sqlite_schema")
    let backup = try SQLiteBackup(from: self, into: target)
    var isComplete = false
    while !isComplete {
      isComplete = try !backup.step(Self.pagesPerReport)
      try progress(backup.total - backup.remaining, backup.total)
    }
    try backup.finish()
  }
}

/// Replaces a database's pages with those of another, in one transaction.
///
/// Every connection to the destination sees either its old content or all of the new content, even if this
/// process is killed meanwhile. Both must have the same page size if the destination has a log. See
/// <https://sqlite.org/c3ref/backup_finish.html>.
///
/// ```swift
/// let backup = try SQLiteBackup(from: source, into: destination)
/// try backup.lock()
/// while try backup.step() { report(backup.total - backup.remaining, backup.total) }
/// try backup.finish()
/// ```
package final class SQLiteBackup {
  /// The default number of pages copied at once: 4 MB at the usual page size.
  package static let pageStep: Int32 = 1024

  /// Kept until the backup ends, as SQLite reads it meanwhile.
  private let source: SQLiteConnection
  /// Kept until the backup ends, as SQLite writes to it meanwhile.
  private let destination: SQLiteConnection
  /// SQLite's `sqlite3_backup`; nil once it is finished.
  private var handle: OpaquePointer?

  /// Begins a backup. Copies and locks nothing yet.
  ///
  /// - Parameter destination: A connection without an open transaction, which is used for nothing else until the
  ///   backup is finished.
  package init(from source: SQLiteConnection, into destination: SQLiteConnection) throws {
    self.source = source
    self.destination = destination
    handle = sqlite3_backup_init(destination.handle, "main", source.handle, "main")
    guard handle != nil else { throw destination.error() }
  }

  deinit { sqlite3_backup_finish(handle) }

  /// Takes the destination's write lock, which is held until ``finish()``.
  package func lock() throws { _ = try step(0) }

  /// Copies pages, and returns whether any are left; the step that copies the last ones commits.
  package func step(_ pages: Int32 = pageStep) throws -> Bool {
    switch sqlite3_backup_step(handle, pages) {
    case SQLITE_DONE: return false
    case SQLITE_OK: return true
    case let code: throw destination.error(code: code)
    }
  }

  /// How many pages are left, as of the last step.
  package var remaining: Int { Int(sqlite3_backup_remaining(handle)) }
  /// How many pages the source has, as of the last step.
  package var total: Int { Int(sqlite3_backup_pagecount(handle)) }

  /// Ends the backup, and rolls back what was copied if pages are left.
  package func finish() throws {
    let code = sqlite3_backup_finish(handle)
    // `deinit` then passes NULL, which SQLite ignores.
    handle = nil
    guard code == SQLITE_OK else { throw destination.error(code: code) }
  }
}
