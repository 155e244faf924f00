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
        file.takeWaiting(&replay)
      }
    }
    file.noteLogLength()
    refresh()
  }

  // MARK: Reading

  /// The value of a key; nil when the domain has none.
  @inline(__always)
  func value(forKey key: String) -> PropertyList? {
    var hasNews = false
    let value = state.withLock { state -> PropertyList? in
      if state.hasNews, let file = state.file { hasNews = state.catchUp(file) }
      return state.table[key]
    }
    if hasNews { deliverLater() }
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
    let place = state.withLock { state in state.file?.plist.standardizedFileURL.path }
    return place != nil
      && place == other.state.withLock { state in state.file?.plist.standardizedFileURL.path }
  }

  /// All keys and values, in no particular order.
  func contents() -> [PropertyList.Fields.Field] {
    var hasNews = false
    let fields = state.withLock { state in
      if state.hasNews, let file = state.file { hasNews = state.catchUp(file) }
      return state.table.fields()
    }
    if hasNews { deliverLater() }
    return fields
  }

  // MARK: Writing

  /// Sets a value; nil removes the key.
  ///
  /// When it returns, the value survives the end of the process, however that ends. When it throws
  /// `.unavailable` or `.locked`, the value is kept, in memory or in the waiting file, and written when that is possible.
  @inline(__always)
  func set(_ value: PropertyList?, forKey key: String) throws {
    try changing(keeping: { _ in [DomainEdit(key: key, value: value)] }) { replay, file in
      if let file {
        try file.set(value, forKey: key, &replay)
      } else {
        try replay.checkQuota(options.quota, key, value)
        replay.edit(key, value, isOwn: true)
      }
    }
  }

  /// Makes several changes as one: other processes see all of them or none.
  func apply(_ edits: [DomainEdit]) throws {
    guard !edits.isEmpty else { return }
    try changing(keeping: { _ in edits }) { replay, file in
      if let file {
        try file.apply(edits, &replay)
        return
      }
      try replay.checkQuota(options.quota, edits)
      for edit in edits { replay.edit(edit.key, edit.value, isOwn: true) }
    }
  }

  /// Makes several changes as one if the keys of `expected` have its values, and returns whether they did.
  ///
  /// Nobody, in this process or another, writes between the check and the changes. When it throws, nothing has changed.
  func apply(_ edits: [DomainEdit], ifStill expected: [DomainEdit]) throws -> Bool {
    var isDone = false
    try changing(isConditional: true) { replay, file in
      if let file {
        isDone = try file.apply(edits, ifStill: expected, &replay)
        return
      }
      guard replay.holds(expected) else { return }
      try replay.checkQuota(options.quota, edits)
      for edit in edits { replay.edit(edit.key, edit.value, isOwn: true) }
      isDone = true
    }
    return isDone
  }

  /// Replaces all contents with `fields`.
  ///
  /// A domain in memory may represent other programs' values; its changes are then not this process's.
  func replaceContents(with fields: PropertyList.Fields, isOwn: Bool = true) throws {
    try changing(keeping: { replay in replay.table.edits(to: fields) }) { replay, file in
      if let file { return try file.replaceContents(with: fields, &replay) }
      let edits = replay.table.edits(to: fields)
      try replay.checkQuota(options.quota, edits)
      for edit in edits { replay.edit(edit.key, edit.value, isOwn: isOwn) }
    }
  }

  // MARK: Safety

  /// Returns once everything that was set survives a power loss.
  ///
  /// - Throws: ``PreferencesError`` while some values could not be written, and when the disk fails.
  func flush() throws {
    try changing { replay, file in
      guard let file, !options.isReadOnly else { return }
      // Each change of a plain file is durable.
      if file.isPlain { return try file.payDebts(&replay) }
      if file.isReadOnly { try file.becomeWritable() }
      // A caller that only wants certainty need not wait for a stopped process.
      if file.hasOwnDebts || !file.journal.isInPlace { try file.look(&replay) }
      if file.hasOwnDebts { try file.payDebts(&replay) }
    }
    let flusher = state.withLock { state in state.file?.journal.flusher }
    do {
      try flusher?.flush()
    } catch let error as FileError where error.code == .damaged {
      // Values that the disk has not stored are in memory, and are written to another place.
      try changing { replay, file in try file?.rewrite(&replay) }
      try state.withLock { state in state.file?.journal.flusher }?.flush()
    }
  }

  /// Flushes as ``flush()`` does, and updates the property list file.
  func checkpoint() throws {
    var isBeingWritten = false
    try changing { replay, file in
      try file?.checkpoint(&replay)
      isBeingWritten = file?.isBeingWritten ?? false
    }
    if isBeingWritten { refreshLater() }
    try flush()
  }

  /// Checks immediately whether others have changed the files, and returns whether they could be read.
  ///
  /// Problem handlers are called with what could not be read.
  @discardableResult
  func refresh() -> Bool {
    let place = state.withLock { state in state.file.map { ($0.plist, $0.lastSeen) } }
    // A failure recurs in the reading that others wait for, which reports it.
    let reading = place.flatMap { plist, lastSeen in
      try? DomainFile.Reading(plist, lastSeen: lastSeen)
    }
    let (hasMail, isBeingWritten, hasProblem) = state.withLock { state -> (Bool, Bool, Bool) in
      guard let file = state.file else { return (false, false, false) }
      file.reading = reading
      defer { file.reading = nil }
      let hasMail = state.reporting(file) { replay in
        if !file.isReadOnly, !file.journal.isInPlace { try file.look(&replay) }
        try file.takeInEdits(&replay)
      }
      return (hasMail, file.isBeingWritten, !file.problems.isEmpty)
    }
    if hasMail { deliver() }
    if isBeingWritten { refreshLater() }
    return !hasProblem
  }

  /// Throws if the domain has no files, and none can be made.
  ///
  /// - Throws: ``FileError`` that says why.
  func checkFiles() throws {
    var obstacle: FileError?
    try change { _, file in
      guard let file, file.isReadOnly, !options.isReadOnly, !file.isPlain, !file.hasFiles else {
        return
      }
      do {
        try file.becomeWritable()
      } catch let error as FileError {
        if !file.isPlain { obstacle = error }
      }
    }
    if let obstacle { throw obstacle }
  }

  /// Makes a change, which is kept until it can be written.
  ///
  /// - Parameters:
  ///   - edits: What is kept.
  ///   - isConditional: Whether the change depends on what the files have, so that nothing of it is kept.
  @inline(__always)
  func changing(
    keeping edits: (Replay) -> [DomainEdit] = { _ in [] }, isConditional: Bool = false,
    _ body: (inout Replay, DomainFile?) throws -> Void
  ) throws {
    do {
      try change(body)
    } catch let error as FileError where error.isObstacle || error.code == .changed {
      try changeLater(error, edits, isConditional, body)
    }
  }

  /// Retries a failed change without keeping others waiting, then keeps it in memory.
  @inline(never)
  private func changeLater(
    _ first: FileError, _ edits: (Replay) -> [DomainEdit], _ isConditional: Bool,
    _ body: (inout Replay, DomainFile?) throws -> Void
  ) throws {
    var error = first
    // Others that read or write here needn't wait for a process to which the lock is left.
    while error.code == .busy,
      let wait = state.withLock({ state in state.file?.journal.leftLockWait })
    {
      wait.wait()
      do {
        return try change(body)
      } catch let next as FileError where next.isObstacle || next.code == .changed {
        error = next
      }
    }
    defer { state.withLock { state in state.file?.journal.withdrawRequest() } }
    // A process that is stopped is waited for once, not by every call.
    let isStuck = state.withLock { state in state.file?.isHolderKnownToBeStuck ?? false }
    var turns = LockTurns(
      limit: isStuck ? .zero : options.lockWait, contended: options.contendedLockWait,
      tail: journalTail)
    var pause: Int64 = 20
    while error.code == .busy || error.code == .changed, turns.goesOn(tail: journalTail) {
      let wait = state.withLock { state in state.file?.journal.insistOnLock() }
      wait?.wait(atMost: pause)
      pause = min(pause * 2, 1_000)
      do {
        return try change(body)
      } catch let next as FileError where next.isObstacle || next.code == .changed {
        error = next
      }
    }
    if error.code == .busy { state.withLock { state in state.file?.noteStuckHolder() } }
    try keep(edits, isConditional, error)
  }

  private var journalTail: UInt64? {
    state.withLock { state in state.file?.journal.tailWord }
  }

  private func keep(
    _ edits: (Replay) -> [DomainEdit], _ isConditional: Bool, _ error: FileError
  ) throws {
    var isFirst = true
    var values = PreferencesError.ValuesPlace.memory
    try change { replay, file in
      let edits = edits(replay)
      defer { values = isConditional ? .notMade : file?.valuesPlace ?? .memory }
      guard let file, !edits.isEmpty else { return }
      try replay.checkQuota(options.quota, edits)
      // What no record can hold could never be written.
      for edit in edits { _ = try DomainRecord.byteCount(edit.key, edit.value) }
      isFirst = file.keep(edits)
      for edit in edits { replay.edit(edit.key, edit.value, isOwn: true) }
    }
    if values == .memory { outliveItsUsers() }
    let directory = state.withLock { state in state.file?.directory }
    throw PreferencesError(
      notWritten: error, domain: name, directory, values: values, isRepetition: !isFirst)
  }

  @inline(__always)
  private func change(_ body: (inout Replay, DomainFile?) throws -> Void) throws {
    var hasMail = false
    var isCompactionDue = false
    var hasKeptLock = false
    defer {
      if hasKeptLock { freeLockLater() }
      if hasMail { deliver() }
      if isCompactionDue { compactLater() }
    }
    try state.withLock { state in
      let file = state.file
      file?.journal.leavesLock = true
      defer {
        if let file {
          file.journal.leavesLock = false
          if file.hasNewJournal { state.adoptJournal(of: file) }
          if file.compaction == .due {
            file.compaction = .underWay(generation: forkGeneration)
            isCompactionDue = true
          }
          if file.hasNewlyKeptLock {
            file.lockFreeingGeneration = forkGeneration
            hasKeptLock = true
          }
        }
        hasMail = state.hasMail
      }
      try state.changing { replay in try body(&replay, file) }
    }
  }
}

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
    var contendedLockWait = LockTurns.contendedLimit
    /// See ``DomainFile/logLimit``.
    var logLimit = DomainFile.logLimit
    /// See ``DomainFile/waitingLogLimit``.
    var waitingLogLimit = DomainFile.waitingLogLimit
  }
}

extension DomainStore {
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
    var marks = DomainMarks()
    /// Events that handlers have yet to receive, in order.
    var mail: [DomainEvent] = []
    /// The event that is being delivered.
    var underWay: DomainEvent?
    /// The number of the last event.
    var lastEvent: UInt64 = 0
    var turn = DeliveryTurn()
    var watcher: FileWatcher?
    /// Whether another attempt to watch is planned.
    var isWatchPlanned = false
  }
}

extension DomainStore.State {
  /// Whether other processes have written since the table was updated.
  @inline(__always)
  var hasNews: Bool { journal?._withUnsafeGuaranteedRef { journal in journal.hasNews } ?? false }

  /// Adopts the object that reads and writes now, since the files could not be written before.
  mutating func adoptJournal(of file: DomainFile) {
    file.hasNewJournal = false
    journal = .passUnretained(file.journal)
    guard !handlers.isEmpty else { return }
    do {
      try file.journal.listen()
    } catch {
      file.problems.add(PreferencesError(error, domain: file.name))
    }
  }

  var hasMail: Bool { !mail.isEmpty || file?.problems.isEmpty == false }

  /// Lets `body` change the table, which is kept even if it throws.
  @inline(__always)
  mutating func changing<Result>(_ body: (inout Replay) throws -> Result) rethrows -> Result {
    var replay = Replay(
      table: DomainTable(), byteCount: byteCount, isCollecting: !handlers.isEmpty)
    swap(&replay.table, &table)
    defer {
      swap(&replay.table, &table)
      byteCount = replay.byteCount
      marks.add(replay.marks)
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
    let before = mail.count
    do {
      try changing(body)
    } catch let error as FileError where error.code == .busy || error.code == .changed {
      // Somebody is writing, or overwrites the journal at this moment. The next read applies what they write.
    } catch {
      file.problems.add(PreferencesError(error, domain: file.name))
    }
    // Nobody takes care of a lock that a change did not keep.
    if file.hasNewlyKeptLock { file.journal.freeKeptLock() }
    return mail.count > before || !file.problems.isEmpty
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
    mail.append(DomainEvent(number: lastEvent, changes: changes, isOwn: isOwn))
  }
}
