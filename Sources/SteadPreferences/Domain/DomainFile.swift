import Foundation
import SteadFiles
import SteadFormats

/// The files of a domain: the journal, which is authoritative, and the property list that is
/// published from it.
///
/// Used only under its store's lock. Once it is open it never waits for another process: where the
/// journal's lock is not free, methods throw ``FileError`` `.busy`, and the store retries.
///
/// What can be in effect, from the bottom to the top:
///
/// 1. the journal's checkpoint and log, or the property list where the file system cannot hold a
///    journal;
/// 2. edits of the property list that no checkpoint has yet;
/// 3. values that restore a file that was lost while it was open, see ``Restoration``;
/// 4. deferred edits, which could not be written: in the waiting file, or in memory alone.
///
/// The table always has all of them. ``write(_:_:)`` brings the layers above into the journal,
/// before its own change.
final class DomainFile {
  let name: String
  let directory: URL
  let options: DomainStore.Options
  /// Whether the files are read-only, by request or because the system allows no more.
  var isReadOnly: Bool
  let plist: URL
  /// Errors that no call could throw, until the store collects them.
  let problems: Problems
  var journal: Journal
  /// Whether `journal` is another object than the one that the store reads through.
  var hasNewJournal = false
  /// Edits that could not be written yet. The table has them, too.
  var pending = PendingEdits()
  /// The file of edits that this and other programs could not write.
  var waiting: WaitingFile
  /// Whether the waiting file may exist. It is set when the watcher reports one or this process
  /// makes it.
  var hasWaitingFile = false
  /// The ID of the waiting file that has all pending edits; nil if some are in memory alone.
  var waitingFileID: UInt64?
  /// The journal's tail word when edits were last saved in the waiting file.
  var waitingFileTail: UInt64?
  /// The journal's tail word when this process last gave up on the lock. While it is unchanged, the
  /// holder counts as stopped.
  var stuckHolderTail: UInt64?
  /// What was in memory before the journal was read from its beginning again.
  var lost: LostContents?
  /// From which it can be computed when the keys in memory were set.
  var stampSources = StampSources()
  /// What is known about the property list.
  var plistState = PropertyListState()
  /// Why the file system cannot hold a journal; the property list is then the only file. Only
  /// `synchronize()` tries again.
  var unsupported: FileError?
  /// When the log is compacted next, and whether that is going on.
  var compaction = CompactionState()
  /// The process, by its number of forks, whose thread releases the kept lock. The child of a fork
  /// lacks that thread.
  var lockReleaseGeneration: UInt64?
  /// Opens the domain's files.
  ///
  /// Files that cannot be opened for writing are opened for reading, and ``write(_:_:)`` tries
  /// again. A file system that cannot hold a journal makes the property list the only file.
  ///
  /// - Throws: ``FileError`` when the files cannot be read either.
  init(name: String, directory: URL, options: DomainStore.Options) throws {
    self.name = name
    self.directory = directory
    self.options = options
    plist = directory.appending(path: name + ".plist", directoryHint: .notDirectory)
    waiting = Self.waitingFile(name, in: directory)
    let problems = Problems()
    self.problems = problems
    func open(_ access: Journal.Access) throws -> Journal {
      try Self.journal(name, directory, access, options, problems)
    }
    if options.isReadOnly {
      self.journal = try open(.readOnly)
      isReadOnly = true
      return
    }
    do {
      self.journal = try open(.readWrite)
      isReadOnly = false
      // The whole wait was in vain, so the first write need not wait for the same process again.
      if journal.isOpenedWithoutLock { recordStuckHolder() }
    } catch let error as FileError where error.isObstacle {
      // Reading may still be possible: a journal from a time when the file system allowed one.
      self.journal = try open(.readOnly)
      isReadOnly = true
      if error.isUnsupported { becomePlain(error) }
    }
  }

  /// Opens the journal; a missing or unusable one is made from the property list.
  static func journal(
    _ name: String, _ directory: URL, _ access: Journal.Access, _ options: DomainStore.Options,
    _ problems: Problems
  ) throws -> Journal {
    let loader = CheckpointLoader(
      plist: directory.appending(path: name + ".plist", directoryHint: .notDirectory),
      isReadOnly: options.isReadOnly, problems: problems)
    // While values wait for a stopped process, another opening need not wait for it, too.
    let isHolderStuck = waitingFile(name, in: directory).isPresent
    let journal = try Journal(
      url: directory.appending(path: name + ".journal", directoryHint: .notDirectory),
      access: access, lockWait: isHolderStuck ? .zero : options.lockWait,
      initial: { try loader.load() },
      onDamage: { problems.add(PreferencesError(damage: $0)) }, repair: { _ in try loader.load() })
    // The store waits, and lets others read meanwhile.
    journal.lockWait = .zero
    // Two system calls less for each of several writes in a row; ``DomainStore/releaseLockLater()``
    // releases it.
    journal.mayKeepLock = true
    return journal
  }

  /// Errors that no call could throw, until the store takes them.
  ///
  /// An object, since closures that the journal holds add to it. The store's lock guards it, too.
  final class Problems {
    /// The maximum number of waiting errors; later ones are dropped.
    static let limit = 16
    private var errors: [PreferencesError] = []

    var isEmpty: Bool { errors.isEmpty }

    func add(_ error: PreferencesError) {
      // Limited, since without a handler they are never taken.
      if errors.count < Self.limit { errors.append(error) }
    }

    func take() -> [PreferencesError] {
      defer { errors = [] }
      return errors
    }
  }
}

// MARK: - Reading

extension DomainFile {
  /// Applies other processes' records, and puts the layers above the journal on top again.
  func catchUp(_ replay: inout Replay, reading: Reading? = nil) throws {
    let isNewCheckpoint = try readJournal(&replay)
    let wasLost = journal.isRecovering
    reapplyPending(&replay)
    // The lost values are on no disk now, and this process may never write again. If this fails,
    // the next write tries.
    if wasLost, !journal.isRecovering, !isReadOnly { try? writeDeferred(&replay) }
    // Edits made by hand go into the journal, if it can be written.
    if isReadOnly, isNewCheckpoint, !isPlain {
      try mergeEdits(
        base: DomainTable(propertyList: journal.checkpointBytes()), reading, &replay)
    }
  }

  /// Applies the journal's new records, and returns whether another checkpoint came first.
  @discardableResult
  func readJournal(_ replay: inout Replay) throws -> Bool {
    try journal.read { event in try visit(event, &replay) }
    defer { recordPublished(&replay) }
    return replay.published != nil
  }

  // MARK: - Writing

  /// Writes with the journal's lock held. All writes come through here.
  ///
  /// Before `body` runs, the table has every record of the journal, and everything deferred is in
  /// the journal. So `body` may compare and append, and no other writer comes in between.
  ///
  /// - Throws: ``FileError`` `.busy` if another process has the lock, and what `body` throws.
  ///   Records that were read stay applied.
  @inline(__always)
  func write<Result>(
    _ replay: inout Replay, _ body: (inout Replay, Journal.Writer) throws -> Result
  ) throws -> Result {
    // The directory or the disk may have become writable since the last attempt.
    if isReadOnly { try becomeWritable() }
    return try journal.write(catchingUp: { event in try visit(event, &replay) }) { writer in
      if hasDeferredWrites { try writeDeferred(writer, &replay) }
      // The lock's holder has gone on, so it is waited for again.
      if stuckHolderTail != nil { stuckHolderTail = nil }
      return try body(&replay, writer)
    }
  }

  /// Applies an event of the journal, and records when its keys were set.
  func visit(_ event: Journal.Event, _ replay: inout Replay) throws {
    if case .checkpoint(let bytes, let metadata) = event {
      // The checkpoint may belong to a file that has replaced a lost one. Until ``reapplyLost(_:)``
      // decides, what was in memory before it is kept.
      if lost == nil { lost = LostContents(table: replay.table, stamps: stampSources) }
      let isPublished = PublishedFile(metadata: metadata)?.current.mark != nil
      loadStamps(of: bytes, isPublished: isPublished)
    }
    let offset = journal.recordOffset
    try replay.apply(event)
    guard !replay.readKeys.isEmpty else { return }
    // A record that restores says when its keys were set first. An ordinary one was written when it
    // was appended.
    let stamp = journal.stamp(ofRecordAt: offset)
    for read in replay.readKeys {
      stampSources.changes.append(
        KeyChange(key: read.key, offset: offset, stamp: read.stamp ?? stamp))
    }
    replay.readKeys.removeAll(keepingCapacity: true)
  }

  /// Appends one operation.
  ///
  /// The hot path: everything inlined, a single buffer, no array of edits.
  @inline(__always)
  func set(_ value: PropertyList?, forKey key: String, _ replay: inout Replay) throws {
    // In this order: a plain file counts as read-only, so an ordinary write pays for one
    // comparison.
    if isReadOnly, isPlain {
      try applyPlainly(&replay) { _ in [DomainEdit(key: key, value: value)] }
      return
    }
    try write(&replay) { replay, writer in
      try replay.checkQuota(options.quota, key, value)
      // Read before: once the record is there, another program may overwrite the file.
      let stamp = journal.nextStamp
      // Measured first, so that the record is encoded straight into the mapped log.
      let count = try DomainRecord.byteCount(key, value)
      if count >= DomainRecord.longByteCount, case .data(let data)? = value {
        // Large data is appended from where it is, without a copy into the record's buffer.
        let head = DomainRecord.head(key, dataByteCount: data.count)
        try head.withUnsafeBytes { head in
          try data.withUnsafeBytes { data in try writer.append(head, data) }
        }
      } else {
        try writer.append(byteCount: count) { buffer in
          _ = DomainRecord.encode(key, value, into: buffer)
        }
      }
      replay.edit(key, value, isOwn: true)
      stampSources.changes.append(KeyChange(key: key, offset: stamp.offset, stamp: stamp))
      // The common case is one comparison; the rest of the decision is not inlined.
      if writer.logByteCount > options.logLimit { compactIfDue(writer, &replay) }
    }
    recordPublished(&replay)
  }

  /// Appends several operations as one record if the expected values still hold, and returns
  /// whether they did.
  @discardableResult
  func apply(
    _ edits: [DomainEdit], ifStill expected: [DomainEdit] = [], _ replay: inout Replay
  ) throws -> Bool {
    // A plain file has its own lock, and no log.
    if isPlain { return try applyPlainly(ifStill: expected, &replay) { _ in edits } }
    var isExpected = true
    try write(&replay) { replay, writer in
      // Under the lock, after all records were applied: the comparison is with what every process
      // has.
      isExpected = replay.matches(expected)
      if isExpected { try append(edits, writer, &replay) }
    }
    recordPublished(&replay)
    return isExpected
  }

  /// Appends the operations that `make` computes from what every process has, as one record.
  func apply(making make: (Replay) -> [DomainEdit], _ replay: inout Replay) throws {
    if isPlain {
      try applyPlainly(&replay, make)
      return
    }
    try write(&replay) { replay, writer in
      // Under the lock, after all records were applied.
      try append(make(replay), writer, &replay)
    }
    recordPublished(&replay)
  }

  /// Appends edits as one record, and applies them to the table.
  private func append(
    _ edits: [DomainEdit], _ writer: Journal.Writer, _ replay: inout Replay
  ) throws {
    // A record has at least one byte.
    guard !edits.isEmpty else { return }
    try replay.checkQuota(options.quota, edits)
    let stamp = journal.nextStamp
    // The journal first: if it throws, the table must not have what no file has.
    try append(edits, writer)
    for edit in edits { replay.edit(edit.key, edit.value, isOwn: true) }
    recordChanges(edits.lazy.map(\.key), stamp)
    compactIfDue(writer, &replay)
  }

  /// Encodes edits into one record of the log, which counts as a whole or not at all.
  func append(_ edits: [DomainEdit], _ writer: Journal.Writer) throws {
    try writer.append(byteCount: DomainRecord.byteCount(edits)) { buffer in
      DomainRecord.encode(edits, into: buffer)
    }
  }

  // MARK: - Checkpoints

  /// Updates the checkpoint and the property list with everything that was set, while other
  /// processes wait.
  func checkpoint(_ replay: inout Replay, reading: Reading? = nil) throws {
    if options.isReadOnly { return try mergeExternalEdits(&replay, reading: reading) }
    if isPlain {
      // It may be another file system now.
      do { try becomeWritable() } catch let error as FileError where error.isUnsupported {}
    }
    if isPlain {
      try applyPlainly(&replay) { _ in [] }
      return
    }
    // A checkpoint must not be published for a journal that has lost its name.
    if journal.access == .readWrite { try revalidate(&replay) }
    try write(&replay) { replay, writer in
      recordPublished(&replay)
      try compact(writer, &replay, reading: reading)
    }
  }

  /// Writes the checkpoint and everything since to new blocks of the disk, after a sync has failed.
  ///
  /// After a failed sync the system may drop the pages that it could not write, and a later sync of
  /// the same file would succeed without them. Memory is the only copy.
  func rewrite(_ replay: inout Replay) throws {
    try write(&replay) { replay, writer in
      recordPublished(&replay)
      let bytes = try BinaryPropertyList.encode(replay.table.fields())
      let stamped = stampSources.stamps.added(to: bytes)
      try writer.reportDamagedLog()
      // The property list stays what it is: its metadata are copied, so it still counts as
      // published.
      try writer.compact(
        to: Journal.Checkpoint(bytes: stamped, metadata: plistState.published.metadata))
      resetStamps(to: stamped)
    }
  }

  /// Reads the property list, and applies edits made there.
  ///
  /// - Parameter reading: The file, if it was read without the lock.
  func mergeExternalEdits(_ replay: inout Replay, reading: Reading? = nil) throws {
    if isPlain { return try readPlainFile(&replay, reading: reading) }
    try catchUp(&replay, reading: reading)
    if isReadOnly {
      try mergeEdits(
        base: DomainTable(propertyList: journal.checkpointBytes()), reading, &replay)
    } else if try externalEdits(reading) != nil || plistState.isQuarantined || isPublishInterrupted
    {
      // Each of these needs a new property list, which only a checkpoint publishes.
      try checkpoint(&replay, reading: reading)
    }
  }

  // MARK: - Published file

  /// Whether the property list is the file that was written here with the checkpoint. Only then can
  /// damage be told from an edit: contents that changed without number and date.
  var isPublished: Bool { plistState.published.current.isSame(as: plistState.onDisk) }

  /// Whether the journal or the property list exists.
  var hasFiles: Bool {
    DomainStore.hasFiles(
      directory.appending(path: name, directoryHint: .notDirectory).path(percentEncoded: false))
  }

  /// Whether a process was killed after the journal had its new checkpoint and before the property
  /// list was renamed.
  private var isPublishInterrupted: Bool {
    plistState.onDisk.fingerprint != plistState.published.current.fingerprint
      && plistState.published.previous.isSame(as: plistState.onDisk)
      && !plistState.isBeingWritten
  }

  /// Records which file was published from the checkpoint that was just read.
  @inline(__always)
  func recordPublished(_ replay: inout Replay) {
    guard let found = replay.published else { return }
    plistState.published = found
    replay.published = nil
  }
}
