import Foundation
import SteadFiles

/// One preferences domain: a table of keys and values in memory, backed by a journal and a property
/// list, or by nothing.
///
/// All domains of the search list have this type: the files of the app, the user and the
/// administrator, and the argument and registration domains, which have none. Safe on any thread,
/// and in the child of a fork.
///
/// Three layers share the work:
///
/// - The store has the lock, and does what must happen without it: it waits for other processes,
///   calls handlers and starts threads.
/// - ``DomainFile`` reads and writes the files. Once it is open it never waits for another process
///   but throws `.busy`, so that reads in this process go on while the store waits.
/// - ``Replay`` applies records and edits to the table, and collects the events that handlers get.
///
/// Locks do not nest: nothing that takes another lock, and no code of the program, runs under the
/// store's.
final class DomainStore: Sendable {
  /// The domain's name, such as `com.example.notes`.
  let name: String
  let options: DomainStore.Options
  let state: ForkSafeLock<State>

  /// Makes a domain without files, which is gone with this object.
  init(inMemory name: String, options: DomainStore.Options = DomainStore.Options()) {
    self.name = name
    self.options = options
    state = ForkSafeLock(State())
  }

  /// Opens a domain in a property list and a journal, which other processes may write, too.
  ///
  /// Reads the journal, in time proportional to its length, then edits of the property list and the
  /// waiting file.
  ///
  /// - Throws: ``PreferencesError`` when the files cannot be read or are of a newer version.
  init(_ name: String, directory: URL, options: DomainStore.Options) throws {
    self.name = name
    self.options = options
    let file = try DomainFile(name: name, directory: directory, options: options)
    var first = State()
    first.file = file
    state = ForkSafeLock(first)
    // A handler cannot exist yet, so nothing is delivered, and problems wait for the first problem
    // handler.
    try state.withLock { state in
      try state.changing { replay in
        // No other thread uses the store yet. Another process may have begun a compaction in place
        // since the journal was opened.
        file.journal.lockWait = options.lockWait
        try file.catchUp(&replay)
        file.journal.lockWait = .zero
        file.writeOrLoadWaiting(&replay)
      }
    }
    // Once everything is read: an earlier program may have left a log that its background
    // compaction did not finish.
    file.recordLogLength()
    // Finds edits of the property list, of which the journal knows nothing.
    refresh()
  }

  // MARK: - Reading

  /// The value of a key; nil when the domain has none.
  ///
  /// Applies other processes' records first. Whether there are any costs one load from the mapped
  /// journal; a look-up takes 30 to 45 ns.
  @inline(__always)
  func value(forKey key: String) -> PropertyList? {
    var hasEvents = false
    let value = state.withLock { state -> PropertyList? in
      if state.isStale, let file = state.file { hasEvents = state.catchUp(file) }
      return state.table[key]
    }
    // On another thread: a reader may hold locks that a handler takes.
    if hasEvents { deliverLater() }
    return value
  }

  /// The keys and values in the files, read again without using what is in memory; in no particular
  /// order.
  ///
  /// Costs reading both files. A domain in memory returns its contents.
  func storedContents() throws -> [PropertyList.Fields.Field] {
    guard let directory = state.withLock({ state in state.file?.directory }) else {
      return contents()
    }
    // Not registered, so that no other caller reads through this one.
    return try DomainStore(
      name, directory: directory, options: DomainStore.Options(isReadOnly: true)
    )
    .contents()
  }

  /// Whether writing is impossible, by request or because the files allow no more. A plain file can
  /// be written.
  var isReadOnly: Bool {
    options.isReadOnly || state.withLock { $0.file.map { $0.isReadOnly && !$0.isPlain } ?? false }
  }

  /// Whether both objects are the same domain: one that is opened twice with different options has
  /// two objects.
  func isSame(as other: DomainStore) -> Bool {
    guard self !== other else { return true }
    let path = state.withLock { state in state.file?.plist.standardizedFileURL.path }
    return path != nil
      && path == other.state.withLock { state in state.file?.plist.standardizedFileURL.path }
  }

  /// All keys and values, in no particular order.
  func contents() -> [PropertyList.Fields.Field] {
    var hasEvents = false
    let fields = state.withLock { state in
      if state.isStale, let file = state.file { hasEvents = state.catchUp(file) }
      return state.table.fields()
    }
    if hasEvents { deliverLater() }
    return fields
  }
}

// MARK: - Options

extension DomainStore {
  /// How a domain's file is opened.
  struct Options: Sendable, Hashable {
    /// Whether writes are refused with `PreferencesError.Code.readOnly`.
    var isReadOnly = false
    /// The maximum size of keys and values in bytes; a write beyond it is refused with
    /// `.quotaExceeded`.
    var quota: Int?
    /// The format in which the property list is published.
    var format = PropertyList.Format.binary
    /// How long a call waits for a process that has the files locked and writes nothing. After that
    /// it counts as stopped.
    var lockWait = Journal.lockWaitLimit
    /// How long a call waits for the lock while other processes write, and so are not stopped.
    var contendedLockWait = LockDeadline.contendedLimit
    /// See ``DomainFile/logLimit``.
    var logLimit = DomainFile.logLimit
    /// See ``DomainFile/waitingLogLimit``.
    var waitingLogLimit = DomainFile.waitingLogLimit
  }

  // MARK: - State

  /// What the store's lock protects.
  struct State {
    /// The contents: what has been read of the files, with deferred edits on top.
    var table = DomainTable()
    var file: DomainFile? {
      didSet { journal = file.map { .passUnretained($0.journal) } }
    }
    /// The file's, which lives as long as that. Counting references would double the time of a
    /// read.
    fileprivate var journal: Unmanaged<Journal>?
    /// The size that counts toward the quota, in bytes; nil until the first write with a quota
    /// computes it.
    var byteCount: Int?
    /// The handlers of changes by their tokens; tokens ascend, so that handlers are called in the
    /// order of registration.
    var handlers: [UInt64: @Sendable (DomainEvent) -> Void] = [:]
    /// The handlers of errors that no call could throw.
    var problemHandlers: [UInt64: @Sendable (PreferencesError) -> Void] = [:]
    /// The last token, of either kind.
    var lastHandler: UInt64 = 0
    /// The version of the table for caches that are derived from it.
    var externalChanges = ExternalChangeCounts()
    /// Events that handlers have yet to receive, in order.
    var pendingEvents: [DomainEvent] = []
    /// The event that is being delivered.
    var eventInDelivery: DomainEvent?
    /// The number of the last event.
    var lastEvent: UInt64 = 0
    /// Held by the thread that delivers events.
    var deliveryToken = DeliveryToken()
    var watcher: FileWatcher?
    /// Whether another attempt to watch is planned.
    var isWatchPlanned = false
  }
}

extension DomainStore.State {
  /// Whether other processes have written since the table was updated: one load from mapped memory,
  /// no system call.
  @inline(__always)
  var isStale: Bool { journal?._withUnsafeGuaranteedRef { journal in journal.hasNews } ?? false }

  /// Reads through the journal that the file has opened for writing, since it could only be read
  /// before.
  mutating func useJournal(of file: DomainFile) {
    file.hasNewJournal = false
    journal = .passUnretained(file.journal)
    // Listening belongs to the journal object; the new one must wake this process for its handlers.
    guard !handlers.isEmpty else { return }
    do {
      try file.journal.listen()
    } catch {
      file.problems.add(PreferencesError(error, domain: file.name))
    }
  }

  /// Whether ``DomainStore/deliver()`` has anything to do.
  var hasPendingEvents: Bool { !pendingEvents.isEmpty || file?.problems.isEmpty == false }

  /// Passes the table to `body` as a ``Replay``, and enqueues events for what has changed.
  ///
  /// Changes stay even if `body` throws: records that were read before the error are in the
  /// journal.
  @inline(__always)
  mutating func changing<Result>(_ body: (inout Replay) throws -> Result) rethrows -> Result {
    // Moved, not copied: with a second owner of its arrays, the first change would copy the whole
    // table.
    var replay = Replay(
      table: DomainTable(), byteCount: byteCount, isCollecting: !handlers.isEmpty)
    swap(&replay.table, &table)
    defer {
      swap(&replay.table, &table)
      byteCount = replay.byteCount
      externalChanges.add(replay.externalChanges)
      post(replay)
    }
    return try body(&replay)
  }

  /// Applies other processes' records, and returns whether there is something to deliver.
  mutating func catchUp(_ file: DomainFile) -> Bool {
    reporting(file) { replay in try file.catchUp(&replay) }
  }

  /// Runs a body whose errors become problems, and returns whether there is something to deliver.
  ///
  /// Counts only events that the body has added. Events of another thread's write are delivered by
  /// that thread before its call returns; if this thread took them, a handler could be called after
  /// the write had returned.
  mutating func reporting(_ file: DomainFile, _ body: (inout Replay) throws -> Void) -> Bool {
    let before = pendingEvents.count
    do {
      try changing(body)
    } catch let error as FileError where error.code == .busy || error.code == .changed {
      // Another process is writing, or overwrites the journal at this moment. The next read applies
      // what they write.
    } catch {
      file.problems.add(PreferencesError(error, domain: file.name))
    }
    // Only ``DomainStore/change(_:)`` starts a thread that releases a kept lock.
    if file.hasNewlyKeptLock { file.journal.freeKeptLock() }
    return pendingEvents.count > before || !file.problems.isEmpty
  }

  @inline(__always)
  private mutating func post(_ replay: Replay) {
    guard replay.isCollecting else { return }
    // Other processes' records precede the ones written here. Two events, since a handler may ask
    // for others' changes alone.
    let others = replay.otherChanges
    if !others.isEmpty { post(others, isOwn: false) }
    if !replay.ownChanges.isEmpty {
      post(replay.ownChanges, isOwn: true)
    }
  }

  mutating func post(_ changes: [DomainEvent.Change], isOwn: Bool) {
    lastEvent += 1
    pendingEvents.append(DomainEvent(number: lastEvent, changes: changes, isOwn: isOwn))
  }
}

// MARK: - Versions of the table

/// The version of a table for caches derived from it: counts the changes that this process did not
/// make.
///
/// A ``PayloadHistory`` compares the counts with those of its last read. If they are equal, only
/// its own changes, or those of another history in this process, can have come in between.
struct ExternalChangeCounts: Equatable, Sendable {
  /// Records of other processes that were applied one by one.
  var records: UInt64 = 0
  /// How often the contents were replaced as a whole: by another checkpoint or an edit of the
  /// property list.
  var rewrites: UInt64 = 0

  @inline(__always)
  mutating func add(_ more: ExternalChangeCounts) {
    records &+= more.records
    rewrites &+= more.rewrites
  }
}

extension DomainStore {
  /// Reads several keys as of one moment, including other processes' changes so far.
  ///
  /// `body` runs under the store's lock. It must not take another lock, nor call the program's
  /// code.
  func withTable<Result>(_ body: (borrowing DomainTable, ExternalChangeCounts) -> Result) -> Result
  {
    var hasEvents = false
    let result = state.withLock { state -> Result in
      if state.isStale, let file = state.file { hasEvents = state.catchUp(file) }
      return body(state.table, state.externalChanges)
    }
    if hasEvents { deliverLater() }
    return result
  }
}
