import Foundation
import SteadFiles
import SteadFormats

// On a file system that cannot hold a journal the property list is the only file: each change reads
// and writes all of it.
extension DomainFile {
  /// Whether the property list is the only file.
  var isPlain: Bool { unsupported != nil && !options.isReadOnly }

  private var plain: PlainFile { Self.plainFile(plist) }

  /// The property list of a domain, with the lock file for writing it where there is no journal.
  static func plainFile(_ plist: URL) -> PlainFile {
    PlainFile(plist, lock: plist.deletingPathExtension().appendingPathExtension("lock"))
  }

  /// Goes over to the property list alone, and reports once that the file system cannot hold a
  /// journal.
  func becomePlain(_ error: FileError) {
    let isFirst = unsupported == nil
    unsupported = error
    guard isFirst, !options.isReadOnly else { return }
    problems.add(
      PreferencesError(
        code: .unavailable,
        message:
          "The file system of \(directory.path(percentEncoded: false)) lacks locks or cannot map files. Values are "
          + "stored in the property list alone, all of which each change reads and writes. \(DirectoryRemedy().local)",
        domain: name, cause: error))
  }

  // MARK: - Writing

  /// Reads, changes and replaces the property list, with its lock held.
  ///
  /// Returns whether the expected values still held. Deferred edits are written even if they did
  /// not.
  ///
  /// - Parameter make: Computes the edits from what the file has.
  @discardableResult
  func applyPlainly(
    ifStill expected: [DomainEdit] = [], _ replay: inout Replay,
    _ make: (Replay) -> [DomainEdit]
  ) throws -> Bool {
    // Another program may have written what this one has saved in the waiting file.
    dropWritten()
    return try plain.withLock {
      try readPlainFile(&replay)
      try writeWaitingPlainly(&replay)
      // Under the lock, once all that others have written is applied.
      guard replay.matches(expected) else { return false }
      try writePlainly(make(replay), isOwn: true, &replay)
      stuckHolderTail = nil
      return true
    }
  }

  /// Replaces the property list with deferred edits and these. Requires the lock.
  private func writePlainly(_ new: [DomainEdit], isOwn: Bool, _ replay: inout Replay) throws {
    let edits = pending.edits + new
    guard !edits.isEmpty else { return }
    // Values of other programs were checked where they were set.
    if isOwn { try replay.checkQuota(options.quota, edits) }
    // A copy: if the file cannot be replaced, memory must not have what no file has.
    var table = replay.table
    for edit in edits { table.replace(edit.key, with: edit.value) }
    var stamps = stampSources.stamps
    let stamp = plainStamp
    for edit in edits { stamps.record(edit.key, stamp) }
    let stamped = stamps.added(to: try BinaryPropertyList.encode(table.fields()))
    let text = options.format == .xml ? xml(table, stamps) ?? stamped : stamped
    recordStatus(
      try plain.replace(with: text) { problems.add(PreferencesError($0, domain: name)) })
    resetStamps(to: stamped)
    plistState.hasPlainContents = true
    for edit in edits where isOwn || replay.table[edit.key] != edit.value {
      replay.edit(edit.key, edit.value, isOwn: isOwn)
    }
    (pending, waitingFileID) = (PendingEdits(), nil)
  }

  /// Writes what programs have saved in the waiting file, and removes it. Requires the lock.
  ///
  /// They do so while another program has the lock. The file system may also have been able to hold
  /// a journal then.
  private func writeWaitingPlainly(_ replay: inout Replay) throws {
    guard waiting.isPresent else {
      hasWaitingFile = false
      return
    }
    func write(_ contents: WaitingFile.Contents) throws {
      // The waiting file's edits come first, since what was set here is newer; but not twice, if
      // they are the same.
      let old = pending
      let mine = waitingFileID == contents.id ? [] : old.edits
      pending = PendingEdits()
      for edit in contents.edits + mine { pending.add(edit) }
      do {
        try writePlainly([], isOwn: false, &replay)
      } catch {
        pending = old
        throw error
      }
    }
    // A salt of 0 stands for no journal: after a kill no record is looked for.
    try waiting.merge(at: Journal.Place(salt: 0, offset: 0), write)
    hasWaitingFile = false
  }

  /// Later than everything known, including what a journal has: where that can be used again, it
  /// must take the property list for one that was published later.
  private var plainStamp: Journal.Stamp {
    let now = UInt64(max(0, Date().timeIntervalSince1970) * 1_000_000)
    return Journal.Stamp(
      generation: max(stampSources.stamps.horizon.generation + 1, now), offset: 0)
  }

  // MARK: - Reading

  /// Applies what others have written to the property list, key by key.
  ///
  /// There is no log and no base to merge with: the file has everything that counts, except for
  /// edits that are still deferred here. A status that is known to be that of the last contents
  /// read saves the reading.
  ///
  /// - Throws: ``PreferencesError`` `.damaged` when it does not parse. It is left as it is.
  func readPlainFile(_ replay: inout Replay, reading: Reading? = nil) throws {
    guard let status = try plain.status(), status != plistState.lastSeen else { return }
    let isRead = reading?.status == status
    let data = try isRead ? reading?.data ?? Data() : plain.read()
    // A journal from a time when the file system was mounted otherwise may have more than it has
    // published. The first change writes all of that to the property list, which counts alone from
    // then on.
    let found = PublishedFile.Copy(fingerprint: .init(data), mark: .init(status))
    if !plistState.hasPlainContents,
      found.fingerprint == plistState.published.current.fingerprint
        || plistState.published.previous.isSame(as: found)
    {
      return recordStatus(status, readNow: !isRead)
    }
    plistState.hasPlainContents = true
    let fields: PropertyList.Fields
    do {
      fields = try PropertyList.fields(of: data)
    } catch {
      throw PreferencesError(
        code: .damaged,
        message:
          "The property list \(plist.lastPathComponent) does not parse. Repair it or move it away.",
        domain: name, cause: error)
    }
    // Deferred edits are newer than the file.
    let mine = Set(pending.edits.map { ExactKey($0.key) })
    let edits = replay.table.edits(to: fields)
    if let stamps = KeyStamps(file: data) {
      resetStamps(to: stamps.added(to: try BinaryPropertyList.encode([:])))
    } else {
      recordChanges(edits.map(\.key), plainStamp)
    }
    for edit in edits where !mine.contains(ExactKey(edit.key)) {
      replay.externalChanges.rewrites += 1
      replay.edit(edit.key, edit.value, isOwn: false)
    }
    recordStatus(status, readNow: !isRead)
  }

  /// Records the status of the file that was read or written just now.
  ///
  /// Two changes within a tick of the file system's clock can look the same. So a status counts as
  /// known only if the file had it when it was read some time after it was first seen. The time is
  /// this system's: a server's clock may differ, and a file's date can be set.
  private func recordStatus(_ status: FileStatus?, readNow: Bool = true) {
    let now = ContinuousClock.now
    if let status, status == plistState.firstSeen?.status {
      if readNow, let time = plistState.firstSeen?.time,
        now - time > .seconds(Self.writeGracePeriod)
      {
        plistState.lastSeen = status
      }
      return
    }
    plistState.lastSeen = nil
    plistState.firstSeen = status.map { ($0, now) }
  }
}
