import SteadFiles
import Synchronization

/// What the contexts of this process have committed to one store, by the commits' numbers.
///
/// Each commit adds a numbered row to the store's history, in the same transaction. So a reader, which sees that
/// number in its snapshot, knows exactly which commits the snapshot has: the numbers that this log lacks are other
/// processes'. All containers on a store share one log.
///
/// Its locks are the last ones of a thread: no code of an app runs under them, and no other lock is taken.
final class CommitLog: Sendable {
  /// How many commits are remembered; a context that is further behind takes everything as changed.
  static let commitLimit = 512
  /// How many rows the remembered commits name together.
  static let rowLimit = 65_536

  /// The rows that commits wrote, by table. Most commits write few rows of one or two tables, for which
  /// arrays take less time than sets.
  struct Rows: Sendable {
    /// The rows of one table. Of a class hierarchy there is one table, by whose name contexts look the rows up.
    struct Table: Sendable {
      let name: String
      /// Inserted, updated and deleted rows, and those whose to-many relationships changed; a row may be
      /// named more than once.
      var written: [Int64]
      /// The deleted ones among them.
      var deleted: [Int64] = []
    }

    private(set) var tables: [Table] = []

    var count: Int { tables.reduce(0) { $0 + $1.written.count } }

    /// The rows of a table; nil if none of it was written. Linear in the number of tables, which is
    /// small.
    func table(_ name: String) -> Table? { tables.first { $0.name == name } }

    /// Adds rows, to those of the same table if there are some.
    mutating func add(_ table: Table) {
      if let place = tables.firstIndex(where: { $0.name == table.name }) {
        tables[place].written += table.written
        tables[place].deleted += table.deleted
      } else {
        tables.append(table)
      }
    }
  }

  /// A commit by its number, and the stamp of its transaction.
  struct Point: Sendable {
    var number: Int64
    var stamp: Int64
  }

  /// What other contexts have committed between two snapshots.
  enum News {
    /// No other context has committed.
    case nothing
    /// Other contexts have written these rows, and no others.
    case rows(Rows)
    /// Another process committed, or more than the log remembers.
    case everything
  }

  /// A commit of this process, as long as it is remembered.
  private struct Commit {
    let number: Int64
    /// The context that committed; nil for a writer that is none, whose rows concern every context.
    let author: ObjectIdentifier?
    /// nil if any row may have changed.
    var rows: Rows?
    let rowCount: Int
  }

  /// A context that asks for turns, held weakly: it ends without leaving the list, which drops it later.
  private struct Listener {
    weak var context: CommitListener?
  }

  /// What the log remembers, guarded by one lock.
  private struct Content {
    /// The commits from `first` on are remembered. Earlier ones are removed many at a time, so that a commit costs the
    /// same however many there are.
    var commits: [Commit] = []
    var first = 0
    var rowCount = 0
    var contextCount = 0
    var listeners: [Listener] = []
  }

  private let content = Mutex(Content())
  /// The greatest number that this process knows; look-ups may share a snapshot that has it.
  private let newest = Atomic<Int64>(0)
  /// The greatest stamp of a commit that this process knows.
  private let stamp = Atomic<Int64>(0)
  /// The greatest number that listeners were notified of, or that this process has committed itself. It may not be the
  /// newest known one: a context that fetches may learn of another process's commit before the listeners do.
  private let told = Atomic<Int64>(0)

  /// How often the file was seen changed by a program that does not count its commits.
  private let outsiders = Atomic<UInt64>(0)

  /// How often a change without a number was seen. It only rises.
  var outsiderCount: UInt64 { outsiders.load(ordering: .acquiring) }

  /// Records that the file changed though its number did not: all contexts take everything as changed.
  func noteOutsider() { outsiders.add(1, ordering: .acquiringAndReleasing) }

  // MARK: Transactions of this process

  // SQLite only says that the file has changed. It also says so while a transaction of this process is being written,
  // before its number shows: the first commit after a checkpoint begins the log again. So changes are judged by two
  // moments between which no such transaction was open.

  private let begun = Atomic<UInt64>(0)
  private let ended = Atomic<UInt64>(0)
  private let quiet = Atomic<UInt64>(0)

  /// How many transactions were begun that write to the file.
  var begunCount: UInt64 { begun.load(ordering: .acquiring) }
  /// How many of them have ended.
  var endedCount: UInt64 { ended.load(ordering: .acquiring) }
  /// A sequence counter, as of a seqlock. It changes before and after each commit of this process that changes the
  /// file, but neither the commits' number nor a row: the mark of the log (``LogMark``), and maintenance.
  var quietCount: UInt64 { quiet.load(ordering: .acquiring) }

  /// Records that a transaction is about to begin; before it takes the file's write lock.
  func transactionBegins() { begun.add(1, ordering: .acquiringAndReleasing) }

  /// Records that a transaction has released the file's write lock, after a commit or a rollback.
  func transactionEnds() { ended.add(1, ordering: .acquiringAndReleasing) }

  /// Makes a commit that has no number, within a transaction that was recorded by ``transactionBegins()``.
  ///
  /// `quietCount` changes before and after it: a reader whose snapshot falls between cannot tell whether it has the
  /// commit, and does not take it for another program's.
  ///
  /// - Parameter commit: Calls ``StoreConnection/commit()``.
  func commitQuietly(_ connection: StoreConnection, _ commit: () throws -> Void) throws {
    // Compared first: this commit sets the state anew, which would hide another program's change.
    let number = try connection.lastCommit().number
    look(connection, number)
    quiet.add(1, ordering: .acquiringAndReleasing)
    defer { quiet.add(1, ordering: .acquiringAndReleasing) }
    try self.commit(connection, as: number, commit)
  }

  // MARK: Changes by other programs

  /// The file after a commit: its number, and how many commits had been made to the file then, by SQLite's count.
  private struct FileState: Equatable {
    var number: Int64
    var commitCount: UInt32
  }

  // A commit that changed the count and not the number is another program's. One state for all containers: what one
  // commits hides nothing from the others, also when it is closed afterwards.
  private let state = Mutex<FileState?>(nil)

  /// Records a change by a program that counts no commits, if there was one since the last look or commit of this process.
  ///
  /// - Parameters:
  ///   - connection: It has the write lock.
  ///   - number: That of the last commit that it sees.
  func look(_ connection: StoreConnection, _ number: Int64) {
    // Without an index of the log there is no count to compare.
    guard let count = connection.commitCount else { return }
    let seen = FileState(number: number, commitCount: count)
    if state.withLock({ Self.replace(&$0, by: seen) }) { noteOutsider() }
  }

  /// The same with a snapshot, without the write lock.
  ///
  /// - Parameter connection: It is in no transaction.
  /// - Returns: Whether it could be found out: not while a transaction of this process is open, nor if another program
  ///   has just made a commit.
  func look(_ connection: StoreConnection) -> Bool {
    // Read before `begunCount`: a transaction that begins in between makes the two differ.
    let ended = endedCount
    guard begunCount == ended else { return false }
    // In this order: a snapshot that begins between two equal counts has that count.
    let count = connection.commitCount
    guard (try? connection.begin()) != nil else { return false }
    defer { try? connection.execute("ROLLBACK") }
    guard let number = try? connection.lastCommit().number, connection.commitCount == count else {
      return false
    }
    guard let count else { return true }
    let seen = FileState(number: number, commitCount: count)
    // Asked with the state's lock: a transaction that begins later also sets the state later.
    let isForeign: Bool? = state.withLock { state in
      begunCount == ended ? Self.replace(&state, by: seen) : nil
    }
    if isForeign == true { noteOutsider() }
    return isForeign != nil
  }

  /// - Returns: Whether the file was changed without a number.
  private static func replace(_ state: inout FileState?, by seen: FileState) -> Bool {
    // The state moves on in any case, so that a change is noted once.
    defer { state = seen }
    // The first look has nothing to compare with.
    guard let state else { return false }
    return state.number == seen.number && state.commitCount != seen.commitCount
  }

  /// Makes a commit with the state known that it leads to, before anybody sees it.
  ///
  /// - Parameter number: The number of the last commit afterwards.
  func commit(
    _ connection: StoreConnection, as number: Int64, _ commit: () throws -> Void
  ) throws {
    guard let count = connection.commitCount else { return try commit() }
    let next = FileState(number: number, commitCount: count &+ 1)
    let before = state.withLock { state in
      defer { state = next }
      return state
    }
    let pages = connection.writtenPages
    do {
      try commit()
    } catch {
      state.withLock { if $0 == next { $0 = before } }
      throw error
    }
    // SQLite doesn't count a commit that changes no page.
    guard connection.writtenPages == pages else { return }
    state.withLock { if $0 == next { $0?.commitCount = count } }
  }

  // MARK: Contexts

  /// Counts a context for ``hasSeveralContexts``, until ``removeContext()``.
  func addContext() { content.withLock { $0.contextCount += 1 } }

  /// Ends the count of a context.
  func removeContext() { content.withLock { $0.contextCount -= 1 } }

  /// Whether a commit's rows are worth collecting: another context may ask for them.
  var hasSeveralContexts: Bool { content.withLock { $0.contextCount > 1 } }

  // MARK: Commits

  /// The greatest number of a commit that this process knows, of whichever process.
  var newestNumber: Int64 { newest.load(ordering: .acquiring) }

  /// The greatest stamp of a transaction that this process knows.
  var newestStamp: Int64 { stamp.load(ordering: .acquiring) }

  /// Records a commit that is about to be made; no reader sees its number before.
  ///
  /// Called within the write transaction, so numbers rise. Costs the same however many commits are remembered: the
  /// oldest are only skipped, and removed many at a time.
  func post(_ number: Int64, from author: ObjectIdentifier?, rows: Rows?) {
    content.withLock { content in
      let count = rows?.count ?? 0
      content.commits.append(Commit(number: number, author: author, rows: rows, rowCount: count))
      content.rowCount += count
      // Both limits bound the log's memory. A context that needs a forgotten commit reads
      // everything.
      while content.commits.count - content.first > Self.commitLimit
        || content.rowCount > Self.rowLimit
      {
        content.rowCount -= content.commits[content.first].rowCount
        // The rows are freed at once; the entry goes with many others.
        content.commits[content.first].rows = nil
        content.first += 1
      }
      if content.first > Self.commitLimit {
        content.commits.removeFirst(content.first)
        content.first = 0
      }
    }
  }

  /// Takes back a commit that was not made.
  func retract(_ number: Int64) {
    // From the end, where the commits of the open transaction are.
    content.withLock { content in
      guard let place = content.commits.lastIndex(where: { $0.number == number }),
        place >= content.first
      else { return }
      content.rowCount -= content.commits[place].rowCount
      content.commits.remove(at: place)
    }
  }

  /// Records that a commit was made; from now on look-ups need a snapshot that has it.
  func didCommit(_ commit: Point) {
    Self.raise(newest, to: commit.number)
    Self.raise(stamp, to: commit.stamp)
  }

  /// Raises a counter to a number, and returns whether it was less. Threads may come with their numbers in any order.
  @discardableResult
  private static func raise(_ value: borrowing Atomic<Int64>, to number: Int64) -> Bool {
    // Another thread may raise it between the load and the exchange.
    var known = value.load(ordering: .relaxed)
    while known < number {
      let (exchanged, current) = value.compareExchange(
        expected: known, desired: number, ordering: .acquiringAndReleasing)
      if exchanged { return true }
      known = current
    }
    return false
  }

  /// Records that listeners know of a commit, or are about to; returns whether they did not know it before.
  @discardableResult
  func tell(_ number: Int64) -> Bool { Self.raise(told, to: number) }

  /// What all but one context have committed after one number, up to another.
  ///
  /// Invariant: rows are only returned if the log has every commit of that range, without a gap. A missing number is
  /// another process's commit, or was forgotten, and then any row may have changed.
  func news(after seen: Int64, upTo number: Int64, for reader: ObjectIdentifier) -> News {
    guard number > seen else { return number == seen ? .nothing : .everything }
    return content.withLock { content in
      var result = Rows()
      var isAny = false
      var wanted = number
      // The newest are last, and most readers only want those.
      for commit in content.commits[content.first...].reversed() where commit.number <= number {
        if commit.number <= seen { break }
        guard commit.number == wanted else { return .everything }
        wanted -= 1
        if commit.author == reader { continue }
        // The writer named no rows, so any may have changed.
        guard let rows = commit.rows else { return .everything }
        isAny = true
        for table in rows.tables { result.add(table) }
      }
      // The range begins before the first commit that is remembered.
      guard wanted == seen else { return .everything }
      return isAny ? .rows(result) : .nothing
    }
  }

  // MARK: Listeners

  /// Asks for a turn of a context after each commit of another context, until the context ends.
  func listen(_ context: CommitListener) {
    content.withLock { content in
      // Contexts leave nothing behind as they end, so ended ones are removed here.
      content.listeners.removeAll { $0.context == nil || $0.context === context }
      content.listeners.append(Listener(context: context))
    }
  }

  /// Asks all listening contexts but the author to look for commits.
  func notify(from author: ObjectIdentifier? = nil) {
    let contexts = content.withLock { content in content.listeners.compactMap(\.context) }
    // Without the lock, under which no code of a context may run.
    for context in contexts where context.reader != author { context.schedule() }
  }

  // MARK: All logs

  /// A log in the registry, which ends with its last container.
  private struct WeakLog: Sendable { weak var log: CommitLog? }
  /// The logs of the open stores, by their names.
  private static let logs = Mutex<[String: WeakLog]>([:])

  /// The log of the store with a name, one for all containers. It exists as long as one of them has it.
  static func of(_ identifier: String) -> CommitLog {
    logs.withLock { logs in
      if let log = logs[identifier]?.log { return log }
      // Ended logs are removed as one is made, so that there are only as many as open stores.
      logs = logs.filter { $0.value.log != nil }
      let log = CommitLog()
      logs[identifier] = WeakLog(log: log)
      return log
    }
  }
}

extension CommitLog {
  /// The name of a store's log. A store and its copy have one identifier, but separate commits.
  static func name(
    _ identity: RecordStore.Identity, _ configuration: ModelConfiguration
  ) throws -> String {
    if configuration.isStoredInMemoryOnly { return identity.identifier }
    // By device and inode: two paths to one file share a log, and a copy has another one.
    guard let status = try POSIXDisk().status(at: configuration.url.path) else {
      return identity.identifier
    }
    // Not the description of the whole value, since that searches the program's conformances.
    return "\(identity.identifier) \(status.identity.device) \(status.identity.file)"
  }
}

// MARK: - Listeners

/// What other threads hold of a context: its identity, and how to give it a turn.
final class CommitListener: Sendable {
  /// The context's function, and whether it was called for a turn that has not begun.
  private struct Content {
    var turn: (@Sendable () -> Void)?
    var isScheduled = false
  }

  private let content = Mutex(Content())

  /// The identity by which the log tells a context's own commits from others.
  var reader: ObjectIdentifier { ObjectIdentifier(self) }

  /// Whether a turn can be requested. Otherwise commits are found when the context next reads.
  var hasTurns: Bool { content.withLock { $0.turn != nil } }

  /// Sets the function that requests a turn on the context's executor.
  ///
  /// It is called by any thread that commits, which may have the locks of other stores. So it must only enqueue the
  /// turn, and neither run it nor wait.
  func setTurn(_ turn: @escaping @Sendable () -> Void) {
    content.withLock { $0.turn = turn }
  }

  /// Asks for a turn, unless one is scheduled already; returns whether the context has turns.
  @discardableResult
  func schedule() -> Bool {
    let turn = content.withLock { content -> (isKnown: Bool, turn: (@Sendable () -> Void)?) in
      guard let turn = content.turn else { return (false, nil) }
      // The turn to come finds this commit, too.
      if content.isScheduled { return (true, nil) }
      content.isScheduled = true
      return (true, turn)
    }
    // Without the lock, which `turnBegins()` takes.
    turn.turn?()
    return turn.isKnown
  }

  /// Lets the next request schedule another turn. Called as the turn begins, since what happens during it may come
  /// too late for it.
  func turnBegins() { content.withLock { $0.isScheduled = false } }
}

// MARK: - Runs of rows

/// The numbers of rows that a save deletes, as ranges without gaps and single ones.
///
/// One DELETE of a range takes a fraction of the time of a DELETE for each row, and objects that were fetched together often
/// have consecutive numbers.
///
/// The rows 1 to 20 and 30 become the range `1...20` and the single row 30.
struct RowRuns {
  /// The fewest rows that are worth a range.
  static let shortest = 16

  /// Ranges without gaps, of ``shortest`` or more numbers.
  private(set) var runs: [ClosedRange<Int64>] = []
  /// All other numbers, in rising order.
  private(set) var singles: [Int64] = []

  init(_ rows: [Int64]) {
    // Objects are deleted in any order.
    let rows = rows.sorted()
    var start = 0
    // Equal numbers belong to one run, too.
    for index in rows.indices.dropFirst() where rows[index] > rows[index - 1] + 1 {
      add(rows[start..<index])
      start = index
    }
    add(rows[start...])
  }

  /// Adds numbers without a gap, as a range if they are enough.
  private mutating func add(_ run: ArraySlice<Int64>) {
    guard let first = run.first, let last = run.last else { return }
    if run.count >= Self.shortest { runs.append(first...last) } else { singles += run }
  }
}
