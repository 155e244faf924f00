import Foundation
import Synchronization

@testable import SteadFiles

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
