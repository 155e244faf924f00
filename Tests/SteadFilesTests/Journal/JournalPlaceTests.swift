import Foundation
import SteadTestSupport
import Testing

@testable import SteadFiles

/// Files that somebody removes, exchanges, cuts off or writes over while they are open.
struct JournalPlaceTests {
  private let directory: TemporaryDirectory
  private var url: URL { directory.file("a.journal") }

  init() throws { directory = try TemporaryDirectory() }

  @Test func `puts back a removed file`() throws {
    let (log, other) = (try LineLog(url), try LineLog(url))
    try log.append("1", "2")
    try FileManager.default.removeItem(at: url)
    try other.append("3")
    try log.look()
    #expect(try LineLog(url).lines == ["1", "2", "3"])
    #expect((other.damages + log.damages).map(\.kind) == [.removed])
    try other.append("4")
    try log.refresh()
    #expect(log.lines == ["1", "2", "3", "4"])
    #expect(try LineLog(url).lines == log.lines)
  }

  @Test func `puts back a removed directory`() throws {
    let url = directory.file("domain/a.journal")
    let log = try LineLog(url)
    try log.append("1")
    try FileManager.default.removeItem(at: directory.file("domain"))
    try log.look()
    #expect(try LineLog(url).lines == ["1"])
  }

  /// A backup that was renamed once brought back old values, and took those with it that had been set since it was made.
  @Test func `a backup that takes the name takes no record away`() throws {
    let (log, other) = (try LineLog(url), try LineLog(url))
    try log.append("1", "2")
    let backup = directory.file("backup")
    try FileManager.default.copyItem(at: url, to: backup)
    try log.append("3")
    try log.look()
    try rename(backup)
    try other.append("4")
    try log.append("5")
    try other.look()
    #expect(other.lines == ["1", "2", "3", "4", "5"])
    #expect(other.damages.map(\.kind) == [.exchanged])
    let aside = try #require(other.damages.first?.keptAside)
    #expect(try LineLog(aside).lines == ["1", "2"])
    try log.refresh()
    #expect(log.lines == other.lines)
    #expect(log.damages.isEmpty)
    #expect(try LineLog(url).lines == other.lines)
  }

  /// Nobody can tell which of a backup's records are old. Those that were appended where it is now are not.
  @Test(arguments: [false, true])
  func `what others write into a file that took the name stays`(isNew: Bool) throws {
    let log = try LineLog(url)
    try log.append("1", "2")
    let backup = directory.file("backup")
    try FileManager.default.copyItem(at: url, to: backup)
    try log.append("3")
    if isNew { try FileManager.default.removeItem(at: url) } else { try rename(backup) }
    let other = try LineLog(url)
    try other.append("4")
    try log.look()
    #expect(log.lines == (isNew ? ["4"] : ["1", "2", "4"]))
    // The owner compares that with what it had in memory.
    #expect(log.journal.isRecovering)
    try other.append("5")
    try log.refresh()
    #expect(log.lines == other.lines)
    #expect(try LineLog(url).lines == log.lines)
  }

  /// A write that finds the lock kept does not look at the file.
  @Test func `a write in a few looks at the name`() throws {
    let log = try LineLog.keepingLock(url)
    try FileManager.default.removeItem(at: url)
    for number in 0...Journal.writesPerLook { try log.append("last \(number)") }
    log.journal.freeKeptLock()
    #expect(try LineLog(url).lines == log.lines)
  }

  @Test func `a file that is no journal is kept aside`() throws {
    let log = try LineLog(url)
    try log.append("1")
    let stranger = directory.file("stranger")
    try Data("none of ours".utf8).write(to: stranger)
    try rename(stranger)
    try log.look()
    #expect(try LineLog(url).lines == ["1"])
    let aside = try #require(log.damages.first?.keptAside)
    #expect(try Data(contentsOf: aside) == Data("none of ours".utf8))
  }

  /// A reader that touches what the file has lost goes on.
  @Test(arguments: [0, 100, 4096]) func `survives a cut-off file`(length: Int) throws {
    let (log, other) = (try LineLog(url), try LineLog(url))
    try log.append("1", "2")
    try other.refresh()
    try cutOff(to: length)
    try log.refresh()
    try other.append("3")
    #expect([log, other].contains { $0.journal.isRecovering && !$0.damages.isEmpty })
    try log.refresh()
    #expect(log.lines.last == "3")
    #expect(try LineLog(url).lines == log.lines)
  }

  @Test func `a writer survives a cut-off file`() throws {
    let log = try LineLog(url)
    try log.append("1")
    try cutOff(to: 0)
    try log.append("2")
    #expect(log.journal.isRecovering)
    #expect(try LineLog(url).lines.last == "2")
  }

  @Test func `asks for what it held when a backup was copied over the file`() throws {
    let (log, other) = (try LineLog(url), try LineLog(url))
    // The same length, so that only the salt tells.
    try LineLog(directory.file("backup")).append("a")
    let backup = try Data(contentsOf: directory.file("backup"))
    try log.append("b")
    try other.refresh()
    let file = try FileHandle(forWritingTo: url)
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: backup)
    try file.close()
    try log.look()
    #expect(log.journal.isRecovering)
    try log.append("b")
    try other.append("c")
    #expect(other.journal.isRecovering)
    #expect(Array(other.lines.suffix(2)) == ["b", "c"])
    #expect(try LineLog(url).lines == other.lines)
  }

  /// Two processes that moved away the same thing chose the same free name, and the second one moved the first one's new journal
  /// there.
  @Test func `who clears the name does not move away the file that another process has made`()
    throws
  {
    let (disk, url) = (InterferingDisk(), url)
    let log = try LineLog(url, disk: disk)
    try log.append("1")
    try FileManager.default.removeItem(at: url)
    #expect(mkfifo(url.filePath, 0o600) == 0)
    let aside = url.filePath + ".damaged-1"
    disk.act(at: .status, aside) {
      do {
        try POSIXDisk().withLockedDirectory(url.filePath.directoryPath, wait: .zero) { _ in }
      } catch let error as FileError where error.code == .busy {
        return  // Another process would wait.
      }
      try LineLog(url).append("theirs")
    }
    try log.look()
    #expect(disk.hasActed)
    #expect(try POSIXDisk().status(at: aside)?.kind == .other)
    #expect(log.lines == ["1"])
    #expect(try LineLog(url).lines == ["1"])
  }

  // MARK: Locks

  @Test func `waits no longer than it says`() throws {
    let log = try LineLog(url)
    try log.append("1")
    let holder = try POSIXDisk().open(url.checkedPath, O_RDWR, mode: 0)
    #expect(try POSIXDisk().lock(holder, wait: false, path: ""))
    log.journal.lockWait = .milliseconds(20)
    #expect { try log.append("2") } throws: { ($0 as? FileError)?.code == .busy }
    try log.refresh()
    #expect(log.lines == ["1"])
    // What is in order is read without the lock.
    #expect(try LineLog(url).lines == ["1"])
    try log.journal.flush()
    unlockAndClose(holder)
    try log.append("2")
    #expect(try LineLog(url).lines == ["1", "2"])
  }

  @Test func `waits for a locked directory no longer than it says`() throws {
    let holder = try POSIXDisk().open(directory.url.checkedPath, O_RDONLY | O_DIRECTORY, mode: 0)
    defer { unlockAndClose(holder) }
    #expect(try POSIXDisk().lock(holder, wait: false, path: ""))
    #expect {
      try POSIXDisk().withLockedDirectory(directory.url.checkedPath, wait: .milliseconds(20)) { _ in
      }
    } throws: {
      ($0 as? FileError)?.code == .busy
    }
  }

  // MARK: The superuser

  @Test(.needs(.superuser)) func `the superuser leaves files to their owner`() throws {
    let home = directory.file("home").filePath
    try POSIXDisk().makeDirectory(home, mode: 0o700)
    #expect(chown(home, 4_001, 4_002) == 0)
    let url = directory.file("home/.config/app/a.journal")
    let log = try LineLog(url)
    try log.append("1")
    #expect(chmod(url.filePath, 0o640) == 0)
    try log.compact()
    for path in ["home/.config", "home/.config/app", "home/.config/app/a.journal"] {
      let status = try #require(try POSIXDisk().status(at: directory.file(path).checkedPath))
      #expect(status.user == 4_001 && status.group == 4_002, "\(path)")
    }
    #expect(try POSIXDisk().status(at: url.checkedPath)?.mode == 0o640)
  }

  // MARK: Failing disks

  @Test func `a failed flush is not forgotten`() throws {
    let log = try LineLog(url, disk: FailingSync())
    try log.append("1")
    #expect(throws: FileError.self) { try log.journal.flush() }
    let other = try LineLog(url)
    #expect { try other.journal.flush() } throws: { ($0 as? FileError)?.code == .damaged }
    try other.compact()
    try other.journal.flush()
  }

  /// The directory of a copy has still to be made durable.
  @Test func `a copy is not taken for the original`() throws {
    let (syncs, copy) = (CountingSyncs(), directory.file("copy.journal"))
    let log = try LineLog(url, disk: syncs)
    try log.journal.flush()
    #expect(syncs.directories.withLock { $0 } > 0)
    try FileManager.default.copyItem(at: url, to: copy)
    let copied = try LineLog(copy, disk: syncs)
    let before = syncs.directories.withLock { $0 }
    try copied.journal.flush()
    #expect(syncs.directories.withLock { $0 } == before + 1)
  }

  private func rename(_ new: URL) throws {
    try POSIXDisk().rename(new.checkedPath, to: url.checkedPath)
  }

  private func cutOff(to length: Int) throws {
    #expect(truncate(url.filePath, off_t(length)) == 0)
  }
}

/// A disk that cannot make contents durable.
private struct FailingSync: ForwardingDisk {
  let real = POSIXDisk()

  func syncContents(_ descriptor: Int32, path: String) throws {
    throw FileError(errno: EIO, doing: "make it durable", path: path)
  }
}

/// A disk that counts how often a directory is made durable.
private final class CountingSyncs: ForwardingDisk {
  let real = POSIXDisk()
  let directories = ForkSafeLock(0)

  func sync(_ descriptor: Int32, path: String) throws {
    if try real.status(descriptor, path: path).kind == .directory {
      directories.withLock { $0 += 1 }
    }
    try real.sync(descriptor, path: path)
  }
}
