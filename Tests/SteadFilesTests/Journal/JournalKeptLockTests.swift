import CSteadFiles
import Foundation
import Testing

@testable import SteadFiles

/// A writer keeps the lock for a moment when its writes follow one another closely, and others get it
/// nevertheless. Each object is like a process of its own.
@Suite struct JournalKeptLockTests {
  let directory: TemporaryDirectory
  let url: URL

  init() throws {
    directory = try TemporaryDirectory()
    url = directory.file("a.journal")
  }

  /// A list whose journal keeps its lock, and another one that waits for it no longer than for a writer at
  /// work.
  private func keeperAndOther() throws -> (keeper: LineLog, other: LineLog) {
    let other = try LineLog(url)
    other.journal.lockWait = .zero
    return (try LineLog.keepingLock(url), other)
  }

  @Test func `others get the lock with the next write`() throws {
    let (keeper, other) = try keeperAndOther()
    let count = keeper.lines.count
    #expect { try other.append("o") } throws: { ($0 as? FileError)?.code == .busy }
    #expect(keeper.journal.keepsLock, "nothing was written yet")
    try keeper.append("k")
    #expect(!keeper.journal.keepsLock)
    try other.append("o")
    #expect(other.lines.count == count + 2 && other.lines.suffix(2) == ["k", "o"])
    try keeper.append("k")
    #expect(keeper.lines == other.lines + ["k"])
  }

  /// The word in the file says that somebody waits, but nobody does any more.
  @Test func `who asked for the lock and died costs one release`() throws {
    let (keeper, other) = try keeperAndOther()
    #expect(throws: FileError.self) { try other.append("o") }
    try keeper.append("k")
    try keeper.keepLock()
    try keeper.append("k")
    #expect(keeper.journal.keepsLock)
  }

  /// A writer that never pauses once took the lock again before a waiting process had woken, for up to 0.6 s.
  @Test(.ownThread) func `who frees the lock leaves it to one that waits`() throws {
    let log = try LineLog(url)
    // Unsafe in name alone: the other thread uses it while this one waits for its end.
    nonisolated(unsafe) let other = try LineLog(url)
    other.journal.lockWait = .seconds(60)
    var first = 0
    let rounds = 50
    for round in 0..<rounds {
      let (start, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      Thread {
        start.wait()
        try? other.append("other \(round)")
        end.signal()
      }.start()
      try log.journal.write(catchingUp: { _ in }) { _ in
        start.signal()
        let wanted = UInt64(STEAD_LOCK_WANTED)
        while log.journal.file.word(at: JournalLayout.keptLock) != wanted { sched_yield() }
      }
      try log.append("log \(round)")
      // The other one was first, unless the machine has had no processor for it for 5 ms.
      if log.lines.last(where: { $0 == "other \(round)" }) != nil { first += 1 }
      end.wait()
      try log.refresh()
    }
    #expect(first > rounds / 10)
    #expect(try LineLog(url).lines.count == 2 * rounds)
  }

  private func word(_ log: LineLog) -> UInt64 { log.journal.file.word(at: JournalLayout.keptLock) }

  /// The next writer once slept for 5 ms, for nobody.
  @Test func `a request that is given up holds nobody up`() throws {
    let (log, other) = (try LineLog(url), try LineLog(url))
    other.journal.lockWait = .milliseconds(2)
    try log.journal.write(catchingUp: { _ in }) { _ in
      #expect { try other.append("o") } throws: { ($0 as? FileError)?.code == .busy }
      #expect(word(log) == 0)
      _ = other.journal.insistOnLock()
      #expect(word(log) == UInt64(STEAD_LOCK_WANTED))
      other.journal.withdrawRequest()
      #expect(word(log) == 0)
    }
    #expect(!log.journal.isLockYielded)
  }

  /// A process that had asked for the lock, and got it because it was free, once left it to itself.
  @Test func `who has got the lock leaves it to nobody`() throws {
    let log = try LineLog(url)
    _ = log.journal.insistOnLock()
    try log.append("1")
    #expect(word(log) == 0 && !log.journal.isLockYielded)
  }

  /// A writer that was kept from running until the time was over once took the lock for another program's.
  @Test func `a refusal for the sake of others is told from a lock that others have`() throws {
    let log = try LineLog(url)
    log.journal.leavesLock = true
    // Another program asks for it.
    log.journal.file.setWord(UInt64(STEAD_LOCK_WANTED), at: JournalLayout.keptLock)
    try log.append("1")
    try #require(log.journal.isLockYielded)
    // For ever, as far as this test goes.
    log.journal.lockYieldedUntil = .max
    #expect { try log.append("2") } throws: { ($0 as? FileError)?.code == .busy }
    log.journal.lockYieldedUntil = 0
    #expect(log.journal.leftLockWait != nil)
    try log.append("2")
    #expect(log.journal.leftLockWait == nil)
    #expect(try LineLog(url).lines == ["1", "2"])
  }

  /// Who had let it have the lock once waited for 5 ms.
  @Test func `who frees the lock without having written says so`() throws {
    let (log, other) = (try LineLog(url), try LineLog(url))
    try log.append("1")
    log.journal.file.setWord(UInt64(STEAD_LOCK_YIELDED), at: JournalLayout.keptLock)
    #expect(throws: CocoaError.self) {
      try other.journal.write(catchingUp: { _ in throw CocoaError(.featureUnsupported) }) { _ in }
    }
    #expect(word(log) == 0)
  }

  /// On a machine that is busy, whoever opens it may have gone on without the lock before it is free.
  @Test func `who opens the file asks for the lock too`() throws {
    let place = url
    // Unsafe in name alone: until both threads have ended, the second one uses it by itself.
    nonisolated(unsafe) let keeper = try LineLog.keepingLock(place)
    try inThreads(2) { thread in
      if thread == 0 {
        let log = try LineLog(place)
        try log.append("opened")
      } else {
        let kept = UInt64(STEAD_LOCK_KEPT)
        while keeper.journal.file.word(at: JournalLayout.keptLock) == kept { sched_yield() }
        try keeper.append("k")
      }
    }
    try keeper.refresh()
    #expect(keeper.lines.suffix(2) == ["k", "opened"])
  }

  @Test func `the lock is free once nothing is written`() throws {
    let (keeper, other) = try keeperAndOther()
    #expect(keeper.journal.freeIdleLock() != nil && keeper.journal.keepsLock)
    try keeper.append("k")
    #expect(keeper.journal.freeIdleLock() != nil && keeper.journal.keepsLock)
    #expect(keeper.journal.freeIdleLock() == nil && !keeper.journal.keepsLock)
    try other.append("o")
    #expect(keeper.journal.freeIdleLock() == nil)
  }

  @Test func `who sees to the lock frees it for others at once`() throws {
    let (keeper, other) = try keeperAndOther()
    #expect(throws: FileError.self) { try other.append("o") }
    #expect(keeper.journal.freeIdleLock() == nil && !keeper.journal.keepsLock)
    try other.append("o")
  }

  /// The same file is opened and locked a second time there, which would wait for the lock that is kept.
  @Test(arguments: ["removed", "exchanged", "overwritten", "damaged", "compacted"])
  func `what befalls the file is seen to with the lock kept`(_ fate: String) throws {
    let (keeper, other) = try keeperAndOther()
    keeper.journal.lockWait = .milliseconds(20)
    let copy = directory.file("copy")
    try FileManager.default.copyItem(at: url, to: copy)
    switch fate {
    case "removed": try FileManager.default.removeItem(at: url)
    case "exchanged": try #require(rename(copy.filePath, url.filePath) == 0)
    case "overwritten":
      let backup = directory.file("backup")
      try LineLog(backup).append("b")
      try Data(contentsOf: backup).write(over: url)
    case "damaged":
      let file = try FileHandle(forUpdating: url)
      try file.seek(toOffset: UInt64(JournalLayout.headerByteCount + 4))
      try file.write(contentsOf: Data([0xFF]))
      keeper.journal.position = 0
    default: try keeper.compact()
    }
    #expect(fate == "compacted" || keeper.journal.keepsLock)
    if fate == "damaged" { try keeper.refresh() }
    try keeper.look()
    try keeper.append("k")
    keeper.journal.freeKeptLock()
    try other.look()
    try other.append("o")
    #expect(other.lines.suffix(2) == ["k", "o"])
    #expect(try LineLog(url).lines == other.lines)
  }

  // MARK: Processes

  @Test(.exitTests) func `a fork frees the lock`() async throws {
    let path = url.filePath
    await #expect(processExitsWith: .success) { [path = path as String] in
      let log = try LineLog.keepingLock(URL(filePath: path))
      let other = try LineLog(URL(filePath: path))
      other.journal.lockWait = .zero
      let child = try ForkedChild {
        guard !log.journal.keepsLock else { throw CocoaError(.featureUnsupported) }
        try log.append("child")
      }
      #expect(!log.journal.keepsLock)
      #expect(child.finish() == 0)
      try other.append("other")
      try log.append("parent")
      #expect(log.lines.suffix(3) == ["child", "other", "parent"])
    }
  }

  /// A process that has the lock forks and is killed, and its child goes on without using the journal.
  @Test(.exitTests) func `a child that outlives its parent has no lock`() async throws {
    let path = url.filePath
    await #expect(processExitsWith: .success) { [path = path as String] in
      var (gate, ready): ([Int32], [Int32]) = ([0, 0], [0, 0])
      try #require(pipe(&gate) == 0 && pipe(&ready) == 0)
      let parent = try ForkedChild {
        let log = try LineLog.keepingLock(URL(filePath: path))
        _ = try ForkedChild {
          close(gate[1])
          var byte: UInt8 = 1
          write(ready[1], &byte, 1)
          read(gate[0], &byte, 1)
        }
        withExtendedLifetime(log) { _ = kill(getpid(), SIGKILL) }
      }
      #expect(parent.finish() == -SIGKILL)
      var byte: UInt8 = 0
      #expect(read(ready[0], &byte, 1) == 1, "the child lives")
      let log = try LineLog(URL(filePath: path))
      log.journal.lockWait = .zero
      try log.append("other")
      close(gate[1])
    }
  }

  @Test(.exitTests) func `the lock of a killed process is free`() async throws {
    let path = url.filePath
    await #expect(processExitsWith: .success) { [path = path as String] in
      let child = try ForkedChild {
        let log = try LineLog.keepingLock(URL(filePath: path))
        try log.append("last")
        withExtendedLifetime(log) { _ = kill(getpid(), SIGKILL) }
      }
      #expect(child.finish() == -SIGKILL)
      let log = try LineLog(URL(filePath: path))
      #expect(log.lines.last == "last" && log.damages.isEmpty)
      log.journal.lockWait = .zero
      try log.append("other")
      #expect(try LineLog(URL(filePath: path)).lines == log.lines)
    }
  }

  @Test(.exitTests) func `a stopped process is waited for no longer than the limit`() async throws {
    let path = url.filePath
    await #expect(processExitsWith: .success) { [path = path as String] in
      let log = try LineLog(URL(filePath: path))
      log.journal.lockWait = .milliseconds(50)
      let child = try ForkedChild {
        let log = try LineLog.keepingLock(URL(filePath: path))
        raise(SIGSTOP)
        // Somebody has asked for the lock meanwhile.
        try log.append("on")
        raise(SIGSTOP)
        withExtendedLifetime(log) {}
      }
      // Stopped, it would outlive its alarm.
      defer {
        kill(child.id, SIGKILL)
        _ = child.finish()
      }
      var status: Int32 = 0
      try #require(waitpid(child.id, &status, WUNTRACED) == child.id)
      try log.refresh()
      let (count, start) = (log.lines.count, ContinuousClock.now)
      #expect { try log.append("o") } throws: { ($0 as? FileError)?.code == .busy }
      #expect(ContinuousClock.now - start < Journal.lockWaitLimit * 10)
      kill(child.id, SIGCONT)
      try #require(waitpid(child.id, &status, WUNTRACED) == child.id)
      try log.append("o")
      #expect(log.lines.count == count + 2 && log.lines.suffix(2) == ["on", "o"])
    }
  }
}

extension LineLog {
  /// How many lines are appended at most until the lock is kept, on a machine that is very busy.
  private static let limit = 1_000_000

  /// A list that keeps the lock of its journal, as it does after some hundred lines.
  static func keepingLock(_ url: URL) throws -> LineLog {
    let log = try LineLog(url)
    try log.keepLock()
    return log
  }

  func keepLock() throws {
    journal.mayKeepLock = true
    for number in 0..<Self.limit where !journal.keepsLock { try append("line \(number)") }
    guard journal.keepsLock else { throw CocoaError(.fileLocking) }
  }
}

extension Data {
  /// Writes over what a file holds, without another file taking its place.
  func write(over url: URL) throws {
    let file = try FileHandle(forWritingTo: url)
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: self)
    try file.close()
  }
}
