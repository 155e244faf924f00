import Foundation
import SteadTestSupport
import Testing

@testable import SteadFiles

/// Another file takes an open journal's name while other processes are about to use that file.
struct JournalExchangeTests {
  private let directory: TemporaryDirectory
  private var url: URL { directory.file("a.journal") }

  init() throws { directory = try TemporaryDirectory(inMemory: true) }

  /// Whether a file is a copy was decided before its lock was held. Another process opened it and appended a record in between,
  /// and the file was moved aside with that record. The file that replaced it said that it contained everything.
  @Test(arguments: [false, true], [0, 1, 3])
  func `a copy that another process opens first stays`(isCompacted: Bool, later: Int) throws {
    let (disk, url) = (InterferingDisk(), url)
    let log = try LineLog(url, disk: disk)
    try log.append("1", "2")
    let backup = directory.file("backup")
    try FileManager.default.copyItem(at: url, to: backup)
    if isCompacted { try log.compact() }
    for number in 0..<later { try log.append("later \(number)") }
    try rename(backup)
    // The first one only looks at what has the name.
    disk.act(at: .open, url.filePath, number: 2) { try LineLog(url).append("theirs") }
    try log.look()
    #expect(disk.hasActed)
    #expect(log.lines == ["1", "2", "theirs"])
    // The owner writes what it had in memory.
    #expect(log.journal.isRecovering || later == 0 && !isCompacted)
    #expect(try LineLog(url).lines == log.lines)
  }

  /// The new file took over the list of files that the copy contained, although nothing of the copy was in it. A process
  /// that had one of those open restored nothing.
  @Test(arguments: 1...3)
  func `a file that was restored does not contain what a copy contained`(compactions: Int) throws {
    let stopped = try LineLog(url)
    try stopped.append("1", "2")
    let other = try LineLog(url)
    for _ in 0..<compactions { try other.compact() }
    let backup = directory.file("backup")
    try FileManager.default.copyItem(at: url, to: backup)
    try FileManager.default.removeItem(at: url)
    let log = try LineLog(url)
    try log.append("3")
    try rename(backup)
    try log.look()
    #expect(log.lines == ["3"])
    #expect(log.damages.map(\.kind) == [.exchanged])
    try stopped.look()
    #expect(stopped.lines == ["3"])
    #expect(stopped.journal.isRecovering)
  }

  /// A file that isn't a journal is kept aside, and another one is renamed to its name. Another process had done the same by
  /// then, and what it had written was lost.
  @Test func `a file that another process has put over a stranger stays`() throws {
    let (disk, url) = (InterferingDisk(), url)
    let log = try LineLog(url, disk: disk)
    try log.append("1")
    let stranger = directory.file("stranger")
    try Data("none of ours".utf8).write(to: stranger)
    try rename(stranger)
    disk.act(at: .link, url.filePath) {
      try FileManager.default.removeItem(at: url)
      try LineLog(url).append("theirs")
    }
    #expect { try log.look() } throws: { ($0 as? FileError)?.code == .changed }
    #expect(disk.hasActed)
    try log.look()
    #expect(log.lines == ["theirs"])
    #expect(log.journal.isRecovering)
    #expect(try LineLog(url).lines == ["theirs"])
  }

  /// An older version's file has a number that leaves out the time of birth. The file was taken for a backup, and its records
  /// were moved aside.
  @Test(arguments: [false, true])
  func `a file that an older version has made under the name stays`(isCompacted: Bool) throws {
    let log = try LineLog(url)
    try log.append("1")
    try FileManager.default.removeItem(at: url)
    do {
      let older = try LineLog(url)
      try older.append("theirs")
      if isCompacted { try older.compact() }
      let identity = try #require(older.journal.file.identity)
      let home = (identity.file &* 0x9E37_79B9_7F4A_7C15 ^ identity.device) | 1
      older.journal.file.setWord(home, at: JournalLayout.home)
    }
    try log.look()
    #expect(log.lines == ["theirs"])
    #expect(log.damages.map(\.kind) == [.exchanged])
    #expect(log.damages.first?.keptAside == nil)
    #expect(log.journal.isRecovering)
  }

  private func rename(_ new: URL) throws {
    try POSIXDisk().rename(new.checkedPath, to: url.checkedPath)
  }
}
