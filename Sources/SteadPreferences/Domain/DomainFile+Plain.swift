import Foundation
import SteadFiles
import SteadFormats

// On a file system that cannot hold a journal the property list is the only file: each change reads and writes all of it.
extension DomainFile {
  /// Whether the property list is the only file.
  var isPlain: Bool { unsupported != nil && !options.isReadOnly }

  private var plain: PlainFile { Self.plainFile(plist) }

  /// A property list as the only file of a domain.
  static func plainFile(_ plist: URL) -> PlainFile {
    PlainFile(plist, lock: plist.deletingPathExtension().appendingPathExtension("lock"))
  }

  /// Notes that the file system cannot hold a journal, and reports it once.
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

  /// Applies several edits as one if the expected values still hold, and returns whether they did.
  @discardableResult
  func applyPlainly(
    ifStill expected: [DomainEdit] = [], _ replay: inout Replay,
    _ make: (Replay) -> [DomainEdit]
  ) throws -> Bool {
    // Another program may have written what waited.
    dropWritten()
    return try plain.withLock {
      try readPlainFile(&replay)
      try writeWaitingPlainly(&replay)
      guard replay.matches(expected) else { return false }
      try writePlainly(make(replay), isOwn: true, &replay)
      stuckTail = nil
      return true
    }
  }

  /// Writes pending values and these edits. Requires the lock.
  private func writePlainly(_ new: [DomainEdit], isOwn: Bool, _ replay: inout Replay) throws {
    let edits = pending.edits + new
    guard !edits.isEmpty else { return }
    // Values of other programs were checked where they were set.
    if isOwn { try replay.checkQuota(options.quota, edits) }
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
    hasPlainContents = true
    for edit in edits where isOwn || replay.table[edit.key] != edit.value {
      replay.edit(edit.key, edit.value, isOwn: isOwn)
    }
    (pending, savedIn) = (PendingEdits(), nil)
  }

  /// Writes the values that other programs have left in the waiting file, and removes it. Requires the lock.
  ///
  /// Programs leave them there while another one has the lock. The file system may also have been able to hold a journal then.
  private func writeWaitingPlainly(_ replay: inout Replay) throws {
    guard waiting.isPresent else {
      hasWaitingFile = false
      return
    }
    func write(_ contents: WaitingFile.Contents) throws {
      // Later ones win: what was set here is newer than what was found in the file, unless it is there, too.
      let old = pending
      let mine = savedIn == contents.id ? [] : old.edits
      pending = PendingEdits()
      for edit in contents.edits + mine { pending.add(edit) }
      do {
        try writePlainly([], isOwn: false, &replay)
      } catch {
        pending = old
        throw error
      }
    }
    // No record of a journal is begun, as a salt of 0 says.
    try waiting.merge(at: Journal.Place(salt: 0, offset: 0), write)
    hasWaitingFile = false
  }

  /// Later than all that is known, also than what a journal has: where that can be used again, it takes the property list for
  /// one that was published later.
  private var plainStamp: Journal.Stamp {
    let now = UInt64(max(0, Date().timeIntervalSince1970) * 1_000_000)
    return Journal.Stamp(
      generation: max(stampSources.stamps.horizon.generation + 1, now), offset: 0)
  }

  /// Applies what others have written.
  ///
  /// - Throws: ``PreferencesError`` `.damaged` when the file does not parse. It is left as it is.
  func readPlainFile(_ replay: inout Replay) throws {
    guard let status = try plain.status(), status != lastSeen else { return }
    let isRead = reading?.status == status
    let data = try isRead ? reading?.data ?? Data() : plain.read()
    // A journal that was made where the file system was mounted otherwise may have more than it has published. The first change
    // writes all of that to the property list, which counts alone from then on.
    let found = PublishedFile.Copy(fingerprint: .init(data), mark: .init(status))
    if !hasPlainContents,
      found.fingerprint == published.current.fingerprint || published.previous.isSame(as: found)
    {
      return recordStatus(status, readNow: !isRead)
    }
    hasPlainContents = true
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
    let mine = Set(pending.edits.map { Array($0.key.utf8) })
    let edits = replay.table.edits(to: fields)
    if let stamps = KeyStamps(file: data) {
      resetStamps(to: stamps.added(to: try BinaryPropertyList.encode([:])))
    } else {
      recordChanges(edits.map(\.key), plainStamp)
    }
    for edit in edits where !mine.contains(Array(edit.key.utf8)) {
      replay.externalChanges.rewrites += 1
      replay.edit(edit.key, edit.value, isOwn: false)
    }
    recordStatus(status, readNow: !isRead)
  }

  /// Notes the status of the file that was read or written just now.
  ///
  /// Two changes within a tick of the file system's clock can look the same. So a file is known only if it looks as it did
  /// when it was read a while before, by this system's clock: a server's may differ, and that of a file can be set.
  private func recordStatus(_ status: FileStatus?, readNow: Bool = true) {
    let now = ContinuousClock.now
    if let status, status == firstSeen?.status {
      if readNow, let time = firstSeen?.time, now - time > .seconds(Self.writeGracePeriod) {
        lastSeen = status
      }
      return
    }
    lastSeen = nil
    firstSeen = status.map { ($0, now) }
  }
}
