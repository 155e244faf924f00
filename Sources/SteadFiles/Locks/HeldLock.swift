import CSteadFiles
import Foundation

/// The lock's file, opened by a waiter or a holder of the lock.
struct HeldLock: Sendable {
  private let path: String
  private let descriptor: Int32
  private let generation: UInt64
  private var disk: POSIXDisk { POSIXDisk() }

  /// A fork waits for this lock. Without it a child forked between the opening of a file and its registration
  /// among the descriptors that a child closes would inherit the descriptor. It guards a byte, since the
  /// thread sanitizer takes the address of an empty value for the beginning of the object.
  private static let opening = ForkSafeLock<UInt8>(0)

  init(_ path: String) throws {
    self.path = path
    (descriptor, generation) = try Self.opening.withLock { _ in
      let descriptor = try Self.open(path)
      stead_private_descriptor_add(descriptor)
      return (descriptor, stead_fork_generation())
    }
    do {
      guard try disk.status(descriptor, path: path).kind == .file else {
        throw FileError(
          code: .notAFile, message: "Only a regular file can be locked; name another one.",
          path: path)
      }
    } catch {
      release()
      throw error
    }
  }

  private static func open(_ path: String) throws -> Int32 {
    let disk = POSIXDisk()
    do {
      // Opened for writing, though nothing is written: waiters are notified when such a file is closed, and
      // network file systems lock no other exclusively. Opening a pipe must not block.
      let descriptor = try disk.open(path, O_RDWR | O_CREAT | O_NONBLOCK, mode: 0o600)
      leaveToOwner(descriptor, path)
      return descriptor
    } catch let error as FileError where error.code == .denied || error.code == .readOnly {
      return try disk.open(path, O_RDONLY | O_NONBLOCK, mode: 0)
    }
  }

  /// Gives a file that the superuser creates in a user's directory to that user, who needs the lock, too.
  private static func leaveToOwner(_ descriptor: Int32, _ path: String) {
    let disk = POSIXDisk()
    guard geteuid() == 0, let status = try? disk.status(descriptor, path: path), status.user == 0,
      let parent = try? disk.statusFollowingLinks(path.directoryPath), parent.user != 0
    else { return }
    try? disk.setOwner(descriptor, user: parent.user, group: parent.group, path: path)
  }

  /// Returns whether it now holds the lock; always true when it waits.
  func lock(_ mode: FileLock.Mode, wait: Bool) throws -> Bool {
    let operation = (mode == .shared ? LOCK_SH : LOCK_EX) | (wait ? 0 : LOCK_NB)
    while flock(descriptor, operation) != 0 {
      let number = errno
      if number == EWOULDBLOCK { return false }
      if number != EINTR { throw FileError(errno: number, doing: "lock the file", path: path) }
    }
    return true
  }

  /// Whether the path still leads to this file; a lock on a removed file excludes nobody.
  var isCurrent: Bool {
    get throws {
      try disk.statusFollowingLinks(path)?.identity
        == disk.status(descriptor, path: path).identity
    }
  }

  /// Frees the lock, if held, and closes the file.
  func release() {
    // In the child of a fork the descriptor is closed, and the number may belong to another file.
    guard generation == stead_fork_generation() else { return }
    // Freed before the file is closed, since waiters check when they are notified of the closing.
    _ = flock(descriptor, LOCK_UN)
    disk.announceRelease(descriptor)
    stead_private_descriptor_remove(descriptor)
    disk.close(descriptor)
  }
}
