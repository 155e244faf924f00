import Foundation
import Synchronization
import Testing

@testable import SteadFiles

/// A disk of a test's own that hands on to the real one what it does not do itself.
protocol ForwardingDisk: Disk {
  var real: POSIXDisk { get }
}

extension ForwardingDisk {
  func open(_ path: String, _ flags: Int32, mode: mode_t) throws -> Int32 {
    try real.open(path, flags, mode: mode)
  }
  func close(_ descriptor: Int32) { real.close(descriptor) }
  func status(_ descriptor: Int32, path: String) throws -> FileStatus {
    try real.status(descriptor, path: path)
  }
  func status(at path: String) throws -> FileStatus? { try real.status(at: path) }
  func destination(ofLink path: String) throws -> String { try real.destination(ofLink: path) }
  func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, path: String) throws
    -> Int
  { try real.read(descriptor, into: buffer, path: path) }
  func write(_ descriptor: Int32, from buffer: UnsafeRawBufferPointer, path: String) throws -> Int {
    try real.write(descriptor, from: buffer, path: path)
  }
  func setMode(_ descriptor: Int32, _ mode: mode_t, path: String) throws {
    try real.setMode(descriptor, mode, path: path)
  }
  func setOwner(_ descriptor: Int32, user: uid_t, group: gid_t, path: String) throws {
    try real.setOwner(descriptor, user: user, group: group, path: path)
  }
  func touch(_ path: String) throws { try real.touch(path) }
  func sync(_ descriptor: Int32, path: String) throws { try real.sync(descriptor, path: path) }
  func lock(_ descriptor: Int32, wait: Bool, path: String) throws -> Bool {
    try real.lock(descriptor, wait: wait, path: path)
  }
  func unlock(_ descriptor: Int32) { real.unlock(descriptor) }
  func rename(_ path: String, to newPath: String) throws { try real.rename(path, to: newPath) }
  func exchange(_ path: String, with otherPath: String) throws -> Bool {
    try real.exchange(path, with: otherPath)
  }
  func link(_ path: String, to newPath: String) throws { try real.link(path, to: newPath) }
  func remove(_ path: String) throws { try real.remove(path) }
  func makeDirectory(_ path: String, mode: mode_t) throws {
    try real.makeDirectory(path, mode: mode)
  }
  func names(in directory: String) throws -> [String] { try real.names(in: directory) }
}

/// The real disk, but for the syncs: for tests that write thousands of files and lose no power.
struct UnsyncedDisk: ForwardingDisk {
  let real = POSIXDisk()
  /// Called when a file has taken another's name.
  var didRename: @Sendable () -> Void = {}

  func sync(_ descriptor: Int32, path: String) throws {}

  func rename(_ path: String, to newPath: String) throws {
    try real.rename(path, to: newPath)
    didRename()
  }
}

/// The real disk up to a chosen change, and then nothing any more: what a process sees that is killed,
/// or rather what it leaves behind.
final class CrashingDisk: ForwardingDisk {
  struct Crash: Error {}

  let real = POSIXDisk()
  private let state: Mutex<(remaining: Int, calls: [String])>

  /// A disk on which `count` changes succeed; the write that comes next gets half of its bytes through.
  init(after count: Int) { state = Mutex((count, [])) }

  /// The changes that were made, in their order.
  var calls: [String] { state.withLock { $0.calls } }

  private func change<Result>(
    _ name: String, tearing: (() throws -> Void)? = nil, _ body: () throws -> Result
  ) throws -> Result {
    let remaining = state.withLock { state in
      state.remaining -= 1
      if state.remaining >= 0 { state.calls.append(name) }
      return state.remaining
    }
    if remaining == -1 { try tearing?() }
    if remaining < 0 { throw Crash() }
    return try body()
  }

  func open(_ path: String, _ flags: Int32, mode: mode_t) throws -> Int32 {
    guard flags & O_CREAT != 0 else { return try real.open(path, flags, mode: mode) }
    return try change("create") { try real.open(path, flags, mode: mode) }
  }
  func write(_ descriptor: Int32, from buffer: UnsafeRawBufferPointer, path: String) throws -> Int {
    let half = UnsafeRawBufferPointer(rebasing: buffer[..<(buffer.count / 2)])
    let tear = { _ = try self.real.write(descriptor, from: half, path: path) }
    return try change("write", tearing: tear) {
      try real.write(descriptor, from: buffer, path: path)
    }
  }
  func setMode(_ descriptor: Int32, _ mode: mode_t, path: String) throws {
    try change("set mode") { try real.setMode(descriptor, mode, path: path) }
  }
  func setOwner(_ descriptor: Int32, user: uid_t, group: gid_t, path: String) throws {
    try change("set owner") { try real.setOwner(descriptor, user: user, group: group, path: path) }
  }
  func touch(_ path: String) throws { try change("touch") { try real.touch(path) } }
  func sync(_ descriptor: Int32, path: String) throws {
    let isDirectory = try real.status(descriptor, path: path).kind == .directory
    try change(isDirectory ? "sync directory" : "sync file") {
      try real.sync(descriptor, path: path)
    }
  }
  func rename(_ path: String, to newPath: String) throws {
    try change("rename") { try real.rename(path, to: newPath) }
  }
  func exchange(_ path: String, with otherPath: String) throws -> Bool {
    try change("exchange") { try real.exchange(path, with: otherPath) }
  }
  func link(_ path: String, to newPath: String) throws {
    try change("link") { try real.link(path, to: newPath) }
  }
  func remove(_ path: String) throws { try change("remove") { try real.remove(path) } }
  func makeDirectory(_ path: String, mode: mode_t) throws {
    try change("make directory") { try real.makeDirectory(path, mode: mode) }
  }
}

/// A disk on which a file cannot be replaced, and which may fail at a sync.
final class MountingDisk: ForwardingDisk {
  let real = POSIXDisk()
  private let path: String
  private let syncsLeft = Mutex(Int.max)

  init(_ path: String) { self.path = path }

  /// Lets so many syncs succeed, and none after them.
  func failAfter(_ count: Int) { syncsLeft.withLock { $0 = count } }

  private func sync() throws {
    let isDone = syncsLeft.withLock { left in
      left -= 1
      return left >= 0
    }
    if !isDone { throw FileError(errno: EIO, doing: "make it durable", path: path) }
  }

  func sync(_ descriptor: Int32, path: String) throws {
    try sync()
    try real.sync(descriptor, path: path)
  }

  func syncContents(_ descriptor: Int32, path: String) throws {
    try sync()
    try real.syncContents(descriptor, path: path)
  }

  func rename(_ path: String, to newPath: String) throws {
    // The first file is made, and not mounted by then.
    let isThere = try real.status(at: newPath) != nil
    guard newPath != self.path || !isThere else {
      throw FileError(errno: EBUSY, doing: "put the new file in place", path: newPath)
    }
    try real.rename(path, to: newPath)
  }
}

/// A disk on which a test acts as another program at a certain call.
final class InterferingDisk: ForwardingDisk {
  /// The call at which the other program acts: before it opens or links, and after it has looked up a name.
  enum Call: Sendable { case open, link, status }

  private struct Plan {
    var call: Call
    var path: String
    var callsLeft: Int
    var body: @Sendable () throws -> Void
  }

  let real = POSIXDisk()
  private let plan = ForkSafeLock<Plan?>(nil)

  /// Whether the other program has acted.
  var hasActed: Bool { plan.withLock { $0 == nil } }

  /// Lets `body` act once, at the call with a number for a path.
  func act(
    at call: Call, _ path: String, number: Int = 1, _ body: @escaping @Sendable () throws -> Void
  ) {
    plan.withLock { $0 = Plan(call: call, path: path, callsLeft: number, body: body) }
  }

  private func reach(_ call: Call, _ path: String) {
    let body = plan.withLock { plan -> (@Sendable () throws -> Void)? in
      guard let found = plan, found.call == call, found.path == path else { return nil }
      plan?.callsLeft -= 1
      guard found.callsLeft == 1 else { return nil }
      plan = nil
      return found.body
    }
    do { try body?() } catch { Issue.record(error) }
  }

  func open(_ path: String, _ flags: Int32, mode: mode_t) throws -> Int32 {
    reach(.open, path)
    return try real.open(path, flags, mode: mode)
  }

  func link(_ path: String, to newPath: String) throws {
    reach(.link, path)
    try real.link(path, to: newPath)
  }

  func status(at path: String) throws -> FileStatus? {
    let found = try real.status(at: path)
    reach(.status, path)
    return found
  }
}
