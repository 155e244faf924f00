import Foundation
import SteadFiles

/// One domain: keys and values, in a property list file with its journal or in memory alone.
///
/// Every domain is one of these: the files of an app, a user or an administrator, and the arguments and
/// registered defaults, which are never written. Safe on any thread, and in the child of a fork.
final class DomainStore: Sendable {
  /// The domain's name, such as `com.example.notes`.
  let name: String
  let options: DomainStore.Options
  let state: ForkSafeLock<State>

  /// A domain that lives as long as this object.
  init(inMemory name: String, options: DomainStore.Options = DomainStore.Options()) {
    self.name = name
    self.options = options
    state = ForkSafeLock(State())
  }

  /// A domain in a property list file and a journal, which other processes may write, too.
  ///
  /// - Throws: ``PreferencesError`` when the files cannot be read or are of a newer version.
  init(_ name: String, directory: URL, options: DomainStore.Options) throws {
    self.name = name
    self.options = options
    let file = try DomainFile(name: name, directory: directory, options: options)
    var first = State()
    first.file = file
    state = ForkSafeLock(first)
    try state.withLock { state in
      try state.changing { replay in
        // Nobody else uses the store yet. Another process may have begun a compaction in place since the journal was opened.
        file.journal.lockWait = options.lockWait
        try file.catchUp(&replay)
        file.journal.lockWait = .zero
        file.writeOrLoadWaiting(&replay)
      }
    }
    file.recordLogLength()
    refresh()
  }

  // MARK: Reading

  /// The value of a key; nil when the domain has none.
  @inline(__always)
  func value(forKey key: String) -> PropertyList? {
    var hasEvents = false
    let value = state.withLock { state -> PropertyList? in
      if state.isStale, let file = state.file { hasEvents = state.catchUp(file) }
      return state.table[key]
    }
    if hasEvents { deliverLater() }
    return value
  }

  /// All keys and values in the files, read again independently of the memory; in no particular order.
  ///
  /// Costs reading both files. A domain in memory returns its contents.
  func storedContents() throws -> [PropertyList.Fields.Field] {
    guard let directory = state.withLock({ state in state.file?.directory }) else {
      return contents()
    }
    // Not registered, so that nobody else reads from this one.
    return try DomainStore(
      name, directory: directory, options: DomainStore.Options(isReadOnly: true)
    )
    .contents()
  }

  /// Whether the files are read-only.
  var isReadOnly: Bool {
    options.isReadOnly || state.withLock { $0.file.map { $0.isReadOnly && !$0.isPlain } ?? false }
  }

  /// Whether both are the same domain; one that is opened twice, with other options, has two objects.
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
    /// The maximum size of keys and values in bytes; a write beyond it is refused with `.quotaExceeded`.
    var quota: Int?
    /// The format in which the property list is published.
    var format = PropertyList.Format.binary
    /// How long a call waits while another process has the files locked.
    var lockWait = Journal.lockWaitLimit
    /// How long a call waits for its turn while other processes write.
    var contendedLockWait = LockDeadline.contendedLimit
    /// See ``DomainFile/logLimit``.
    var logLimit = DomainFile.logLimit
    /// See ``DomainFile/waitingLogLimit``.
    var waitingLogLimit = DomainFile.waitingLogLimit
  }

  // MARK: - State

  /// What the lock protects.
  struct State {
    var table = DomainTable()
    var file: DomainFile? {
      didSet { journal = file.map { .passUnretained($0.journal) } }
    }
    /// The file's, which lives as long as that. Counting references would double the time of a read.
    fileprivate var journal: Unmanaged<Journal>?
    /// The file's, which lives as long as that. Counting references would double the time of a read.
    var byteCount: Int?
    var handlers: [UInt64: @Sendable (DomainEvent) -> Void] = [:]
    var problemHandlers: [UInt64: @Sendable (PreferencesError) -> Void] = [:]
    var lastHandler: UInt64 = 0
    var externalChanges = ExternalChangeCounts()
    /// Events that handlers have yet to receive, in order.
    var pendingEvents: [DomainEvent] = []
    /// The event that is being delivered.
    var eventInDelivery: DomainEvent?
    /// The number of the last event.
    var lastEvent: UInt64 = 0
    var deliveryToken = DeliveryToken()
    var watcher: FileWatcher?
    /// Whether another attempt to watch is planned.
    var isWatchPlanned = false
  }
}

extension DomainStore.State {
  /// Whether other processes have written since the table was updated.
  @inline(__always)
  var isStale: Bool { journal?._withUnsafeGuaranteedRef { journal in journal.hasNews } ?? false }

  /// Adopts the object that reads and writes now, since the files could not be written before.
  mutating func useJournal(of file: DomainFile) {
    file.hasNewJournal = false
    journal = .passUnretained(file.journal)
    guard !handlers.isEmpty else { return }
    do {
      try file.journal.listen()
    } catch {
      file.problems.add(PreferencesError(error, domain: file.name))
    }
  }

  var hasPendingEvents: Bool { !pendingEvents.isEmpty || file?.problems.isEmpty == false }

  /// Lets `body` change the table, which is kept even if it throws.
  @inline(__always)
  mutating func changing<Result>(_ body: (inout Replay) throws -> Result) rethrows -> Result {
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

  /// Applies other processes' changes, and returns whether there is mail.
  mutating func catchUp(_ file: DomainFile) -> Bool {
    reporting(file) { replay in try file.catchUp(&replay) }
  }

  /// Runs a body whose errors become mail, and returns whether it has produced mail.
  ///
  /// Events posted by another thread are left for that thread to deliver, which would otherwise continue
  /// before its handlers are called.
  mutating func reporting(_ file: DomainFile, _ body: (inout Replay) throws -> Void) -> Bool {
    let before = pendingEvents.count
    do {
      try changing(body)
    } catch let error as FileError where error.code == .busy || error.code == .changed {
      // Somebody is writing, or overwrites the journal at this moment. The next read applies what they write.
    } catch {
      file.problems.add(PreferencesError(error, domain: file.name))
    }
    // Nobody takes care of a lock that a change did not keep.
    if file.hasNewlyKeptLock { file.journal.freeKeptLock() }
    return pendingEvents.count > before || !file.problems.isEmpty
  }

  @inline(__always)
  private mutating func post(_ replay: Replay) {
    guard replay.isCollecting else { return }
    // Other processes' records precede the ones written here.
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

/// Counts what was added to a domain's table from elsewhere: for caches derived from the table, which have to
/// know whether they are still valid.
struct ExternalChangeCounts: Equatable, Sendable {
  /// Records of other processes that were applied one by one.
  var records: UInt64 = 0
  /// How often the contents were replaced as a whole: by a new checkpoint, or an edit by hand.
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
  /// `body` runs under the domain's lock: it must not take another, nor call a program's own code.
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
