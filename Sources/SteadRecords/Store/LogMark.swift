import SteadSQLite

/// A bit in a store's file that means: the write-ahead log has commits that this file lacks.
///
/// SQLite writes commits to the log, and later moves them into the file (a checkpoint). Nothing in the file says that a
/// log exists: without it, the file is an older state of the store, or an empty one. So while the log has commits of its
/// own, the file has a mark, and a file with the mark and without a log is refused.
///
/// The mark is a bit of `PRAGMA user_version`, which is in the file's header. In this order, it never contradicts what
/// a connection reads:
///
/// 1. A commit sets the bit, and a checkpoint moves it into the file, with all commits before.
/// 2. The next commit removes the bit. It is in the log alone: whoever reads the file with its log sees no mark.
/// 3. The commits that follow are in the log, too. Each checkpoint that moves them, of any program, also moves the commit
///    of step 2, and so removes the mark from the file. The next transaction then begins with step 1.
///
/// Step 1 fails where a reader needs an older state for longer than ``readerTimeout``. Then the file has no mark, and the
/// attempt is repeated after some transactions.
struct LogMark {
  /// Above all formats. A version of this library that does not know the bit refuses the file as one of a later format.
  static let bit: Int64 = 0x1_0000
  /// How long the marking waits for readers of older states, in milliseconds. Snapshots that nobody reads are ended
  /// earlier than that, in other processes, too.
  static let readerTimeout = Int32(ReaderPool.snapshotTimeout + 20)
  /// The most transactions between two attempts.
  static let attemptLimit = 256

  /// Whether a user version has the mark.
  static func isSet(in userVersion: Int64) -> Bool { userVersion & bit != 0 }

  /// The version of the store's format in a user version.
  static func format(in userVersion: Int64) -> Int64 { userVersion & ~bit }

  /// How many transactions lie between two attempts.
  private var interval = 1
  /// How many of them are left.
  private var wait = 0

  /// Whether an unmarked file should be marked before this transaction. Each call counts as one transaction.
  mutating func isDue() -> Bool {
    if wait == 0 { return true }
    wait -= 1
    return false
  }

  /// Records whether an attempt has marked the file; the interval between attempts doubles with each failure.
  mutating func recordAttempt(isMarked: Bool) {
    interval = isMarked ? 1 : min(interval * 2, Self.attemptLimit)
    wait = isMarked ? 0 : interval
  }
}

extension StoreConnection {
  /// Marks the file, if that is due, in the transaction that has begun with the write lock. Another one then replaces it.
  ///
  /// Two commits, the steps 1 and 2 of ``LogMark``. Invariant: whenever the process is killed, a reader of the file with its
  /// log sees no mark, or the mark of step 1 alone, which the next writer completes (`isHalfDone`). The log's name is written
  /// with both commits, and gets its version only if the checkpoint between them was complete.
  ///
  /// Costs two syncs of the disk the first time, and again each time that the whole log was moved into the file.
  ///
  /// - Parameters:
  ///   - header: The file's, as the transaction began.
  ///   - commit: Makes a commit of the mark, which changes no row, with ``commit()``.
  ///   - endSnapshots: Ends snapshots of this process that nobody reads, which would keep the mark from the file.
  ///   - namesLog: Whether the log gets a name, by which it is known to belong to the file: see ``LogName``.
  func markFile(
    _ header: SQLiteConnection.FileHeader, namesLog: Bool, committing commit: () throws -> Void,
    _ endSnapshots: () -> Void
  ) throws {
    let version = try integer("PRAGMA user_version") ?? 0
    let isHalfDone = LogMark.isSet(in: version)
    // `isDue` counts transactions, so it is only asked of an unmarked file.
    guard isHalfDone || !header.hasLogMark && logMark.isDue() else { return }
    var name: LogName?
    // If it is half done, a process that was killed has made step 1.
    if !isHalfDone {
      try execute("PRAGMA user_version = \(version | LogMark.bit)")
      if namesLog { name = try addLogName() }
      // What the file has once the checkpoint is complete.
      name?.version = try tablesVersion()
      try commit()
      endSnapshots()
      // Between two transactions, since SQLite refuses a checkpoint within one. If it is
      // incomplete, the file may lack the new name, and all names stay.
      if try !checkpoint(.full, busyTimeout: LogMark.readerTimeout) { name = nil }
      logMark.recordAttempt(isMarked: fileHeader.hasLogMark)
      try beginImmediate()
    }
    try removeLogMark()
    if namesLog { try writeLogNames(from: name) }
    try commit()
    try beginImmediate()
  }

  /// Makes the second commit of the marking, if the process that set the mark was ended before. The next checkpoint, as
  /// when the store is closed, would leave a marked file without a log.
  ///
  /// - Parameter commit: As with ``markFile(_:namesLog:committing:_:)``.
  func finishLogMark(committing commit: () throws -> Void) throws {
    guard LogMark.isSet(in: try integer("PRAGMA user_version") ?? 0) else { return }
    try beginImmediate()
    try removeLogMark()
    // All names: nobody knows whether the checkpoint of step 1 was complete.
    try writeLogNames(from: nil)
    try commit()
  }

  /// Removes the mark from what the connection sees, if that has it.
  func removeLogMark() throws {
    let version = try integer("PRAGMA user_version") ?? 0
    guard LogMark.isSet(in: version) else { return }
    try execute("PRAGMA user_version = \(LogMark.format(in: version))")
  }
}

extension SQLiteConnection.FileHeader {
  /// Whether the file itself has the mark, whatever the log has.
  fileprivate var hasLogMark: Bool {
    userVersion.map { LogMark.isSet(in: Int64($0)) } ?? false
  }
}

// MARK: - The name of the log

/// The name of a log's beginning, by which a log is known to belong to its file: a generation number of the pair.
///
/// SQLite applies a log to whatever file it finds beside it: to one of yesterday that was put in the store's place, or
/// to another store. Then pages of two states are mixed. So each mark (see ``LogMark``) has a name, a random one, in a row of
/// `stead_metadata`:
///
/// 1. The commit that sets the mark puts a new name before the names that the row has.
/// 2. The commit that removes the mark writes the row again, so that it is in the log. If a checkpoint has moved all of
///    the first commit into the file, it leaves only the names from the new one on.
///
/// So the row as seen with the log has the first name of the row in the file alone, at every moment: older names are
/// removed only once the file has the new one. A file that was replaced has another one.
///
/// A backup gets a name of its own: the log that was there when it was made would otherwise take it for its file.
///
/// A copy that another program makes through SQLite reads the log, and so has the names that the log has. But it has
/// another version of the tables (`PRAGMA schema_version`), a number that only grows with the changes of one file:
/// `VACUUM INTO` adds one, and `.backup` counts from one. So step 2 adds to the name the version that the tables had in step
/// 1, if the checkpoint was complete. The file itself has that version by then, durably. So it never has an earlier one,
/// also after a loss of power has torn a later checkpoint: only a copy can.
///
/// For example, `3w5e11264sgsf 1y2p0ij32e8e7.5` is a new name without a version, and an older one,
/// whose file has had version 5 of the tables.
struct LogName {
  /// The key in `stead_metadata`.
  static let key = "log"
  /// The most names of a row. When nothing has emptied the log for that many marks, it keeps the names it has: the file
  /// may have any of them.
  static let limit = 32

  /// The random part.
  let word: Substring
  /// A version of the tables that the file has had durably; 0 while none is known.
  var version: Int64

  /// Whether the name says which versions of the tables its file may have.
  var hasVersion: Bool { version > 0 }

  /// A random name without a version.
  static func random() -> LogName {
    LogName(word: String(UInt64.random(in: .min ... .max), radix: 36)[...], version: 0)
  }

  /// Reads names from the stored text, in its order: `word` or `word.version`, separated by spaces.
  static func names(in value: SQLValue?) -> [LogName] {
    guard case .text(let text)? = value else { return [] }
    return text.split(separator: " ").map { name in
      let parts = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
      return LogName(word: parts[0], version: parts.last.flatMap { Int64($0) } ?? 0)
    }
  }

  /// As it is stored.
  var text: String { hasVersion ? "\(word).\(version)" : String(word) }
}

extension StoreConnection {
  /// The names of the log, newest first; none in a store of an earlier version.
  func logNames() throws -> [LogName] {
    LogName.names(
      in: try rows("SELECT value FROM stead_metadata WHERE key = ?1", [.text(LogName.key)])
        .first?.first)
  }

  /// The version of the tables, which each change of them, and each copying by SQLite, changes.
  func tablesVersion() throws -> Int64 { try integer("PRAGMA schema_version") ?? 0 }

  /// Adds a name without a version, and returns it; the newest one if there are too many.
  func addLogName() throws -> LogName {
    let names = try logNames()
    if names.count >= LogName.limit, let newest = names.first { return newest }
    let name = LogName.random()
    try setLogNames([name] + names)
    return name
  }

  /// Has the newest name say nothing about the version of the tables, which the open transaction may have changed.
  ///
  /// The store may be a copy that SQLite made, of an earlier version than its names say.
  func nameChangedTables() throws {
    let names = try logNames()
    // There are few: the commit that gave the newest one its version has removed the older ones.
    if names.first?.hasVersion ?? true { try setLogNames([LogName.random()] + names) }
  }

  /// Writes the names into the log, whether they change or not: what a log lacks is read from whatever file it is
  /// beside.
  ///
  /// - Parameter name: The oldest name to keep, with its version; nil for all.
  func writeLogNames(from name: LogName?) throws {
    // A store of an earlier version has none before its first mark.
    let names = try logNames()
    if names.isEmpty { return }
    guard let name, let index = names.firstIndex(where: { $0.word == name.word }) else {
      return try setLogNames(names)
    }
    try setLogNames(names[..<index] + [name])
  }

  /// Gives a copy of a store a name that no log has.
  func replaceLogNames() throws { try setLogNames([LogName.random()]) }

  /// Writes the row, newest name first.
  private func setLogNames(_ names: [LogName]) throws {
    try run(
      "INSERT OR REPLACE INTO stead_metadata VALUES (?1, ?2)",
      [.text(LogName.key), .text(names.map(\.text).joined(separator: " "))])
  }
}

/// The names and versions in a store's file, read alone or with its log.
private struct StoreState: Equatable {
  /// The names of the log, newest first.
  let names: [Substring]
  /// The version of the tables that the newest name has.
  let namedVersion: Int64
  /// The version of the tables.
  let version: Int64
  /// The number of the last commit; nil if its pages can't be read, as where those of two files are mixed.
  let newest: Int64?
  /// The number of the oldest commit in the history; nil if there is none, or it can't be read.
  let oldest: Int64?

  /// Reads the state in a connection's snapshot.
  ///
  /// - Throws: SQLite's errors, if the names or the version cannot be read.
  init(_ connection: StoreConnection) throws {
    let names = try connection.logNames()
    self.names = names.map(\.word)
    namedVersion = names.first?.version ?? 0
    version = try connection.tablesVersion()
    newest = try? connection.lastCommit().number
    oldest = try? connection.integer("SELECT min(number) FROM \(HistoryTable.name)")
  }

  /// Whether a file was never as the store is with the log, or was at an earlier moment.
  ///
  /// - Parameter file: The state of the file alone.
  func isForeign(_ file: StoreState) -> Bool {
    // The version only grows, and the log has the newest one of its file.
    if file.version > version { return true }
    // One of the two was written by a version of this library without names.
    guard let name = file.names.first, !names.isEmpty else { return false }
    // The log keeps every name that its file may have.
    guard names.contains(name) else { return true }
    // A copy that took the store's place, with a log of its own, has an earlier version with the log, too. Once its tables
    // were prepared, its log has a newer name.
    return name == names.first && file.version < namedVersion && namedVersion <= version
  }

  /// Whether a file has commits that the store lacks with the log: a log of this file from before its last commits, which
  /// were moved into the file when the program ended. Neither number ever falls.
  ///
  /// - Parameter file: The state of the file alone. While a checkpoint moves pages into it, and for good once one was cut
  ///   short, it has pages of two states, and then its numbers mean nothing.
  func lacksCommits(of file: StoreState) -> Bool {
    if let newest, let number = file.newest, number > newest { return true }
    if let oldest, let number = file.oldest, number > oldest { return true }
    return false
  }
}

extension StoreConnection {
  /// Whether the file's tables have the structure that they should have. Costs a read of the file.
  fileprivate var isSound: Bool {
    (try? rows("PRAGMA quick_check(1)"))?.first?.first == .text("ok")
  }
}

extension StoreFile {
  /// Throws if the log is not that of the file.
  func checkLogName() throws {
    let connection = try open(writable: false)
    try connection.begin()
    defer { try? connection.execute("ROLLBACK") }
    // While this snapshot is open, a checkpoint moves no commit into the file that the snapshot lacks.
    // What cannot be read proves nothing.
    guard let state = try? StoreState(connection) else { return }
    var last: StoreState?
    for _ in 0..<Self.readingLimit {
      // A page may be read while a checkpoint writes it, or none may be readable without the log.
      guard let alone = try? openAlone(), let file = try? StoreState(alone) else { return }
      guard state.isForeign(file) || state.lacksCommits(of: file) && alone.isSound else { return }
      // The same twice: no checkpoint is changing it just now.
      if file == last { break }
      last = file
    }
    let path = configuration.url.path
    throw SwiftDataError(
      .unreadableStore,
      "\(path) and its log, \(path.fileName)-wal, don't belong together: one of the two was replaced, as by a backup that "
        + "was copied over the file while the log of the file before stayed. Both were left untouched. If the file is the "
        + "right one, move the log away, with \(path.fileName)-shm; else put the file back that the log belongs to."
    )
  }

  /// How often the file is read until it has the same twice.
  static var readingLimit: Int { 10 }
}
