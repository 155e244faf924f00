import Foundation
import SteadFiles
import Synchronization

/// The connections of one store that read, each lent to one thread at a time.
///
/// The last used reader has a separate slot, which one atomic operation empties and one fills: a program that looks up
/// one object after the other acquires no lock for it.
///
/// A reader is in one of three places: in the slot, among the idle ones, or lent. Only the thread
/// that it is lent to touches its snapshot; whoever ends the snapshots of idle readers takes them
/// from their place first.
final class ReaderPool: Sendable {
  /// How long look-ups of single objects may share one snapshot, in nanoseconds.
  static let snapshotLifetime: UInt64 = 2_000_000
  /// After how many milliseconds an unused snapshot is ended.
  static let snapshotTimeout = 20
  /// Not a timer of Dispatch's: the first one of a program ends it if no descriptor is free.
  static let snapshotEnds = SerialCalls()
  /// The most readers kept open while they are not used.
  static let idleLimit = 8

  /// How recent the rows that a reader sees must be.
  enum Freshness {
    /// All commits that were made before the call.
    case newest
    /// At least the commit with a number, all of this process, and other processes' except the newest ones: a snapshot
    /// is shared for ``snapshotLifetime``.
    case shared(atLeast: Int64)
  }

  /// Opens the readers.
  private let file: StoreFile
  /// Says which commits a shared snapshot must have.
  private let log: CommitLog
  /// Compares tables that have changed with the models.
  private let models: StoredModels
  /// The address of the reader that was used last, with a reference that the place owns; 0 while it is
  /// lent.
  private let last = Atomic<UInt>(0)
  /// The other idle readers.
  private let others = Mutex<[StoreConnection]>([])
  /// Whether an end of idle snapshots is scheduled.
  private let isClosingSnapshots = Atomic<Bool>(false)

  init(_ file: StoreFile, _ log: CommitLog, _ models: StoredModels) {
    self.file = file
    self.log = log
    self.models = models
  }

  // Releases the reference that the slot owns.
  deinit { _ = takeLast() }

  /// Closes the connections that no thread is using.
  ///
  /// A reader that is lent stays open.
  func close() {
    _ = takeLast()
    others.withLock { $0 = [] }
  }

  /// Runs a body with a reader that sees one commit, and with that commit's number.
  ///
  /// The reader is lent for as long as the body runs. Its snapshot stays open afterwards, since the next look-up may
  /// share it. But an open snapshot keeps the log from being reset, so it is ended soon.
  ///
  /// - Parameter doubt: Called when a change may be another program's; returns whether it has found out.
  /// - Throws: SQLite's errors of opening and reading, and `unknownSchema` if another program has
  ///   given a name of the models to something else.
  func read<Result>(
    _ freshness: Freshness, doubting doubt: () -> Bool,
    _ body: (StoreConnection, _ number: Int64) throws -> Result
  ) throws -> Result {
    let reader = try take()
    // Not given back if this fails: it may have opened another log than the store has by now, and is closed.
    let number = try prepare(reader, freshness, doubt)
    defer { giveBack(reader) }
    return try body(reader, number)
  }

  // MARK: Lending

  /// Takes the reader in the separate slot; nil if it is lent.
  private func takeLast() -> StoreConnection? {
    UnsafeRawPointer(bitPattern: last.exchange(0, ordering: .sequentiallyConsistent)).map {
      Unmanaged<StoreConnection>.fromOpaque($0).takeRetainedValue()
    }
  }

  /// Takes an idle reader, or opens one.
  private func take() throws -> StoreConnection {
    if let reader = takeLast() { return reader }
    return try others.withLock { $0.popLast() } ?? file.open(writable: false)
  }

  /// Puts a reader into the separate slot, or, if another one is there, among the idle ones. Beyond ``idleLimit`` it
  /// is closed.
  private func giveBack(_ reader: StoreConnection) {
    // Read before the reader is in its place, where another thread may take it at once.
    let hasSnapshot = reader.snapshot != nil
    let owned = Unmanaged.passRetained(reader)
    let (isPlaced, _) = last.compareExchange(
      expected: 0, desired: UInt(bitPattern: owned.toOpaque()), ordering: .sequentiallyConsistent)
    // What was scheduled as the snapshot was taken may have come while the reader was lent, and so not have found it.
    defer { if hasSnapshot { scheduleSnapshotEnd() } }
    if isPlaced { return }
    owned.release()
    let isKept = others.withLock { others in
      // One more is in the separate slot.
      guard others.count < Self.idleLimit - 1 else { return false }
      others.append(reader)
      return true
    }
    if !isKept, reader.snapshot != nil { endSnapshot(reader) }
  }

  // MARK: Snapshots

  /// Gives a reader a sufficiently recent snapshot, and returns its number.
  private func prepare(
    _ reader: StoreConnection, _ freshness: Freshness, _ doubt: () -> Bool
  ) throws -> Int64 {
    if let snapshot = reader.snapshot {
      // At least this process's newest commit, so that a thread finds what another one has just
      // saved.
      if case .shared(let number) = freshness,
        snapshot.number >= max(number, log.newestNumber),
        Self.now - snapshot.openedAt < Self.snapshotLifetime
      {
        return snapshot.number
      }
      endSnapshot(reader)
    }
    // Before the snapshot: a transaction that ends later is one that was open.
    let (ended, quietCount) = (log.endedCount, log.quietCount)
    try reader.begin()
    do {
      let commit = try reader.lastCommit()
      let number = commit.number
      if reader.hasNewTables { try models.checkReading(reader) }
      reader.snapshot = .init(number: number, openedAt: Self.now)
      // From now on shared snapshots must have this commit, also if it is another process's.
      log.didCommit(commit)
      if compare(reader, number, quietCount, isSettled: log.begunCount == ended), doubt() {
        reader.lastSnapshot?.isDoubtful = false
      }
      return number
    } catch {
      try? reader.execute("ROLLBACK")
      throw error
    }
  }

  /// Compares a reader's snapshot with its last one, and notes a change by a program that counts no commits.
  ///
  /// - Parameters:
  ///   - quietCount: The log's, from before the snapshot.
  ///   - isSettled: Whether no transaction of this process was open as the snapshot was taken. Otherwise a change may be
  ///     that transaction's: the next snapshot is compared with the same one.
  /// - Returns: Whether another program may have made a change that the snapshots don't show: before this one, or before
  ///   an earlier one for which that was not found out.
  private func compare(
    _ reader: StoreConnection, _ number: Int64, _ quietCount: UInt64, isSettled: Bool
  ) -> Bool {
    let version = reader.dataVersion
    // It cannot tell what was changed after a commit whose number it sees for the first time.
    var isDoubtful = true
    if let last = reader.lastSnapshot, last.number == number {
      // An earlier doubt stays until `doubt` has found out.
      isDoubtful = last.isDoubtful
      if last.version != version {
        guard isSettled else { return false }
        // The file has changed under the same number. Only a quiet commit of this process explains
        // that.
        if last.quietCount == quietCount { log.noteOutsider() } else { isDoubtful = true }
      }
    }
    reader.lastSnapshot = .init(
      number: number, version: version, quietCount: quietCount, isDoubtful: isDoubtful)
    return isDoubtful
  }

  /// Ends the read transaction of a reader. A failure leaves it to ROLLBACK, and the reader stays usable.
  private func endSnapshot(_ reader: StoreConnection) {
    reader.snapshot = nil
    do {
      try reader.commit()
    } catch {
      try? reader.execute("ROLLBACK")
    }
  }

  /// An open snapshot keeps the write-ahead log from being reset, so an idle one is ended soon.
  ///
  /// Called once the reader is in its place. The operations on the slot and the flag have one order. So either the call
  /// that is scheduled has yet to clear the flag, and finds the reader afterwards; or it has cleared it, and this
  /// schedules another call.
  private func scheduleSnapshotEnd() {
    guard !isClosingSnapshots.load(ordering: .sequentiallyConsistent),
      !isClosingSnapshots.exchange(true, ordering: .sequentiallyConsistent)
    else { return }
    Self.snapshotEnds.call(after: .milliseconds(Self.snapshotTimeout)) { [weak self] in
      self?.endIdleSnapshots()
    }
  }

  /// Ends the snapshots of the readers that no thread is using, which keep the log from being reset.
  ///
  /// The flag is cleared first: a reader that is given back from now on schedules another call, even if this one does
  /// not see it.
  func endIdleSnapshots() {
    isClosingSnapshots.store(false, ordering: .sequentiallyConsistent)
    // Taken off the list, so that no thread gets a reader while its snapshot is being ended.
    var idle = others.withLock { readers in
      defer { readers = readers.filter { $0.snapshot == nil } }
      return readers.filter { $0.snapshot != nil }
    }
    if let reader = takeLast() { idle.append(reader) }
    for reader in idle {
      if reader.snapshot != nil { endSnapshot(reader) }
      giveBack(reader)
    }
  }

  /// Nanoseconds of a clock that never goes back.
  private static var now: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }
}
