/// The mark in a store's file that says: the log has commits that this file lacks.
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
/// Step 1 fails where a reader needs an older state for longer than ``readerPatience``. Then the file has no mark, and the
/// attempt is repeated after some transactions.
struct LogMark {
  /// Above all formats. A version of this library that does not know the bit refuses the file as one of a later format.
  static let bit: Int64 = 0x1_0000
  /// Where the header has the user version.
  static let headerOffset: Int64 = 60
  /// How long the marking waits for readers of older states, in milliseconds. Snapshots that nobody reads are ended
  /// earlier than that, in other processes, too.
  static let readerPatience = Int32(ReaderPool.snapshotPatience + 20)
  /// The most transactions between two attempts.
  static let attemptLimit = 256

  static func isSet(in userVersion: Int64) -> Bool { userVersion & bit != 0 }

  /// The version of the store's format in a user version.
  static func format(in userVersion: Int64) -> Int64 { userVersion & ~bit }

  private var interval = 1
  private var wait = 0

  /// Whether an unmarked file should be marked before this transaction.
  mutating func isDue() -> Bool {
    if wait == 0 { return true }
    wait -= 1
    return false
  }

  /// Notes whether an attempt has marked the file.
  mutating func note(isMarked: Bool) {
    interval = isMarked ? 1 : min(interval * 2, Self.attemptLimit)
    wait = isMarked ? 0 : interval
  }
}

extension StoreConnection {
  /// Marks the file, if that is due, in the transaction that has begun with the write lock. Another one then replaces it.
  ///
  /// Costs two syncs of the disk the first time, and again each time that the whole log was moved into the file.
  ///
  /// - Parameters:
  ///   - commit: Makes a commit of the mark, which changes no row, with ``commit()``.
  ///   - endSnapshots: Ends snapshots of this process that nobody reads, which would keep the mark from the file.
  ///   - namesLog: Whether the log gets a name, by which it is known to belong to the file: see ``LogName``.
  func markFile(
    namesLog: Bool, committing commit: () throws -> Void, _ endSnapshots: () -> Void
  ) throws {
    let version = try integer("PRAGMA user_version") ?? 0
    let isHalfDone = LogMark.isSet(in: version)
    guard isHalfDone || !isFileMarked && logMark.isDue() else { return }
    var name: LogName?
    if !isHalfDone {
      try execute("PRAGMA user_version = \(version | LogMark.bit)")
      if namesLog { name = try addLogName() }
      name?.version = try tablesVersion()
      try commit()
      endSnapshots()
      if try !checkpoint(.full, patience: LogMark.readerPatience) { name = nil }
      logMark.note(isMarked: isFileMarked)
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
  /// - Parameter commit: As with ``markFile(namesLog:committing:_:)``.
  func finishLogMark(committing commit: () throws -> Void) throws {
    guard LogMark.isSet(in: try integer("PRAGMA user_version") ?? 0) else { return }
    try beginImmediate()
    try removeLogMark()
    try writeLogNames(from: nil)
    try commit()
  }

  /// Whether the file itself has the mark, whatever the log has.
  private var isFileMarked: Bool {
    number(inFileAt: LogMark.headerOffset).map { LogMark.isSet(in: Int64($0)) } ?? false
  }

  /// Removes the mark from what the connection sees, if that has it.
  func removeLogMark() throws {
    let version = try integer("PRAGMA user_version") ?? 0
    guard LogMark.isSet(in: version) else { return }
    try execute("PRAGMA user_version = \(LogMark.format(in: version))")
  }
}
