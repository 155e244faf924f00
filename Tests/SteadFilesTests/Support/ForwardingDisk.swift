import Foundation

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
