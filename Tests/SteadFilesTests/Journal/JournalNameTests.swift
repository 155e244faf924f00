import CSteadFiles
import Foundation
import SteadTestSupport
import Testing

@testable import SteadFiles

/// What somebody puts in the place of a journal, before it is opened and while it is.
struct JournalNameTests {
  private let directory: TemporaryDirectory
  private var url: URL { directory.file("a.journal") }

  init() throws { directory = try TemporaryDirectory() }

  enum Thing: String, CaseIterable {
    case directory, fullDirectory, pipe, danglingLink, linkToNowhere, loop, movedAndLinked
    case copiedAndLinked, empty, stranger, copy
  }

  // MARK: Numbers of files

  /// A compaction freed the number of the first file, and a copy of that got it. The copy's old values then counted as
  /// newer ones, since its home said that it was no copy.
  @Test func `a copy with the number of the original is a copy`() throws {
    let disk = ReusingDisk()
    let log = try LineLog(url, disk: disk)
    try log.append("1")
    let first = try #require(try disk.real.status(at: url.checkedPath)).identity.file
    let backup = directory.file("backup")
    try FileManager.default.copyItem(at: url, to: backup)
    try log.compact()
    try log.append("2")
    let copy = try #require(try disk.real.status(at: backup.checkedPath)).identity.file
    disk.aliases.withLock { $0 = [copy: first] }
    try disk.rename(backup.checkedPath, to: url.checkedPath)
    try log.look()
    #expect(log.lines == ["1", "2"])
    #expect(try LineLog(url).lines == ["1", "2"])
    let aside = try #require(log.damages.last?.keptAside)
    #expect(try LineLog(aside).lines == ["1"])
  }

  /// As above, but with the numbers that the file system gives.
  @Test func `no copy is taken for the original whatever number it gets`() throws {
    var isReused = false
    for attempt in 0..<50 where !isReused {
      let url = directory.file("\(attempt).journal")
      let backup = directory.file("\(attempt).backup")
      let log = try LineLog(url)
      try log.append("1")
      let first = try POSIXDisk().status(at: url.checkedPath)?.identity
      try FileManager.default.copyItem(at: url, to: backup)
      try log.compact()
      try log.append("2")
      let copy = directory.file("\(attempt).copy")
      try FileManager.default.copyItem(at: backup, to: copy)
      isReused = try POSIXDisk().status(at: copy.checkedPath)?.identity == first
      try POSIXDisk().rename(copy.checkedPath, to: url.checkedPath)
      try log.look()
      #expect(log.lines == ["1", "2"], "reused: \(isReused)")
      #expect(log.damages.last?.keptAside != nil, "reused: \(isReused)")
    }
  }

  /// The word "durable name" said that the directory of a copy was synced, if the copy had the original's number.
  @Test func `the directory of a copy is made durable whatever number it has`() throws {
    let disk = ReusingDisk()
    let log = try LineLog(url, disk: disk)
    try log.journal.flush()
    let copy = directory.file("copy.journal")
    try FileManager.default.copyItem(at: url, to: copy)
    let (first, second) = (
      try #require(try disk.real.status(at: url.checkedPath)).identity.file,
      try #require(try disk.real.status(at: copy.checkedPath)).identity.file
    )
    disk.aliases.withLock { $0 = [second: first] }
    let copied = try LineLog(copy, disk: disk)
    let before = disk.directorySyncs.withLock { $0 }
    try copied.journal.flush()
    #expect(disk.directorySyncs.withLock { $0 } == before + 1)
  }

  // MARK: Things in the place of the file

  /// Something that wasn't a file made every look fail, and the journal was not restored.
  @Test(arguments: Thing.allCases, [1, 2])
  func `a thing in the place of an open journal takes no record away`(
    thing: Thing, count: Int
  ) throws {
    let logs = try (0..<count).map { _ in try LineLog(url) }
    try logs[0].append("1")
    try logs[0].look()
    let backup = directory.file("backup")
    try FileManager.default.copyItem(at: url, to: backup)
    for (number, log) in logs.enumerated() { try log.append("\(number + 2)") }
    try put(thing, backup)
    for log in logs { try log.look() }
    for log in logs { try log.append("last") }
    for log in logs { try log.look() }
    let expected =
      ["1"] + (0..<count).map { "\($0 + 2)" } + Array(repeating: "last", count: count)
    for log in logs {
      try log.refresh()
      #expect(log.lines == expected)
    }
    try logs[0].journal.flush()
    try logs[0].compact()
    #expect(try LineLog(url).lines == expected)
    #expect(try keptAside() == (thing.isKept ? 1 : 0))
  }

  @Test(arguments: Thing.allCases)
  func `a thing in the place of a closed journal doesn't keep it from being opened`(
    thing: Thing
  ) throws {
    try LineLog(url).append("1")
    let backup = directory.file("backup")
    try FileManager.default.copyItem(at: url, to: backup)
    try put(thing, backup)
    let log = try LineLog(url)
    try log.append("2")
    try log.look()
    switch thing {
    case .movedAndLinked, .copiedAndLinked, .copy: #expect(log.lines == ["1", "2"])
    case .stranger: #expect(log.lines == ["repaired", "2"])
    default: #expect(log.lines == ["2"])
    }
    #expect(try LineLog(url).lines == log.lines)
  }

  @Test(arguments: [Thing.directory, .pipe, .loop])
  func `a thing that is no file is left to who only reads`(thing: Thing) throws {
    try put(thing, directory.file("none"))
    let failure = #expect(throws: FileError.self) { try LineLog(url, access: .readOnly) }
    #expect(failure?.message.contains("a.journal") == true)
    #expect(try keptAside() == 0)
  }

  /// Directories that were kept aside are somebody's, and are never removed.
  @Test func `no directory is removed to make room for another one`() throws {
    let log = try LineLog(url)
    for _ in 0..<Journal.keptAsideLimit {
      try put(.fullDirectory, directory.file("none"))
      try log.look()
    }
    try put(.fullDirectory, directory.file("none"))
    let failure = #expect(throws: FileError.self) { try log.look() }
    #expect(failure?.message.contains("a.journal") == true)
    #expect(try keptAside() == Journal.keptAsideLimit)
  }

  @Test func `a link that is replaced by its file is no loss`() throws {
    try put(.danglingLink, directory.file("none"))
    let log = try LineLog(url)
    try log.append("1")
    let target = directory.file("target")
    try POSIXDisk().rename(target.checkedPath, to: url.checkedPath)
    try log.look()
    try log.append("2")
    #expect(log.damages.isEmpty)
    try log.compact()
    #expect(try LineLog(url).lines == ["1", "2"])
    #expect(try POSIXDisk().status(at: target.checkedPath) == nil)
  }

  // MARK: Damaged checkpoints

  /// A removed file could not be put back, because its checkpoint was damaged before.
  @Test(arguments: [1, 2])
  func `a removed file with a damaged checkpoint is put back`(count: Int) throws {
    let logs = try (0..<count).map { _ in try LineLog(url, initial: ["a", "b"]) }
    try logs[0].append("1")
    for log in logs { try log.refresh() }
    let file = try FileHandle(forWritingTo: url)
    try file.seek(toOffset: 4_096)
    try file.write(contentsOf: Data([0xFF]))
    try file.close()
    #expect(!logs[0].journal.isCheckpointIntact)
    try FileManager.default.removeItem(at: url)
    for log in logs {
      try log.look()
      #expect(log.journal.isRecovering, "the owner has what the checkpoint had")
      #expect(log.lines == ["repaired", "1"])
    }
    #expect(logs[0].damages.map(\.kind) == [.checkpoint, .removed])
  }

  private func keptAside() throws -> Int {
    try directory.names.count { $0.contains(".damaged-") }
  }

  private func put(_ thing: Thing, _ backup: URL) throws {
    let (manager, path, target) = (FileManager.default, url.filePath, directory.file("target"))
    if thing == .movedAndLinked { try manager.moveItem(at: url, to: target) }
    if try POSIXDisk().status(at: path) != nil { try manager.removeItem(at: url) }
    switch thing {
    case .directory: try manager.createDirectory(at: url, withIntermediateDirectories: false)
    case .fullDirectory:
      try manager.createDirectory(at: url, withIntermediateDirectories: false)
      try Data("mine".utf8).write(to: url.appending(path: "file"))
    case .pipe: #expect(mkfifo(path, 0o600) == 0)
    case .danglingLink, .movedAndLinked: #expect(symlink("target", path) == 0)
    case .linkToNowhere: #expect(symlink("new/directory/target", path) == 0)
    case .loop: #expect(symlink("a.journal", path) == 0)
    case .copiedAndLinked:
      try manager.moveItem(at: backup, to: target)
      #expect(symlink("target", path) == 0)
    case .empty: try Data().write(to: url)
    case .stranger: try Data("none of ours".utf8).write(to: url)
    case .copy: try manager.moveItem(at: backup, to: url)
    }
  }
}

extension JournalNameTests.Thing {
  /// Whether it is kept aside when it takes an open journal's place.
  fileprivate var isKept: Bool {
    switch self {
    case .danglingLink, .linkToNowhere, .movedAndLinked: false
    default: true
    }
  }
}

/// A disk that gives files the numbers of earlier ones.
private final class ReusingDisk: ForwardingDisk {
  let real = POSIXDisk()
  /// The numbers that files have, by those that the system has given them.
  let aliases = ForkSafeLock<[UInt64: UInt64]>([:])
  let directorySyncs = ForkSafeLock(0)

  func status(_ descriptor: Int32, path: String) throws -> FileStatus {
    renumbered(try real.status(descriptor, path: path))
  }

  func status(at path: String) throws -> FileStatus? {
    try real.status(at: path).map(renumbered)
  }

  func sync(_ descriptor: Int32, path: String) throws {
    if try real.status(descriptor, path: path).kind == .directory {
      directorySyncs.withLock { $0 += 1 }
    }
    try real.sync(descriptor, path: path)
  }

  private func renumbered(_ status: FileStatus) -> FileStatus {
    var status = status
    let file = status.identity.file
    status.identity.file = aliases.withLock { $0[file] ?? file }
    return status
  }
}
