import Foundation
import SteadTestSupport
import Testing

@testable import SteadFiles

/// Which file has a journal's name is decided by who has the lock of the file that has it now.
struct JournalReplacementTests {
  /// What becomes of the file.
  enum Fate: CaseIterable {
    case emptied, zeroed, cut, headerLost, headerDamaged, logDamaged, writtenOver
    case overwrittenByBackup, overwrittenByJournal, removed, exchangedForBackup,
      exchangedForStranger
  }

  private let directory: TemporaryDirectory
  private var url: URL { directory.file("a.journal") }

  init() throws { directory = try TemporaryDirectory(inMemory: true) }

  /// Two programs found the journal emptied, since a backup was being copied over it. The first one freed the lock when it closed
  /// the empty file, before its new one had the name. The second one replaced the file meanwhile, restored what it had in
  /// memory, and flushed. Then the first one's file took the name, and hundreds of values that were flushed were gone.
  @Test(arguments: [false, true])
  func `an emptied file is replaced by one program`(isOpen: Bool) throws {
    let (disk, url) = (InterferingDisk(), url)
    let log = try LineLog(url, disk: disk)
    try log.append("1")
    try Data().write(over: url)
    let hasWritten = ForkSafeLock(false)
    disk.act(at: .open, TemporaryFile.stem(of: url.filePath) + "0") {
      let file = try POSIXDisk().open(url.filePath, O_RDWR, mode: 0)
      defer { close(file) }
      // Another process would wait.
      guard try POSIXDisk().lock(file, wait: false, path: "") else { return }
      POSIXDisk().unlock(file)
      try LineLog(url).append("theirs")
      hasWritten.withLock { $0 = true }
    }
    if isOpen { try log.look() } else { _ = try LineLog(url, disk: disk) }
    #expect(disk.hasActed)
    #expect(try LineLog(url).lines.contains("theirs") == hasWritten.withLock { $0 })
  }

  @Test(arguments: Fate.allCases, [false, true])
  func `a file loses its name while it is locked`(fate: Fate, isOpen: Bool) throws {
    let disk = RenameCheckingDisk(url.filePath)
    let log = try LineLog(url, disk: disk)
    try log.append("1", "2")
    let backup = try Data(contentsOf: url)
    try log.append("3", "4")
    try meet(fate, backup)
    if isOpen { try log.look() } else { _ = try LineLog(url, disk: disk) }
    let replaced = disk.counts.withLock { $0 }
    #expect(replaced.unlocked == 0)
    switch fate {
    case .removed: break
    // Only who opens the file verifies what was read before.
    case .headerDamaged, .logDamaged: #expect(replaced.all > 0 || isOpen)
    // Only who had it open knows what it lacks.
    case .overwrittenByBackup, .overwrittenByJournal, .exchangedForBackup:
      #expect(replaced.all > 0 || !isOpen)
    default: #expect(replaced.all > 0)
    }
  }

  @Test(arguments: [false, true])
  func `a compaction replaces the file while it is locked`(isPrepared: Bool) throws {
    let disk = RenameCheckingDisk(url.filePath)
    let log = try LineLog(url, disk: disk)
    try log.append("1")
    if isPrepared {
      let prepared = try log.compaction().prepare()
      try log.append("2")
      #expect(try log.finish(prepared))
    } else {
      try log.compact()
    }
    let replaced = disk.counts.withLock { $0 }
    #expect(replaced.all == 1 && replaced.unlocked == 0)
  }

  // MARK: Files without a name

  /// Only one write in 65 looked at the name.
  @Test(arguments: [false, true])
  func `a write finds at once that the file has no name`(isRemade: Bool) throws {
    let log = try LineLog(url)
    try log.append("1")
    try FileManager.default.removeItem(at: url)
    if isRemade { try LineLog(url).append("theirs") }
    try log.append("2")
    #expect(log.damages.map(\.kind) == [isRemade ? .exchanged : .removed])
    #expect(log.journal.isRecovering == isRemade)
    #expect(try LineLog(url).lines == (isRemade ? ["theirs", "2"] : ["1", "2"]))
  }

  /// A backup was being copied over the journal. One program found it empty, and replaced it. The copy went on into the file that had
  /// lost its name, and looked like the journal to another program, which had set nothing since the backup was made. That
  /// one appended to it.
  @Test(arguments: [0, 1, 3])
  func `nobody appends to a file that was filled again without a name`(later: Int) throws {
    let log = try LineLog(url)
    try log.append("1")
    let backup = try Data(contentsOf: url)
    let copy = try FileHandle(forWritingTo: url)
    try copy.truncate(atOffset: 0)
    let other = try LineLog(url)
    for number in 0..<later { try other.append("theirs \(number)") }
    try copy.write(contentsOf: backup)
    try log.append("2")
    #expect(log.lines.last == "2")
    #expect(log.journal.isRecovering)
    #expect(try LineLog(url).lines == log.lines)
  }

  /// The same where the file has a second name, so that only a look finds that it has lost its own. The file that has the
  /// name contains as many bytes of it, but not the same.
  @Test(arguments: 1...3)
  func `records that were appended to a lost file are compared with the other one's`(count: Int)
    throws
  {
    let (log, other) = (try LineLog(url), try LineLog(url))
    try log.append("1")
    try other.refresh()
    let backup = try Data(contentsOf: url)
    try FileManager.default.linkItem(at: url, to: directory.file("second"))
    let copy = try FileHandle(forWritingTo: url)
    for number in 0..<4 { try other.append("theirs \(number)") }
    try other.compact()
    try copy.truncate(atOffset: 0)
    try copy.write(contentsOf: backup)
    for number in 0..<count { try log.append("mine \(number)") }
    #expect(!log.journal.isRecovering)
    try log.look()
    #expect(log.lines == other.lines)
    #expect(log.journal.isRecovering)
  }

  /// A compaction moved aside what had taken the name, and another process may have written to that.
  @Test func `a compaction doesn't replace another process's file`() throws {
    let (disk, url) = (InterferingDisk(), url)
    let log = try LineLog(url, disk: disk)
    try log.append("1")
    disk.act(at: .open, TemporaryFile.stem(of: url.filePath) + "0") {
      try FileManager.default.removeItem(at: url)
      try LineLog(url).append("theirs")
    }
    #expect { try log.compact() } throws: { ($0 as? FileError)?.code == .changed }
    #expect(disk.hasActed)
    #expect(try LineLog(url).lines == ["theirs"])
    try log.append("2")
    #expect(log.lines == ["theirs", "2"])
    #expect(log.journal.isRecovering)
  }

  // MARK: Support

  private func meet(_ fate: Fate, _ backup: Data) throws {
    let (whole, page) = (try Data(contentsOf: url), JournalLayout.headerByteCount)
    switch fate {
    case .emptied: try Data().write(over: url)
    case .zeroed: try Data(count: whole.count).write(over: url)
    case .cut: try whole.prefix(page + 20).write(over: url)
    case .headerLost: try (Data(count: 1_000) + whole.dropFirst(1_000)).write(over: url)
    case .headerDamaged:
      var damaged = whole
      for copy in JournalLayout.copies { damaged[copy + 32] ^= 1 }
      try damaged.write(over: url)
    case .logDamaged:
      var damaged = whole
      damaged[page + JournalLayout.recordHeaderByteCount] ^= 1
      try damaged.write(over: url)
    case .writtenOver: try Data("none of ours".utf8).write(over: url)
    case .overwrittenByBackup: try backup.write(over: url)
    case .overwrittenByJournal:
      let other = directory.file("other")
      try LineLog(other).append("other")
      try Data(contentsOf: other).write(over: url)
    case .removed: try FileManager.default.removeItem(at: url)
    case .exchangedForBackup, .exchangedForStranger:
      let new = directory.file("new")
      try (fate == .exchangedForBackup ? backup : Data("none of ours".utf8)).write(to: new)
      try POSIXDisk().rename(new.filePath, to: url.filePath)
    }
  }
}

/// A disk that tells of each file that loses its name to another one whether somebody has it locked.
private final class RenameCheckingDisk: ForwardingDisk {
  let real = POSIXDisk()
  let counts = ForkSafeLock((all: 0, unlocked: 0))
  private let path: String

  init(_ path: String) { self.path = path }

  func rename(_ path: String, to newPath: String) throws {
    if newPath == self.path, let file = try? real.open(newPath, O_RDONLY, mode: 0) {
      let isUnlocked = try real.lock(file, wait: false, path: newPath)
      real.close(file)
      counts.withLock { $0 = ($0.all + 1, $0.unlocked + (isUnlocked ? 1 : 0)) }
    }
    try real.rename(path, to: newPath)
  }
}
