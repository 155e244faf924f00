import Foundation
import SteadTestSupport
import Synchronization
import Testing

@testable import SteadFiles

/// Moments at which somebody looks at a journal whose contents are being replaced in place.
///
/// A program mapped the file while it held the old contents and the new ones, and read it when the new ones were in place and the
/// file was shorter again. It took that for another program's truncation, and reported that the file was overwritten.
struct JournalRewritingMomentTests {
  private let directory: TemporaryDirectory
  private var url: URL { directory.file("a.journal") }

  init() throws { directory = try TemporaryDirectory(inMemory: true) }

  enum Visit: CaseIterable, Sendable {
    case opening, openingForReading, reading, readingOnly, looking, writing, flushing
  }

  /// What others do at a moment of the visit.
  enum Interruption: CaseIterable, Sendable {
    /// The next one completes what was killed, and appends.
    case completion
    /// The same, and then another replacement.
    case replacement
    /// Another replacement, which is killed as well.
    case anotherKill
  }

  /// A process is killed after any sync of a replacement, or isn't. Somebody visits the file, and is interrupted at each of the
  /// calls of the disk that the visit consists of.
  @Test(arguments: 0..<6, Visit.allCases)
  func `a visit at any moment finds everything and reports nothing`(step: Int, visit: Visit) throws
  {
    for interruption in Interruption.allCases {
      for call in 0..<16 {
        let isReached = try check(
          step, visit, interruption, at: call,
          "step \(step), \(visit), \(interruption) at call \(call)")
        if !isReached { break }
      }
    }
  }

  /// Returns whether the visit has as many calls.
  private func check(
    _ step: Int, _ visit: Visit, _ interruption: Interruption, at call: Int, _ comment: Comment
  ) throws -> Bool {
    try? FileManager.default.removeItem(at: url)
    let (other, next) = try (writer(), writer())
    let disk = VisitingDisk()
    let visitor = try LineLog(
      url, access: visit == .readingOnly ? .readOnly : .readWrite, disk: disk)
    try other.append("2", "3", "4")
    if step % 2 == 0, visit != .readingOnly { try visitor.refresh() }
    try replace(failingAfter: step)
    var expected = ["1", "2", "3", "4"]
    disk.interrupt(at: call) {
      // It waits for no lock: the visitor may have it.
      guard (try? next.append("5")) != nil else { return }
      expected.append("5")
      if interruption != .completion {
        try? replace(failingAfter: interruption == .replacement ? 9 : 3)
      }
    }
    var logs = [visitor, other, next]
    switch visit {
    case .opening: logs.append(try LineLog(url, disk: disk))
    case .openingForReading: logs.append(try LineLog(url, access: .readOnly, disk: disk))
    case .reading, .readingOnly: try visitor.refresh()
    case .looking: try visitor.look()
    case .writing: try visitor.append("own")
    case .flushing: try visitor.journal.flush()
    }
    let isReached = disk.isInterrupted
    if visit == .writing { expected.insert("own", at: 4) }
    for log in logs {
      try log.refresh()
      #expect(log.lines.sorted() == expected.sorted(), comment)
      if log.journal.access == .readWrite { try log.look() }
    }
    try visitor.journal.access == .readWrite ? visitor.append("6") : other.append("6")
    for log in logs {
      #expect(log.journal.hasNews || log.lines.last == "6", comment)
      try log.refresh()
      #expect(log.lines.sorted() == (expected + ["6"]).sorted(), comment)
      #expect(log.damages.isEmpty, "\(comment): \(log.damages.map(\.kind))")
      #expect(!log.journal.isSpoilt, comment)
    }
    #expect(try LineLog(url).lines.sorted() == (expected + ["6"]).sorted(), comment)
    return isReached
  }

  private func writer() throws -> LineLog {
    let log = try LineLog(url, disk: MountingDisk(url.filePath), initial: ["1"])
    log.journal.lockWait = .zero
    return log
  }

  /// Replaces the contents, or is killed after so many syncs.
  private func replace(failingAfter syncs: Int) throws {
    let disk = MountingDisk(url.filePath)
    let log = try LineLog(url, disk: disk)
    log.journal.lockWait = .zero
    disk.failAfter(syncs)
    _ = try? log.compact()
  }

  /// A program that only read went on with old values: it compared where the log ended, which was the same as before.
  @Test func `new contents that end at the same place are news`() throws {
    let other = try LineLog(url, initial: ["1"])
    let reader = try LineLog(url, access: .readOnly)
    let log = try LineLog(url, disk: MountingDisk(url.filePath))
    let tail = log.journal.tailWord
    try log.append("2")
    try log.compact()
    #expect(log.journal.tailWord == tail)
    for each in [other, reader] {
      #expect(each.journal.hasNews)
      try each.refresh()
      #expect(each.lines == ["1", "2"] && each.damages.isEmpty)
      #expect(!each.journal.hasNews)
    }
    #expect(!log.journal.hasNews)
  }

  /// A record that was read before the contents were replaced got the new ones' stamp. It was newer then than what was set later,
  /// and a program that compared its memory with the file restored the old value.
  @Test(arguments: [0, 1, 2], 0..<3)
  func `what was read from old contents keeps its stamp`(copies: Int, moment: Int) throws {
    let log = try LineLog(url, disk: MountingDisk(url.filePath), initial: ["1"])
    // Records that come from earlier files have origins.
    for number in 0..<copies {
      let prepared = try log.compaction().prepare()
      try log.append("early \(number)")
      #expect(try log.finish(prepared))
    }
    try log.append("2", "3")
    let expected = try stamps {}
    var events = 0
    let found = try stamps {
      defer { events += 1 }
      if events == moment { try log.compact() }
    }
    #expect(found.prefix(moment + 1) == expected.prefix(moment + 1))
  }

  /// The stamps that a program gets for the checkpoint and each record, while others do something at each of them.
  private func stamps(_ body: () throws -> Void) throws -> [Journal.Stamp] {
    let journal = try Journal(
      url: url, initial: { Journal.Checkpoint(bytes: Data()) }, onDamage: { _ in },
      repair: { _ in Journal.Checkpoint(bytes: Data()) })
    var stamps: [Journal.Stamp] = []
    try journal.read { event in
      try body()
      switch event {
      case .checkpoint: stamps.append(journal.checkpointStamp)
      case .record: stamps.append(journal.stamp(ofRecordAt: journal.recordOffset))
      }
    }
    return stamps
  }
}

/// A disk that lets others do something after one of its calls, with the result of before.
///
/// What they do is not Sendable, and only leaves the test's thread in the compiler's eyes: a journal starts no threads, so
/// the disk is called by the thread that gave it the body.
private final class VisitingDisk: ForwardingDisk {
  let real = POSIXDisk()
  private let state = Mutex<(left: Int, body: (() -> Void)?)>((0, nil))

  func interrupt(at call: Int, _ body: @escaping () -> Void) {
    nonisolated(unsafe) let body = body
    state.withLock { $0 = (call, body) }
  }

  /// Whether there was such a call.
  var isInterrupted: Bool { state.withLock { $0.body == nil } }

  private func pass<Result>(_ result: Result) -> Result {
    nonisolated(unsafe) var body: (() -> Void)?
    state.withLock { state in
      if state.left == 0 { (body, state.body) = (state.body, nil) }
      state.left -= 1
    }
    body?()
    return result
  }

  func open(_ path: String, _ flags: Int32, mode: mode_t) throws -> Int32 {
    pass(try real.open(path, flags, mode: mode))
  }
  func status(_ descriptor: Int32, path: String) throws -> FileStatus {
    pass(try real.status(descriptor, path: path))
  }
  func status(at path: String) throws -> FileStatus? { pass(try real.status(at: path)) }
  func syncContents(_ descriptor: Int32, path: String) throws {
    pass(try real.syncContents(descriptor, path: path))
  }
  func rename(_ path: String, to newPath: String) throws {
    // A mount point, too.
    if try real.status(at: newPath) != nil {
      throw FileError(errno: EBUSY, doing: "put the new file in place", path: newPath)
    }
    try real.rename(path, to: newPath)
  }
}
