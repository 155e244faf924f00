import Foundation
import SteadTestSupport
import Synchronization
import Testing

@testable import SteadFiles

/// What becomes of a journal's open files when a call of the system fails.
///
/// An error while an opening completed what a killed process had begun left the file open and locked, so that nobody got the lock
/// until the program ended. One right after the contents of a mount point had been replaced closed a descriptor twice, which may
/// be another file's by then.
struct JournalDescriptorTests {
  private let directory: TemporaryDirectory
  private var url: URL { directory.file("a.journal") }

  init() throws { directory = try TemporaryDirectory(inMemory: true) }

  /// What is found under the name.
  enum Found: CaseIterable, Sendable { case nothing, empty, intact, damaged, image, stranger }

  enum Use: CaseIterable, Sendable { case opening, openingForReading, compaction, restoring }

  /// Each call of the disk fails once, by itself or with all that follow.
  @Test(arguments: Found.allCases, [true, false])
  func `after any error each file is closed once and nothing is locked`(
    found: Found, isMount: Bool
  ) throws {
    // The system says which empty file is a mount point.
    if found == .empty, isMount { return }
    for use in Use.allCases {
      for isLasting in [false, true] {
        var call = 0
        while try check(found, use, isMount, failingAt: call, isLasting) { call += 1 }
        #expect(call > 0)
      }
    }
  }

  /// Returns whether there are as many calls.
  private func check(
    _ found: Found, _ use: Use, _ isMount: Bool, failingAt call: Int, _ isLasting: Bool
  ) throws -> Bool {
    let comment: Comment = "\(found), \(use) at call \(call), lasting: \(isLasting)"
    for name in try directory.names { try FileManager.default.removeItem(at: directory.file(name)) }
    let disk = FailingDisk(isMount ? url.filePath : nil)
    do {
      try leave(found)
      // A compaction and a restoring are those of an open journal.
      let log =
        [.compaction, .restoring].contains(use) ? try LineLog(url, disk: disk) : nil
      if use == .restoring { try FileManager.default.removeItem(at: url) }
      disk.fail(at: call, isLasting: isLasting)
      switch use {
      case .opening: _ = try? LineLog(url, disk: disk)
      case .openingForReading: _ = try? LineLog(url, access: .readOnly, disk: disk)
      case .compaction: _ = try? log?.compact()
      case .restoring: _ = try? log?.look()
      }
    }
    let hasFailed = disk.repair()
    #expect(disk.openCount == 0 && disk.wrongCloseCount == 0, comment)
    let next = try LineLog(url, initial: ["1"], lockWait: .zero)
    try next.append("last")
    // A removed file that could not be restored is lost with the program that had it open.
    if [.intact, .image].contains(found), use != .restoring {
      #expect(next.lines == ["1", "2", "last"], comment)
    }
    return hasFailed
  }

  private func leave(_ found: Found) throws {
    switch found {
    case .nothing: return
    case .empty: return try Data().write(to: url)
    case .stranger: return try Data("somebody's bytes".utf8).write(to: url)
    case .intact, .damaged, .image: break
    }
    let disk = MountingDisk(url.filePath)
    let log = try LineLog(url, disk: disk, initial: ["1"])
    try log.append("2")
    if found == .image {
      disk.failAfter(2)
      #expect(throws: FileError.self) { try log.compact() }
    }
    if found == .damaged {
      let file = try FileHandle(forWritingTo: url)
      try file.seek(toOffset: UInt64(JournalLayout.headerByteCount))
      try file.write(contentsOf: Data(repeating: 0xAA, count: 1))
      try file.close()
    }
  }

  /// The error of the disk was seen once, and then that another process had the lock.
  @Test(arguments: [0, 1]) func `an opening that can't complete new contents says why`(
    syncs: Int
  ) throws {
    try leave(.image)
    let disk = MountingDisk(url.filePath)
    disk.failAfter(syncs)
    for attempt in 0..<3 {
      do {
        _ = try LineLog(url, disk: disk, lockWait: .zero)
        #expect(attempt > 0)
      } catch let error as FileError {
        #expect(error.code == .failed, "attempt \(attempt): \(error)")
      }
    }
    #expect(try LineLog(url, lockWait: .zero).lines == ["1", "2"])
  }
}

/// A disk whose calls fail from one on, and that counts what is open. A file may be a mount point.
private final class FailingDisk: ForwardingDisk {
  private struct State {
    /// Calls until one fails; nil while none does.
    var left: Int?
    var isLasting = false
    var hasFailed = false
    var open: Set<Int32> = []
    var wrongCloseCount = 0
  }

  let real = POSIXDisk()
  private let mount: String?
  private let state = Mutex(State())

  init(_ mount: String?) { self.mount = mount }

  var openCount: Int { state.withLock { $0.open.count } }
  /// How often something was closed that wasn't open.
  var wrongCloseCount: Int { state.withLock { $0.wrongCloseCount } }

  func fail(at call: Int, isLasting: Bool) {
    state.withLock { ($0.left, $0.isLasting) = (call, isLasting) }
  }

  /// Ends the failures, and returns whether there was one.
  func repair() -> Bool {
    state.withLock { state in
      state.left = nil
      return state.hasFailed
    }
  }

  private func call(_ path: String) throws {
    let fails = state.withLock { state -> Bool in
      guard let left = state.left else { return false }
      state.left = left - 1
      let fails = left == 0 || left < 0 && state.isLasting
      if fails { state.hasFailed = true }
      return fails
    }
    if fails { throw FileError(errno: EIO, doing: "use the file", path: path) }
  }

  func open(_ path: String, _ flags: Int32, mode: mode_t) throws -> Int32 {
    try call(path)
    let descriptor = try real.open(path, flags, mode: mode)
    state.withLock { _ = $0.open.insert(descriptor) }
    return descriptor
  }
  func close(_ descriptor: Int32) {
    state.withLock { if $0.open.remove(descriptor) == nil { $0.wrongCloseCount += 1 } }
    real.close(descriptor)
  }
  func status(_ descriptor: Int32, path: String) throws -> FileStatus {
    try call(path)
    return try real.status(descriptor, path: path)
  }
  func status(at path: String) throws -> FileStatus? {
    try call(path)
    return try real.status(at: path)
  }
  func write(_ descriptor: Int32, from buffer: UnsafeRawBufferPointer, path: String) throws -> Int {
    try call(path)
    return try real.write(descriptor, from: buffer, path: path)
  }
  func sync(_ descriptor: Int32, path: String) throws {
    try call(path)
    try real.sync(descriptor, path: path)
  }
  func syncContents(_ descriptor: Int32, path: String) throws {
    try call(path)
    try real.syncContents(descriptor, path: path)
  }
  func rename(_ path: String, to newPath: String) throws {
    try call(path)
    let isThere = try real.status(at: newPath) != nil
    guard newPath != mount || !isThere else {
      throw FileError(errno: EBUSY, doing: "put the new file in place", path: newPath)
    }
    try real.rename(path, to: newPath)
  }
  func link(_ path: String, to newPath: String) throws {
    try call(path)
    try real.link(path, to: newPath)
  }
}
