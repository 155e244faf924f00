import Foundation
import SteadFiles
import SteadFormats

extension DomainFile {
  /// For how long, in seconds, a file that does not parse may be one that a tool is still
  /// writing.
  static let writeGracePeriod: TimeInterval = 2
  /// How often a compaction publishes again because the file is edited meanwhile.
  static let publishingLimit = 8

  /// What is known about the property list: which file was published, and what has been seen since.
  struct PropertyListState {
    /// The property list that the journal's checkpoint was published as.
    var published = PublishedFile(current: .none, previous: .none)
    /// The property list file as it was when it was last read.
    var onDisk = PublishedFile.Copy.none
    /// The status of the property list at which it needs no reading; nil if it must be read.
    var lastSeen: FileStatus?
    /// The status of a plain file, and when it was first seen.
    var firstSeen: (status: FileStatus, time: ContinuousClock.Instant)?
    /// Whether the property list has had contents that no journal has published, so that it counts
    /// alone.
    var hasPlainContents = false
    /// Whether the property list does not parse, but was changed so recently that its writer may
    /// not be done.
    var isBeingWritten = false
    /// Whether the property list was damaged or empty, and has to be written again.
    var isQuarantined = false
    /// Whether it was reported that XML cannot hold the domain.
    var hasReportedFormat = false
  }

  /// The contents of a property list that another program or a person has written.
  struct ExternalEdit {
    var fields: PropertyList.Fields
    var copy: PublishedFile.Copy
    /// When the keys were set, if the file was published by a journal that was lost.
    var stamps: KeyStamps?
  }

  /// The property list's contents, read without the store's lock, so that no call waits for a large
  /// file.
  ///
  /// They are used only if the file still has the same status under the lock.
  struct Reading: Sendable {
    let status: FileStatus
    let data: Data
    let fingerprint: PublishedFile.Fingerprint

    /// nil when the file does not exist, or is unchanged since it was last read.
    init?(_ plist: URL, lastSeen: FileStatus?) throws {
      let path = plist.path(percentEncoded: false)
      // The status before the contents: a file that is changed in between no longer has it, and is
      // read again.
      guard let status = try POSIXDisk().statusFollowingLinks(path), status.kind == .file,
        status != lastSeen, let data = try DomainFile.plainFile(plist).readIfPresent()
      else { return nil }
      (self.status, self.data, fingerprint) = (status, data, .init(data))
    }
  }

  // MARK: - Publishing

  /// Writes a new checkpoint, and publishes it with the edits that others have made in the property
  /// list.
  ///
  /// Three-way merge: an editor started from the file that the last checkpoint was published as.
  /// What differs from that checkpoint is an edit, and counts as set just now; everything else
  /// keeps what the log has. So the old checkpoint must be read before it is replaced, and no
  /// checkpoint is made while a tool may be writing the file: its base would be gone.
  ///
  /// - Parameters:
  ///   - base: What the editor started from, if it is neither the last checkpoint nor the one
  ///     before.
  ///   - reading: The property list, if it was read without the lock.
  func compact(
    _ writer: Journal.Writer, _ replay: inout Replay, base: DomainTable? = nil,
    reading: Reading? = nil
  ) throws {
    var base = base
    // A damaged checkpoint is found here, before it would serve as the base of a merge.
    var isRepairing = !journal.isCheckpointIntact
    if isRepairing {
      try writer.reportDamagedCheckpoint()
      base = try baseWithoutCheckpoint(replay, reading)
    }
    // Each iteration merges one edit. An edit that comes between the merge and the renaming makes
    // ``publish(_:)`` return false, and the next iteration merges that one, with the checkpoint
    // that was just replaced as its base.
    for _ in 0..<Self.publishingLimit {
      let edited = try mergeEdits(
        base: base ?? DomainTable(propertyList: writer.checkpointBytes()), reading, &replay)
      // The writer of the file started with this checkpoint, so it is compared with that.
      guard !plistState.isBeingWritten else { return }
      // Nothing to write: the file that is there was published from this checkpoint, and the log is
      // empty.
      guard writer.logByteCount > 0 || !isPublished || isRepairing else { return }
      // The new checkpoint is made from memory, so records that were overwritten are not
      // lost. They are kept aside first, since the compaction removes them.
      try writer.reportDamagedLog()
      // Only needed as the next base, if the file is edited before it is published.
      let old = edited == nil && !isRepairing ? try writer.checkpointBytes() : Data()
      let draft = try CheckpointDraft(of: replay.table, for: self)
      try writer.compact(to: draft.checkpoint)
      resetStamps(to: draft.checkpoint.bytes)
      if try publish(draft) { return }
      // The next editor started from the file that is there now: from the edited one, or from the
      // one before.
      if edited != nil || !isRepairing { base = try edited ?? DomainTable(propertyList: old) }
      isRepairing = false
    }
    // Constant edits are applied by the next look, and published by the next checkpoint.
  }

  /// The base of an edit when the checkpoint is damaged, as far as memory knows it.
  ///
  /// Of keys that were set since, memory has only the new values. For these the property list has
  /// what the checkpoint had, unless it was edited, which cannot be told: the new values
  /// win.
  private func baseWithoutCheckpoint(_ replay: Replay, _ reading: Reading?) throws -> DomainTable {
    var base = replay.table
    guard let edited = try externalEdits(reading) else { return base }
    try journal.visitLog { record in
      try DomainRecord.decode(record) { key, _ in base.replace(key, with: edited.fields[key]) }
    }
    return base
  }

  /// Renames the file that was prepared from the journal's current checkpoint.
  ///
  /// - Returns: false if the old file was edited at the last moment; that file keeps the
  ///   name.
  func publish(_ draft: CheckpointDraft) throws -> Bool {
    plistState.published = draft.published
    guard try draft.file.place(ifStill: draft.isExpected) else { return false }
    // The name now leads to the published file. Its status is not trusted until it has been read
    // some time later.
    plistState.onDisk = draft.published.current
    plistState.lastSeen = nil
    plistState.isQuarantined = false
    return true
  }

  // MARK: - Merging edits

  /// Applies to the table what an editor has changed in the property list.
  ///
  /// - Parameters:
  ///   - base: What the editor started from.
  ///   - reading: The property list, if it was read without the lock.
  /// - Returns: The contents of the edited file; nil if it was not edited.
  @discardableResult
  func mergeEdits(
    base: @autoclosure () throws -> DomainTable, _ reading: Reading?, _ replay: inout Replay
  ) throws -> DomainTable? {
    guard let edited = try externalEdits(reading) else { return nil }
    replay.externalChanges.rewrites += 1
    // Not an edit but another journal's publication: compared by stamps, since there is no common
    // base.
    if let stamps = edited.stamps {
      mergeNewer(edited, stamps, &replay)
      return DomainTable(edited.fields)
    }
    let old = try base()
    // An edit counts as later than all records. No record has it; the next checkpoint does.
    let stamp = journal.nextStamp
    var new = DomainTable()
    for field in edited.fields {
      new.replace(field.key, with: field.value)
      // Unchanged by the editor: the log's newer value, if any, stays.
      guard !field.value.isSame(as: old[field.key]) else { continue }
      replay.edit(field.key, field.value, isOwn: false)
      recordEdit(field.key, stamp)
    }
    // A key that the editor's base had and the file lacks was removed by hand.
    for field in old.fields() where edited.fields[field.key] == nil {
      replay.edit(field.key, nil, isOwn: false)
      recordEdit(field.key, stamp)
    }
    plistState.onDisk = edited.copy
    return new
  }

  /// Records when a key was edited.
  ///
  /// A process that may only read merges the same edit at each read, and never writes the stamps:
  /// recording them would take memory each time.
  private func recordEdit(_ key: String, _ stamp: Journal.Stamp) {
    guard !isReadOnly else { return }
    recordChanges([key], stamp)
  }

  // MARK: - What a file counts as

  /// The property list's contents, if neither this process nor another one of this package wrote
  /// them.
  ///
  /// Classifies the file by the table "What a property list file counts as" in
  /// Documentation/PreferencesFile.md; the order of the checks is that of its rows. The flags of
  /// ``PropertyListState`` and its `onDisk` say what it found.
  ///
  /// - Parameter earlier: The file, if it was read without the lock.
  /// - Throws: ``PreferencesError`` `.damaged` when the file does not parse and cannot be
  ///   quarantined.
  func externalEdits(_ earlier: Reading? = nil) throws -> ExternalEdit? {
    plistState.isBeingWritten = false
    let path = plist.path(percentEncoded: false)
    guard let status = try POSIXDisk().statusFollowingLinks(path), status.kind == .file else {
      // A missing file is no edit. The next checkpoint writes it again.
      plistState.onDisk = .none
      return nil
    }
    // The usual case costs one system call.
    guard status != plistState.lastSeen else { return nil }
    // The file was read without the lock. If its status has changed since, it is read again here.
    let isRead = earlier?.status == status
    guard let reading = try isRead ? earlier : Reading(plist, lastSeen: plistState.lastSeen)
    else { return nil }
    let (seen, data) = (reading.status, reading.data)
    let found = PublishedFile.Copy(fingerprint: reading.fingerprint, mark: .init(seen))
    // By contents for the current file, whatever its inode: a copy of what was published is no
    // edit. By inode and date, too, for the file before: a copy of that one takes back what was set
    // last, and so it is an edit.
    if found.fingerprint == plistState.published.current.fingerprint
      || plistState.published.previous.isSame(as: found)
    {
      plistState.onDisk = found
      remember(seen)
      return nil
    }
    // Before parsing: bits that the disk has flipped must not be merged as an edit.
    if try isDamaged(seen, path) {
      try reportDamage(data, seen)
      return nil
    }
    // Mount points alone are written in place; everywhere else a rename makes this impossible.
    if isPartiallyWritten(data, path) {
      plistState.onDisk = found
      plistState.isQuarantined = true
      return nil
    }
    // A power loss can leave this of a file that was not synced.
    if data.allSatisfy({ $0 == 0 }), !seen.isRecent {
      plistState.onDisk = found
      plistState.isQuarantined = true
      return nil
    }
    do {
      return ExternalEdit(
        fields: try PropertyList.fields(of: data), copy: found, stamps: stampsOfLostJournal(data))
    } catch {
      try quarantine(data, seen, error)
      return nil
    }
  }

  /// The stamps in a file that was published later than the journal's checkpoint: by a journal that
  /// was lost, or that a backup has replaced.
  ///
  /// Such a file is no edit of this journal's checkpoint. Its keys are compared by their stamps,
  /// one by one.
  private func stampsOfLostJournal(_ data: Data) -> KeyStamps? {
    // nil for an edited file, too: an editor drops the block, or leaves a hash that doesn't match.
    guard let found = KeyStamps(file: data) else { return nil }
    let horizon = stampSources.block.flatMap { KeyStamps(block: $0)?.horizon } ?? stampSources.floor
    return found.horizon > horizon ? found : nil
  }

  /// Applies what a file has newer than the table.
  private func mergeNewer(_ edited: ExternalEdit, _ stamps: KeyStamps, _ replay: inout Replay) {
    let known = stampSources.stamps
    for edit in replay.table.edits(to: edited.fields) where stamps.isNewer(edit, than: known) {
      // A removal that the file doesn't name may be a key of which its writer knew nothing.
      guard edit.value != nil || stamps.known(edit.key) != nil else { continue }
      replay.edit(edit.key, edit.value, isOwn: false)
      guard !isReadOnly else { continue }
      stampSources.changes.append(
        KeyChange(
          key: edit.key, offset: journal.recordOffset,
          stamp: stamps.known(edit.key) ?? stamps.floor))
    }
    plistState.onDisk = edited.copy
  }

  /// Whether the contents differ from what was published though they were not edited: number,
  /// date and length agree.
  ///
  /// - Parameter status: The status before the file was read. It is taken again here, since
  ///   a tool may have begun to write in between.
  private func isDamaged(_ status: FileStatus, _ path: String) throws -> Bool {
    // Without a mark, damage cannot be told from an edit, and counts as one.
    guard let mark = plistState.published.current.mark, mark == .init(status),
      plistState.published.current.fingerprint.byteCount == status.size
    else { return false }
    return try POSIXDisk().statusFollowingLinks(path).map { mark == .init($0) } ?? false
  }

  /// Whether the file is the beginning of what was published: a process was killed, or is at work,
  /// while it wrote to a mount point in place.
  private func isPartiallyWritten(_ data: Data, _ path: String) -> Bool {
    // The cheap conditions first; reading the checkpoint is only needed after a kill.
    guard data.count < plistState.published.current.fingerprint.byteCount,
      POSIXDisk().isMountPoint(path),
      let bytes = (try? journal.checkpointBytes())
    else { return false }
    func isPublished(_ text: Data?) -> Bool {
      guard let text else { return false }
      return text.prefix(data.count) == data
        && .init(text) == plistState.published.current.fingerprint
    }
    // The published file is the checkpoint itself or its XML form, whichever format the options
    // name now.
    let stamps = KeyStamps.block(of: bytes).flatMap { KeyStamps(block: Data(bytes[$0])) }
    let table = try? DomainTable(propertyList: bytes)
    return isPublished(bytes) || isPublished(table.flatMap { self.xml($0, stamps) })
  }

  /// Quarantines a file that the disk has damaged. The next checkpoint writes it again.
  private func reportDamage(_ data: Data, _ status: FileStatus) throws {
    plistState.onDisk = .init(fingerprint: .init(data), mark: .init(status))
    plistState.lastSeen = status
    let message =
      "The property list \(plist.lastPathComponent) is damaged, though nobody has edited "
      + "it. Check the disk. "
    // A read-only process must not create files, not even copies.
    guard !isReadOnly else {
      let error = PreferencesError(
        code: .damaged, message: message + "The journal's values stay in effect.")
      return problems.add(error)
    }
    let name = try QuarantinedFile(of: plist).write(data)
    plistState.isQuarantined = true
    problems.add(
      PreferencesError(
        code: .damaged,
        message: message + "It is kept as \(name), and is written again from the journal."))
  }

  /// Records that a file needs no reading until its status changes.
  ///
  /// Not for a recent one: two changes within a tick of the file system's clock have the same
  /// status.
  private func remember(_ seen: FileStatus) {
    if !seen.isRecent { plistState.lastSeen = seen }
  }

  /// Quarantines a file that does not parse. The next checkpoint writes it again.
  private func quarantine(_ data: Data, _ seen: FileStatus, _ cause: any Error) throws {
    // A program may be in the middle of writing it. It is read again once that must be done.
    guard !seen.isRecent else {
      plistState.isBeingWritten = true
      return
    }
    guard !isReadOnly else {
      throw PreferencesError(
        code: .damaged,
        message:
          "The property list \(plist.lastPathComponent) does not parse. Repair it or move it "
          + "away.", cause: cause)
    }
    let name = try QuarantinedFile(of: plist).write(data)
    plistState.onDisk = .init(fingerprint: .init(data), mark: .init(seen))
    // The next read must take this file for one to be replaced, and not quarantine it again.
    plistState.published.previous = plistState.onDisk
    plistState.isQuarantined = true
    problems.add(
      PreferencesError(
        code: .damaged,
        message: "The property list \(plist.lastPathComponent) does not parse. It is kept as "
          + "\(name), and is written again from the journal.", cause: cause))
  }
}

// MARK: - Comparing

extension FileStatus {
  /// Whether a tool may still be writing the file. By the distance, so that a clock that was set
  /// back does not keep a file recent.
  fileprivate var isRecent: Bool {
    abs(modified.timeIntervalSinceNow) < DomainFile.writeGracePeriod
  }
}

extension PropertyList {
  /// The keys and values of a property list file in any format.
  ///
  /// - Throws: `PropertyListError`, or ``PreferencesError`` `.damaged` when the root is not a
  ///   dictionary.
  static func fields(of data: Data) throws -> Fields {
    guard case .dictionary(let fields) = try parse(data) else {
      throw PreferencesError(
        code: .damaged, message: "The property list's root is not a dictionary.")
    }
    return fields
  }

  /// Whether a value that a tool has written back is the original one.
  ///
  /// XML has whole seconds only, and tools write every real number in 64 bits. Without this a tool
  /// that changes one key would edit all dates.
  func isSame(as other: PropertyList?) -> Bool {
    switch (self, other) {
    case (.date(let left), .date(let right)?):
      // Whole seconds come from XML. The binary formats of tools round dates to microseconds at
      // worst.
      let seconds = left.timeIntervalSinceReferenceDate
      let distance = abs(left.timeIntervalSince(right))
      return distance < 1e-5 || seconds == seconds.rounded() && distance < 1
    case (.double(let left), .float(let right)?): return left == Double(right)
    case (.float(let left), .double(let right)?): return Double(left) == right
    case (.array(let left), .array(let right)?):
      return left.count == right.count && zip(left, right).allSatisfy { $0.isSame(as: $1) }
    case (.dictionary(let left), .dictionary(let right)?):
      return left.count == right.count && left.allSatisfy { $0.value.isSame(as: right[$0.key]) }
    default: return self == other
    }
  }
}
