import Foundation
import SteadFiles

/// The files of a domain: the journal, which is the truth, and the property list that it publishes.
///
/// Used under its store's lock only.
final class DomainFile {
  /// A log longer than this, in bytes, and than twice the checkpoint, is compacted. With all that
  /// belongs to it a small domain takes up less than 256 KiB.
  static let logLimit = 180 << 10

  let name: String
  let directory: URL
  let options: DomainStore.Options
  let isReadOnly: Bool
  let plist: URL
  /// Errors that no call could throw, until the store fetches them.
  let problems: Problems
  let journal: Journal
  var published = PublishedFile(current: .none, previous: .none)
  /// What the property list file was when it was last looked at.
  var onDisk = PublishedFile.Fingerprint.none
  var lastSeen: PlistIdentity?
  /// Whether the file does not parse, but has changed so lately that somebody may not be done with it.
  var isBeingWritten = false
  /// Whether the file does not parse, was kept aside if it held anything, and has to be written anew.
  var isKeptAside = false
  /// After a compaction that failed, the length of the log at which to try again.
  private var nextCompaction = 0

  init(name: String, directory: URL, options: DomainStore.Options) throws {
    self.name = name
    self.directory = directory
    self.options = options
    plist = directory.appending(path: name + ".plist", directoryHint: .notDirectory)
    let problems = Problems()
    self.problems = problems
    let loader = CheckpointLoader(plist: plist, isReadOnly: options.isReadOnly, problems: problems)
    let url = directory.appending(path: name + ".journal", directoryHint: .notDirectory)
    func journal(_ access: Journal.Access) throws -> Journal {
      try Journal(
        url: url, access: access, initial: { try loader.load() },
        onDamage: { problems.add(PreferencesError(damage: $0)) }, repair: { _ in try loader.load() }
      )
    }
    if options.isReadOnly {
      self.journal = try journal(.readOnly)
      isReadOnly = true
      return
    }
    do {
      self.journal = try journal(.readWrite)
      isReadOnly = false
    } catch let error as FileError where error.code == .denied || error.code == .readOnly {
      self.journal = try journal(.readOnly)
      isReadOnly = true
    }
  }

  /// Errors that wait to be reported. Shared with closures that the journal keeps, under the same lock.
  final class Problems {
    /// How many wait at most; what comes after them is dropped.
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
  /// Takes in what others have written.
  func catchUp(_ replay: inout Replay) throws {
    try journal.read { event in try replay.apply(event) }
    let isNewCheckpoint = replay.published != nil
    take(&replay)
    // What was edited by hand goes into the journal, where that can be written.
    if isReadOnly, isNewCheckpoint { try mergeEdits(base: journal.checkpoint, &replay) }
  }

  /// Appends one operation, and tells what was there before.
  @inline(__always)
  func set(_ value: PropertyList?, forKey key: String, _ replay: inout Replay) throws {
    guard !isReadOnly else { throw PreferencesError.readOnly(name) }
    try journal.write(catchingUp: { event in try replay.apply(event) }) { writer in
      try replay.checkQuota(options.quota, key, value)
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
      if writer.logByteCount > Self.logLimit { compactIfDue(writer, &replay) }
    }
    take(&replay)
  }

  /// Appends several operations as one record, if nobody has changed what is expected, and tells whether.
  @discardableResult
  func apply(
    _ edits: [DomainEdit], ifStill expected: [DomainEdit] = [], _ replay: inout Replay
  ) throws -> Bool {
    guard !isReadOnly else { throw PreferencesError.readOnly(name) }
    var isExpected = true
    try journal.write(catchingUp: { event in try replay.apply(event) }) { writer in
      isExpected = replay.holds(expected)
      if isExpected { try append(edits, writer, &replay) }
    }
    take(&replay)
    return isExpected
  }

  /// Puts `fields` in the place of all that is there, which others cannot change meanwhile.
  func replaceContents(with fields: PropertyList.Fields, _ replay: inout Replay) throws {
    guard !isReadOnly else { throw PreferencesError.readOnly(name) }
    try journal.write(catchingUp: { event in try replay.apply(event) }) { writer in
      try append(replay.table.edits(to: fields), writer, &replay)
    }
    take(&replay)
  }

  private func append(
    _ edits: [DomainEdit], _ writer: Journal.Writer, _ replay: inout Replay
  ) throws {
    guard !edits.isEmpty else { return }
    try replay.checkQuota(options.quota, edits)
    let count = try edits.reduce(0) { try $0 + DomainRecord.byteCount($1.key, $1.value) }
    try writer.append(byteCount: count) { buffer in
      var offset = 0
      for edit in edits {
        let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[offset...])
        offset += DomainRecord.encode(edit.key, edit.value, into: rest)
      }
    }
    for edit in edits { replay.edit(edit.key, edit.value, isOwn: true) }
    compactIfDue(writer, &replay)
  }

  /// Makes the checkpoint and the property list file show all that was set.
  func checkpoint(_ replay: inout Replay) throws {
    guard !isReadOnly else { return try takeInEdits(&replay) }
    try journal.write(catchingUp: { event in try replay.apply(event) }) { writer in
      take(&replay)
      try compact(writer, &replay, isAskedFor: true)
    }
  }

  /// Looks at the property list file, and takes in what somebody has edited there.
  func takeInEdits(_ replay: inout Replay) throws {
    try catchUp(&replay)
    if isReadOnly {
      try mergeEdits(base: journal.checkpoint, &replay)
    } else if try unseenEdits() != nil || isKeptAside || isCutOff {
      try checkpoint(&replay)
    }
  }

  /// Whether a process was killed before it published the checkpoint.
  private var isCutOff: Bool {
    onDisk != published.current && onDisk == published.previous && !isBeingWritten
  }

  /// The published file is known from the checkpoint that was just read.
  @inline(__always)
  private func take(_ replay: inout Replay) {
    guard let found = replay.published else { return }
    published = found
    replay.published = nil
  }

  private func compactIfDue(_ writer: Journal.Writer, _ replay: inout Replay) {
    let limit = max(Self.logLimit, 2 * writer.checkpointByteCount, nextCompaction)
    guard writer.logByteCount > limit else { return }
    do {
      take(&replay)
      try compact(writer, &replay)
      nextCompaction = isBeingWritten ? writer.logByteCount + Self.logLimit : 0
    } catch {
      // What was set is in the log. Where the disk is full the log can grow on, and this be tried later.
      nextCompaction = writer.logByteCount + Self.logLimit
      problems.add(PreferencesError(error, domain: name))
    }
  }
}
