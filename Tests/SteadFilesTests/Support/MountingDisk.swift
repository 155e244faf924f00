import Foundation
import Synchronization

@testable import SteadFiles

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
