import CSteadFiles
import Foundation

/// What is wrong with a journal file, and where its bytes were kept.
package struct JournalDamage: Sendable {
  /// The part of the file that is damaged.
  package enum Kind: Sendable, Hashable {
    /// The header. If one of its two copies is good, nothing is lost; otherwise the whole file is. An empty
    /// file, or one of zeros only, counts as one without a header.
    case header
    /// The checkpoint. The records after it are still read.
    case checkpoint
    /// The log. The records before the damage are still read.
    case log
    /// The file isn't one of this library's journals.
    case notAJournal
    /// The open file was removed. Its contents were restored.
    case removed
    /// Another file took the open one's name. The open one was restored, with the records that others had appended to the
    /// other one there.
    case exchanged
    /// The open file was truncated, or overwritten in place. Its owner restores it.
    case overwritten
  }

  /// The part of the file that is damaged.
  package var kind: Kind
  /// Where in the file the damage begins, in bytes.
  package var offset: Int
  /// The maximum number of bytes of checkpoint or records lost; 0 when nothing is lost, or when the file is
  /// empty and the number is unknown.
  package var lostByteCount: Int
  /// The journal's file.
  package var url: URL
  /// Where the damaged file is now; nil when it was opened read-only and is in its old place, and for a file
  /// of zeros, which isn't worth keeping.
  package var keptAside: URL?

  /// Describes damage; the package does this, and a test may, too.
  package init(kind: Kind, offset: Int, lostByteCount: Int, url: URL, keptAside: URL?) {
    self.kind = kind
    self.offset = offset
    self.lostByteCount = lostByteCount
    self.url = url
    self.keptAside = keptAside
  }
}

extension Journal {
  @discardableResult
  func report(
    _ kind: JournalDamage.Kind, at offset: Int, lost: Int, keptAside: URL?
  ) -> JournalDamage {
    let damage = JournalDamage(
      kind: kind, offset: offset, lostByteCount: max(lost, 0), url: url, keptAside: keptAside)
    onDamage(damage)
    return damage
  }

  var damagedAgain: FileError {
    FileError(
      code: .damaged,
      message: "The journal was damaged again right after its repair; check the disk.", path: path)
  }
}

extension FileError {
  /// The error for a journal that another program truncated or overwrote during a call.
  static func overwritten(_ path: String) -> FileError {
    FileError(
      code: .changed,
      message: "Another program overwrote the journal during the call; try again.", path: path)
  }
}

// MARK: - Damaged files

extension Journal {
  /// Keeps what is at the path aside under a second name, ``keptAsideLimit`` of which exist; the oldest is replaced.
  ///
  /// A file gets a hard link, so that it stays at the path until another one is renamed over it: at no moment does the journal have
  /// no file. What isn't a file is renamed. Requires the lock of the file, or that of the directory for something else.
  func quarantine() throws -> URL {
    let status = try disk.status(at: path)
    let (identity, isFile) = (status?.identity, status?.kind == .file)
    var oldest: (path: String, modified: Date)?
    for number in 1...Self.keptAsideLimit {
      let aside = "\(path).damaged-\(number)"
      guard let found = try disk.status(at: aside) else {
        if isFile { try copy(to: aside) } else { try disk.rename(path, to: aside) }
        return URL(filePath: aside)
      }
      // A process that was killed while it repaired the file got this far.
      if found.identity == identity { return URL(filePath: aside) }
      // A directory may hold anything, and is somebody else's.
      guard found.kind != .directory else { continue }
      if oldest.map({ found.modified < $0.modified }) ?? true { oldest = (aside, found.modified) }
    }
    guard let aside = oldest?.path else { throw quarantineFull }
    // Limited, as a program that damages the file at each start would fill the disk.
    try disk.remove(aside)
    if isFile { try copy(to: aside) } else { try disk.rename(path, to: aside) }
    return URL(filePath: aside)
  }

  private var quarantineFull: FileError {
    FileError(
      code: .notAFile,
      message: "\(Self.keptAsideLimit) directories have the names \(name.fileName).damaged-1 to "
        + "-\(Self.keptAsideLimit), so nothing can be kept aside; move them away.", path: name)
  }

  /// Gives the file a second name, or copies it where the file system has no hard links.
  private func copy(to aside: String) throws {
    do {
      try disk.link(path, to: aside)
    } catch let error as FileError where error.code == .denied || error.code == .failed {
      let contents = try disk.contents(of: path, limit: AtomicFile.sizeLimit)
      try AtomicFile(URL(filePath: aside), disk: disk).create(with: contents)
    }
  }
}

// MARK: - Damaged checkpoints and records

// They may be damaged while the file is open. Who has received them does not read them again, so only a flush and a compaction
// find out.
extension Journal {
  /// Whether the open file's checkpoint is what its owner has received. Costs reading it.
  ///
  /// It is true for a file that was truncated or overwritten as a whole, which a revalidation restores.
  package var isCheckpointIntact: Bool {
    substitute != nil || file.isBlank || isSpoilt || file.hasCheckpoint(header)
  }

  /// Keeps the open file aside, and reports that its checkpoint is damaged. Requires the lock.
  ///
  /// The owner has received what was in it, and replaces the file by a compaction.
  func reportDamagedCheckpoint() throws {
    let aside = try isPathCurrent() ? quarantine() : nil
    report(.checkpoint, at: JournalLayout.headerByteCount, lost: 0, keptAside: aside)
  }

  /// Keeps the open file aside, and reports that its log is damaged, if that isn't what its owner has received. Requires the
  /// lock. Costs reading the log.
  ///
  /// The owner replaces the file by a compaction. A file that was truncated or overwritten as a whole is left to a revalidation.
  func reportDamagedLog() throws {
    guard !file.isBlank, !isSpoilt else { return }
    let end = JournalLog(bytes: file.bytes, seed: seed).end(from: header.logStart)
    // Asked again: the file may have been truncated while the log was read.
    guard end < Int(position), !isSpoilt else { return }
    let aside = try isPathCurrent() ? quarantine() : nil
    report(.log, at: end, lost: 0, keptAside: aside)
  }
}

extension Journal.Writer {
  /// Keeps the open file aside, and reports that its checkpoint is damaged; ``compact(to:)`` replaces the file next.
  package func reportDamagedCheckpoint() throws { try journal.reportDamagedCheckpoint() }

  /// Keeps the open file aside, and reports it, if its log isn't what the owner has received; ``compact(to:)`` replaces the
  /// file next.
  package func reportDamagedLog() throws { try journal.reportDamagedLog() }
}
