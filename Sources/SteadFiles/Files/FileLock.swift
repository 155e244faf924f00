import CSteadFiles
import Foundation

/// A lock that one process can hold exclusively, or several can share for reading.
///
/// ```swift
/// let lock = FileLock(directories.data.appending(path: "import.lock"))
/// try lock.withLock {
///   try importEverything()
/// }
/// ```
///
/// The lock is on a separate file, which is created for its owner alone (0600), is never written to, and
/// stays: removing it would give the same lock to two processes. It is advisory: it excludes only those who
/// request it, through this type or `flock`. The end of the process, however it ends, frees the lock. A
/// symbolic link is followed, so that all paths to a file lead to one lock. Locks on network file systems are
/// as good as the system's `flock` on them.
///
/// Each call opens the file again, so threads and tasks of one process exclude each other, too. A thread that
/// requests a lock it already holds therefore waits forever. The child of a fork never holds a lock of its
/// parent, not even when the fork happens within `withLock`, and may request it. Waiters get the lock in no
/// particular order. A free lock costs a few microseconds.
public struct FileLock: Sendable {
  /// Whether others may hold the lock at the same time.
  public enum Mode: Sendable, Hashable {
    /// Nobody else holds the lock.
    case exclusive
    /// Others may hold it, too, as long as all of them request this mode.
    case shared
  }

  /// How often the file may be replaced by another one while it is being locked.
  static let exchangeLimit = 1_000

  /// Where the lock's file is, or will be.
  public let url: URL
  /// The intervals at which an asynchronous wait checks again without being notified; the last one repeats.
  let pauses: [Duration]

  /// Describes a lock on a file; nothing is created yet.
  ///
  /// - Parameter url: A file that has no other use, in a directory that exists.
  public init(_ url: URL) {
    self.init(url, pauses: [.milliseconds(1), .milliseconds(10), .milliseconds(100), .seconds(1)])
  }

  init(_ url: URL, pauses: [Duration]) {
    self.url = url
    self.pauses = pauses
  }

  /// Runs `body` while holding the lock; the thread blocks until the lock is free, however long that takes.
  ///
  /// - Throws: ``FileError``: `.notFound` when the file's directory does not exist, `.notAFile` when
  ///   something other than a regular file has the name, `.denied` when it may not be opened; and whatever
  ///   `body` throws.
  @available(*, noasync, message: "Call withLock(timeout:), which leaves the thread free.")
  public func withLock<Result>(
    _ mode: Mode = .exclusive, _ body: () throws -> Result
  ) throws -> Result {
    guard let held = try take(mode, wait: true) else { throw exchanged() }
    defer { held.release() }
    return try body()
  }

  /// Runs `body` if the lock is free, and returns nil otherwise.
  ///
  /// - Throws: ``FileError`` as ``withLock(_:_:)`` does; and whatever `body` throws.
  public func withLockIfAvailable<Result>(
    _ mode: Mode = .exclusive, _ body: () throws -> Result
  ) throws -> Result? {
    guard let held = try take(mode, wait: false) else { return nil }
    defer { held.release() }
    return try body()
  }

  /// Runs `body` while holding the lock; the task waits without blocking its thread.
  ///
  /// It waits until the system reports that somebody has closed the lock's file, as a holder does when it
  /// frees the lock or dies, and then checks again. A death is reported a moment before the lock is free, and
  /// holders other than this type may report nothing, so it also checks after 1, 10 and 100 ms and then once
  /// a second. The lock is held across the suspensions of `body`.
  ///
  /// - Parameters:
  ///   - mode: Whether others may hold the lock at the same time.
  ///   - timeout: The longest time to wait; nil waits indefinitely.
  ///   - body: The work to do; it runs on the caller's actor.
  /// - Throws: ``FileError``: `.busy` when others held the lock for the whole time, otherwise as
  ///   ``withLock(_:_:)`` does; `CancellationError` when the task was cancelled while it waited; and whatever
  ///   `body` throws.
  public nonisolated(nonsending) func withLock<Result>(
    _ mode: Mode = .exclusive, timeout: Duration?,
    _ body: nonisolated(nonsending) () async throws -> Result
  ) async throws -> Result {
    let held = try await take(mode, timeout: timeout)
    defer { held.release() }
    return try await body()
  }
}

extension FileLock {
  /// Takes the lock; nil when it isn't free and `wait` is false.
  ///
  /// Someone may remove or replace the lock's file while it is waited for. A lock on a file without the name excludes nobody who
  /// opens the file later, so the name is checked once the lock is held, and another attempt made if it leads elsewhere.
  private func take(_ mode: Mode, wait: Bool) throws -> OpenLockFile? {
    let path = try url.checkedPath
    for _ in 0..<Self.exchangeLimit {
      let opened = try OpenLockFile(path)
      do {
        guard try opened.lock(mode, wait: wait) else {
          opened.release()
          return nil
        }
        if try opened.isCurrent { return opened }
      } catch {
        opened.release()
        throw error
      }
      opened.release()
    }
    throw exchanged()
  }

  /// Takes the lock without blocking the thread, between checks of which the task sleeps.
  private func take(_ mode: Mode, timeout: Duration?) async throws -> OpenLockFile {
    if let held = try take(mode, wait: false) { return held }
    try Task.checkCancellation()
    let deadline = timeout.map { ContinuousClock.now + $0 }
    // Before the next check of the lock, so that no release is missed in between.
    let notifications = ReleaseNotifications(url)
    // Open from one check to the next: closing it would notify every other waiter.
    var opened = try OpenLockFile(url.checkedPath)
    do {
      var pause = 0
      while true {
        if try opened.lock(mode, wait: false), try opened.isCurrent { return opened }
        if try !opened.isCurrent {
          opened.release()
          opened = try OpenLockFile(url.checkedPath)
          continue
        }
        guard deadline.map({ .now < $0 }) ?? true else { throw busy(timeout) }
        let isNotified = await notifications.wait(until: deadline, atMost: pauses[pause])
        try Task.checkCancellation()
        // A death is reported a moment before the lock is free, so the next checks come soon after a notification.
        pause = isNotified ? 0 : min(pause + 1, pauses.count - 1)
      }
    } catch {
      opened.release()
      throw error
    }
  }

  private func busy(_ timeout: Duration?) -> FileError {
    FileError(
      code: .busy, message: "Another process held the lock for \(timeout ?? .zero).",
      path: url.path(percentEncoded: false))
  }

  private func exchanged() -> FileError {
    FileError(
      code: .busy, message: "The lock's file is replaced again and again; stop what replaces it.",
      path: url.path(percentEncoded: false))
  }
}

// MARK: - The lock's file

/// The lock's file, opened by a waiter or a holder of the lock.
struct OpenLockFile: Sendable {
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
      giveToDirectoryOwner(descriptor, path)
      return descriptor
    } catch let error as FileError where error.code == .denied || error.code == .readOnly {
      // `flock` needs no permission to write, so a file of another user or on a read-only file system can be locked.
      return try disk.open(path, O_RDONLY | O_NONBLOCK, mode: 0)
    }
  }

  /// Gives a file that the superuser creates in a user's directory to that user, who needs the lock, too.
  private static func giveToDirectoryOwner(_ descriptor: Int32, _ path: String) {
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

/// Tells one waiting task that somebody has closed the lock's file, as a holder does when it frees the lock.
///
/// A notification is a hint and may be missing; after each the task tries to lock the file.
struct ReleaseNotifications: Sendable {
  private let notifications: AsyncStream<Bool>
  private let continuation: AsyncStream<Bool>.Continuation
  // Nil when the file cannot be watched: then no notifications come, and every wait lasts its full time.
  private let watcher: FileWatcher?

  init(_ url: URL) {
    let (notifications, continuation) = AsyncStream.makeStream(
      of: Bool.self, bufferingPolicy: .bufferingNewest(1))
    (self.notifications, self.continuation) = (notifications, continuation)
    watcher = try? FileWatcher(file: url) { continuation.yield(true) }
  }

  /// Returns whether the wait ended before the deadline.
  func wait(until deadline: ContinuousClock.Instant?, atMost pause: Duration) async -> Bool {
    let end = ContinuousClock.now + pause
    let timer = Task { [continuation] in
      // The pause covers deaths and programs that announce nothing; a notification ends it earlier.
      try await Task.sleep(until: min(end, deadline ?? end), clock: .continuous)
      continuation.yield(false)
    }
    defer { timer.cancel() }
    for await isRelease in notifications { return isRelease }
    return false
  }
}
