import Foundation
import SteadFiles
import SteadFormats

/// The files of a domain: the authoritative journal, and the property list that it publishes.
///
/// Used only under its store's lock.
final class DomainFile {
  /// A log longer than this, in bytes, and than twice the checkpoint, is compacted in the background.
  ///
  /// Including all its files a small domain takes less than 256 KiB, unless it is written faster than it can
  /// be compacted.
  static let logLimit = 180 << 10
  /// A log longer than this, in bytes, and than eight times the checkpoint, is compacted while its writer waits.
  ///
  /// A program reaches it by writing hundreds of thousands of values while the disk handles one.
  static let waitingLogLimit = 16 << 20

  let name: String
  let directory: URL
  let options: DomainStore.Options
  /// Whether the files are read-only, by request or because the system allows no more.
  var isReadOnly: Bool
  let plist: URL
  /// Errors that no call could throw, until the store collects them.
  let problems: Problems
  var journal: Journal
  /// Whether `journal` differs from the object that the store knows.
  var hasNewJournal = false
  /// Values that could not be written yet. The table contains them.
  var pending = PendingEdits()
  /// The values of programs that could not write them.
  var waiting: WaitingFile
  /// Whether the waiting file may exist.
  var hasWaitingFile = false
  /// The number of the waiting file that contains all pending values; nil if some are in memory alone.
  var savedIn: UInt64?
  /// The word of the journal's tail when values were last added to the waiting file.
  var savedTail: UInt64?
  /// The word of the journal's tail when a process that has it locked was last waited for in vain.
  var stuckTail: UInt64?
  /// What was in memory before the journal's file was read from its beginning again.
  var lost: LostContents?
  /// When the keys in memory were set.
  var stampSources = StampSources()
  var published = PublishedFile(current: .none, previous: .none)
  /// The property list file as of the last look.
  var onDisk = PublishedFile.Copy.none
  var lastSeen: FileStatus?
  /// The status of a property list that is the only file, and when it was first seen.
  var firstSeen: (status: FileStatus, time: ContinuousClock.Instant)?
  /// The property list file's contents, read before the store's lock was taken.
  var reading: Reading?
  /// Why the file system cannot hold a journal at all. The property list is the only file then. Only `synchronize()` tries
  /// again.
  var unsupported: FileError?
  /// Whether the property list has had contents since that a journal has not published.
  var hasPlainContents = false
  /// Whether the file does not parse, but was changed so recently that its writer may not be done.
  var isBeingWritten = false
  /// Whether the file does not parse, was kept aside unless empty, and has to be written again.
  var isQuarantined = false
  /// Whether it was reported that XML cannot hold the domain.
  var hasReportedFormat = false
  /// After a compaction that failed, the length of the log at which to try again.
  var nextCompaction = 0
  /// The state of the background compaction.
  var compaction = BackgroundCompaction.none
  /// The number of forks of the process whose thread frees the lock that a write has kept. The child of a
  /// fork lacks that thread.
  var lockReleaseGeneration: UInt64?
  /// Whether the log was far too long when the domain was opened, and has not been compacted since.
  var isLogOverdue = false

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
      if journal.isOpenedWithoutLock { recordStuckHolder() }
    } catch let error as FileError where error.isObstacle {
      self.journal = try open(.readOnly)
      isReadOnly = true
      if error.isUnsupported { becomePlain(error) }
    }
  }

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
    journal.mayKeepLock = true
    return journal
  }

  /// Errors that wait to be reported. Shared with closures that the journal holds, under the same lock.
  final class Problems {
    /// The maximum number of waiting errors; later ones are dropped.
    static let limit = 16
    private var errors: [PreferencesError] = []

    var isEmpty: Bool { errors.isEmpty }

    func add(_ error: PreferencesError) {
      if errors.count < Self.limit { errors.append(error) }
    }

    func take() -> [PreferencesError] {
      defer { errors = [] }
      return errors
    }
  }
}

extension DomainFile {
  /// Applies other processes' changes.
  func catchUp(_ replay: inout Replay) throws {
    let isNewCheckpoint = try readJournal(&replay)
    let wasLost = journal.isRecovering
    reapplyPending(&replay)
    // The values are on no disk, and this process may never write again. If it fails, the next write tries.
    if wasLost, !journal.isRecovering, !isReadOnly { try? writeDeferred(&replay) }
    // Edits made by hand go into the journal, if it can be written.
    if isReadOnly, isNewCheckpoint, !isPlain {
      try mergeEdits(base: DomainTable(propertyList: journal.checkpointBytes()), &replay)
    }
  }

  /// Applies the journal's news, and returns whether that began with a checkpoint.
  @discardableResult
  func readJournal(_ replay: inout Replay) throws -> Bool {
    try journal.read { event in try visit(event, &replay) }
    defer { recordPublished(&replay) }
    return replay.published != nil
  }

  /// Writes while no other process does, after applying other processes' changes and pending values.
  @inline(__always)
  func write<Result>(
    _ replay: inout Replay, _ body: (inout Replay, Journal.Writer) throws -> Result
  ) throws -> Result {
    if isReadOnly { try becomeWritable() }
    return try journal.write(catchingUp: { event in try visit(event, &replay) }) { writer in
      if hasDeferredWrites { try writeDeferred(writer, &replay) }
      if stuckTail != nil { stuckTail = nil }
      return try body(&replay, writer)
    }
  }

  func visit(_ event: Journal.Event, _ replay: inout Replay) throws {
    if case .checkpoint(let bytes, let metadata) = event {
      if lost == nil { lost = LostContents(table: replay.table, stamps: stampSources) }
      let isPublished = PublishedFile(metadata: metadata)?.current.mark != nil
      loadStamps(of: bytes, isPublished: isPublished)
    }
    let offset = journal.recordOffset
    try replay.apply(event)
    guard !replay.readKeys.isEmpty else { return }
    let stamp = journal.stamp(ofRecordAt: offset)
    for read in replay.readKeys {
      stampSources.changes.append(
        KeyChange(key: read.key, offset: offset, stamp: read.stamp ?? stamp))
    }
    replay.readKeys.removeAll(keepingCapacity: true)
  }

  /// Appends one operation, and notes the previous value.
  @inline(__always)
  func set(_ value: PropertyList?, forKey key: String, _ replay: inout Replay) throws {
    if isReadOnly, isPlain {
      try applyPlainly(&replay) { _ in [DomainEdit(key: key, value: value)] }
      return
    }
    try write(&replay) { replay, writer in
      try replay.checkQuota(options.quota, key, value)
      // Read before: once the record is there, another program may overwrite the file.
      let stamp = journal.nextStamp
      let count = try DomainRecord.byteCount(key, value)
      if count >= DomainRecord.longByteCount, case .data(let data)? = value {
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
      if writer.logByteCount > options.logLimit { compactIfDue(writer, &replay) }
    }
    recordPublished(&replay)
  }

  /// Appends several operations as one record if the expected values still hold, and returns whether they did.
  @discardableResult
  func apply(
    _ edits: [DomainEdit], ifStill expected: [DomainEdit] = [], _ replay: inout Replay
  ) throws -> Bool {
    if isPlain { return try applyPlainly(ifStill: expected, &replay) { _ in edits } }
    var isExpected = true
    try write(&replay) { replay, writer in
      isExpected = replay.matches(expected)
      if isExpected { try append(edits, writer, &replay) }
    }
    recordPublished(&replay)
    return isExpected
  }

  /// Replaces all contents with `fields`, which others cannot change meanwhile.
  func replaceContents(with fields: PropertyList.Fields, _ replay: inout Replay) throws {
    if isPlain {
      try applyPlainly(&replay) { $0.table.edits(to: fields) }
      return
    }
    try write(&replay) { replay, writer in
      try append(replay.table.edits(to: fields), writer, &replay)
    }
    recordPublished(&replay)
  }

  private func append(
    _ edits: [DomainEdit], _ writer: Journal.Writer, _ replay: inout Replay
  ) throws {
    guard !edits.isEmpty else { return }
    try replay.checkQuota(options.quota, edits)
    let stamp = journal.nextStamp
    try append(edits, writer)
    for edit in edits { replay.edit(edit.key, edit.value, isOwn: true) }
    recordChanges(edits.lazy.map(\.key), stamp)
    compactIfDue(writer, &replay)
  }

  func append(_ edits: [DomainEdit], _ writer: Journal.Writer) throws {
    let count = try edits.reduce(0) { try $0 + DomainRecord.byteCount($1.key, $1.value) }
    try writer.append(byteCount: count) { buffer in
      var offset = 0
      for edit in edits {
        let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[offset...])
        offset += DomainRecord.encode(edit.key, edit.value, into: rest)
      }
    }
  }

  /// Updates the checkpoint and the property list file with everything that was set.
  func checkpoint(_ replay: inout Replay) throws {
    if options.isReadOnly { return try mergeExternalEdits(&replay) }
    if isPlain {
      // It may be another file system now.
      do { try becomeWritable() } catch let error as FileError where error.isUnsupported {}
    }
    if isPlain {
      try applyPlainly(&replay) { _ in [] }
      return
    }
    if journal.access == .readWrite { try revalidate(&replay) }
    try write(&replay) { replay, writer in
      recordPublished(&replay)
      try compact(writer, &replay)
    }
  }

  /// Writes the checkpoint and everything since again, to another place on the disk.
  func rewrite(_ replay: inout Replay) throws {
    try write(&replay) { replay, writer in
      recordPublished(&replay)
      let bytes = try BinaryPropertyList.encode(replay.table.fields())
      let stamped = stampSources.stamps.added(to: bytes)
      try writer.reportDamagedLog()
      try writer.compact(to: Journal.Checkpoint(bytes: stamped, metadata: published.metadata))
      resetStamps(to: stamped)
    }
  }

  /// Reads the property list file, and applies edits made there.
  func mergeExternalEdits(_ replay: inout Replay) throws {
    if isPlain { return try readPlainFile(&replay) }
    try catchUp(&replay)
    if isReadOnly {
      try mergeEdits(base: DomainTable(propertyList: journal.checkpointBytes()), &replay)
    } else if try externalEdits() != nil || isQuarantined || isPublishInterrupted {
      try checkpoint(&replay)
    }
  }

  /// Whether the property list file is the one that was written here with the checkpoint, so that damage can
  /// be detected.
  var isPublished: Bool { published.current.isSame(as: onDisk) }

  /// Whether the journal or the property list exists.
  var hasFiles: Bool {
    DomainStore.hasFiles(
      directory.appending(path: name, directoryHint: .notDirectory).path(percentEncoded: false))
  }

  /// Whether a process was killed before it published the checkpoint.
  private var isPublishInterrupted: Bool {
    onDisk.fingerprint != published.current.fingerprint && published.previous.isSame(as: onDisk)
      && !isBeingWritten
  }

  /// The checkpoint that was just read identifies the published file.
  @inline(__always)
  func recordPublished(_ replay: inout Replay) {
    guard let found = replay.published else { return }
    published = found
    replay.published = nil
  }
}
