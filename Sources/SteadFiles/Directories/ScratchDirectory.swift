import Foundation
import Synchronization

/// A private directory (0700) for copies of a user's data, which nobody keeps by mistake.
///
/// It is removed with the last reference to this object, and when the process ends while one is left, as in a global
/// variable. A process that is killed leaves its directory. The process holds a lock (`flock`) on the directory for
/// as long as it is in use, so the free lock of an abandoned one shows that nobody uses it, and the user's next process
/// that makes a directory of the same prefix removes it.
package final class ScratchDirectory: Sendable {
  /// The maximum number of attempts. A new directory may be taken for an abandoned one, and removed,
  /// before it is locked.
  package static let attemptLimit = 100

  package let url: URL
  /// The directory's descriptor, which holds the lock until it is closed.
  private let descriptor: Int32
  private static let disk = POSIXDisk()

  /// Makes a directory, and removes abandoned ones. Costs a listing of the parent directory.
  ///
  /// - Parameters:
  ///   - prefix: What the names of directories for one purpose begin with.
  ///   - parent: The parent directory.
  /// - Throws: ``FileError``.
  package init(prefix: String, in parent: URL = FileManager.default.temporaryDirectory) throws {
    let directory = try parent.checkedPath
    Self.removeAbandoned(prefix: prefix, in: directory)
    for _ in 0..<Self.attemptLimit {
      let path = "\(directory)/\(prefix)\(UUID().uuidString)"
      try Self.disk.makeDirectory(path, mode: 0o700)
      // Until it is locked, another process may take it for an abandoned one, and hold its lock to remove
      // it. So once locked, the path must still lead to it.
      guard let descriptor = try Self.openIfPresent(path) else { continue }
      if try Self.disk.lock(descriptor, wait: true, path: path), Self.isSame(descriptor, path) {
        url = URL(filePath: path, directoryHint: .isDirectory)
        self.descriptor = descriptor
        Self.removeAtExit(path)
        return
      }
      Self.disk.close(descriptor)
    }
    throw FileError(
      code: .busy,
      message:
        "No directory for a copy could be kept in \(directory): others remove it at once. Set TMPDIR to another one.",
      path: directory)
  }

  deinit {
    // Removed before the lock is freed, so that nobody takes the directory for an abandoned one meanwhile.
    let path = url.path
    _ = Self.live.withLock { $0.paths.remove(path) }
    try? FileManager.default.removeItem(atPath: path)
    Self.disk.close(descriptor)
  }

  /// Opens a directory; nil if it was removed.
  private static func openIfPresent(_ path: String) throws -> Int32? {
    do {
      return try disk.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, mode: 0)
    } catch let error as FileError where error.code == .notFound {
      return nil
    }
  }

  /// Whether a path still leads to an open directory.
  private static func isSame(_ descriptor: Int32, _ path: String) -> Bool {
    guard let open = try? disk.status(descriptor, path: path),
      let named = try? disk.status(at: path)
    else { return false }
    return open.identity == named.identity
  }

  // MARK: - Abandoned directories

  /// Removes directories of this user that no process has locked. One that can't be removed is left; it
  /// disturbs nobody.
  private static func removeAbandoned(prefix: String, in directory: String) {
    for name in (try? disk.names(in: directory)) ?? [] where name.hasPrefix(prefix) {
      let path = "\(directory)/\(name)"
      // Of this user only: the superuser could open those of others.
      guard let found = try? disk.status(at: path), found.user == geteuid(),
        let descriptor = try? openIfPresent(path)
      else { continue }
      defer { disk.close(descriptor) }
      // A lock that can't be taken belongs to a process that uses the directory.
      guard (try? disk.lock(descriptor, wait: false, path: path)) == true,
        isSame(descriptor, path)
      else { continue }
      try? FileManager.default.removeItem(atPath: path)
    }
  }

  // MARK: - The end of the process

  /// The directories in use, and the process that uses them: a child of a fork ends with the same handlers,
  /// and must leave its parent's directories alone.
  private static let live = Mutex<(process: pid_t?, paths: Set<String>)>((nil, []))

  private static func removeAtExit(_ path: String) {
    let isFirst = live.withLock { live in
      defer { live.process = live.process ?? getpid() }
      live.paths.insert(path)
      return live.process == nil
    }
    guard isFirst else { return }
    atexit {
      let (process, paths) = ScratchDirectory.live.withLock { $0 }
      guard process == getpid() else { return }
      for path in paths { try? FileManager.default.removeItem(atPath: path) }
    }
  }
}
