import CSteadFiles
import Foundation

/// A file that is written as a whole on a file system that cannot lock files by `flock` or map them, such as some of networks
/// and of containers.
///
/// Writers take turns by a record lock (`fcntl`) on a file beside it, `NAME.lock`. Where the file system has no record locks
/// either, nothing keeps two writers apart. A reader finds the old contents or the new ones.
package struct PlainFile: Sendable {
  /// How long a write waits for another one, in steps of a millisecond.
  private static let lockWait = 100

  package let path: String
  private let lockPath: String
  private let disk = POSIXDisk()

  /// - Parameters:
  ///   - url: The file.
  ///   - lock: The file that writers lock.
  package init(_ url: URL, lock: URL) {
    path = url.path(percentEncoded: false)
    lockPath = lock.path(percentEncoded: false)
  }

  /// What the system knows about the file; nil when there is none.
  package func status() throws -> FileStatus? { try disk.statusFollowingLinks(path) }

  /// Runs `body` while no other process writes the file.
  ///
  /// - Throws: ``FileError`` `.busy` when another process has had the lock for 0.1 s.
  package func withLock<Result>(_ body: () throws -> Result) throws -> Result {
    try disk.makeDirectories(path.directoryPath)
    let descriptor = try disk.open(lockPath, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
    // Closing it frees the lock.
    defer { disk.close(descriptor) }
    var waits = 0
    while true {
      let error = stead_file_lock_record(descriptor)
      if error == 0 { return try body() }
      guard error == EAGAIN || error == EACCES else {
        let failure = FileError(errno: error, doing: "lock the file", path: lockPath)
        guard failure.isUnsupported else { throw failure }
        return try body()
      }
      guard waits < Self.lockWait else {
        throw FileError(
          code: .busy, message: "Another process has locked the file.", path: lockPath)
      }
      waits += 1
      // No call waits for a record lock for a limited time, so it is asked for again.
      usleep(1_000)
    }
  }

  /// Replaces the contents durably, and returns the new file's status. Requires the lock.
  package func replace(with data: Data) throws -> FileStatus? {
    let target = try disk.resolveLinks(path)
    let old = try disk.status(at: target)
    let temporary = target + ".new"
    do {
      try write(data, to: temporary, like: old)
      try disk.rename(temporary, to: target)
    } catch let error as FileError where error.isNameInUse {
      // A mount point of its own, which can only be overwritten.
      try write(data, to: target, like: nil)
      try? disk.remove(temporary)
    }
    return try disk.status(at: target)
  }

  private func write(_ data: Data, to path: String, like old: FileStatus?) throws {
    let descriptor = try disk.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: 0o600)
    defer { disk.close(descriptor) }
    if let old { try? disk.setMode(descriptor, old.mode, path: path) }
    // The superuser leaves it to the user whose directory it is.
    if geteuid() == 0, let owner = try old ?? disk.statusFollowingLinks(path.directoryPath),
      owner.user != 0
    {
      try? disk.setOwner(descriptor, user: owner.user, group: owner.group, path: path)
    }
    try data.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let buffer = UnsafeRawBufferPointer(rebasing: rest)
        rest = rest.dropFirst(try disk.write(descriptor, from: buffer, path: path))
      }
    }
    try disk.sync(descriptor, path: path)
  }
}

extension FileError {
  /// Whether the file system cannot perform the operation at all, such as locking or mapping a file.
  package var isUnsupported: Bool {
    guard code == .failed, let cause = cause as? POSIXError else { return false }
    let unsupported = [ENODEV, ENOLCK, ENOSYS, ENOTSUP, EOPNOTSUPP, EINVAL]
    return unsupported.contains(cause.code.rawValue)
  }
}
