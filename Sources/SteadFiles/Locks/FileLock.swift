import Foundation

/// A lock that one process at a time can have, or several that only read.
///
/// ```swift
/// let lock = FileLock(directories.data.appending(path: "import.lock"))
/// try lock.withLock {
///   try importEverything()
/// }
/// ```
///
/// The lock is on a file of its own, which is made for its owner alone (0600), is never written to, and
/// stays: to remove it would give the same lock to two processes. It is advisory: it holds off those
/// who ask for it, by this type or by `flock`. The end of the process, whatever ends it, frees the lock.
/// A symbolic link is followed, so that all paths to a file lead to one lock. Locks on network file
/// systems are as good as the system's `flock` on them.
///
/// Each call opens the file for itself, so threads and tasks of one process exclude each other, too.
/// Therefore a thread that asks again for the lock that it has waits forever. The child of a fork never
/// has a lock of its parent, not even when the fork happens within `withLock`, and may ask for it.
/// Who waits gets the lock in no certain order. A free lock costs a few microseconds.
public struct FileLock: Sendable {
  /// Whether others may have the lock at the same time.
  public enum Mode: Sendable, Hashable {
    /// Nobody else has the lock.
    case exclusive
    /// Others may have it, too, as long as all of them ask for this mode.
    case shared
  }

  /// How often the file may be exchanged for another one while it is being locked.
  static let exchangeLimit = 1_000

  /// Where the lock's file is, or will be.
  public let url: URL
  /// How long an asynchronous wait lasts before it looks again without having been called; the last of
  /// them again and again.
  let pauses: [Duration]

  /// A lock on the file at a place; nothing is made until it is asked for.
  ///
  /// - Parameter url: A file that has no other use, in a directory that exists.
  public init(_ url: URL) {
    self.init(url, pauses: [.milliseconds(1), .milliseconds(10), .milliseconds(100), .seconds(1)])
  }

  init(_ url: URL, pauses: [Duration]) {
    self.url = url
    self.pauses = pauses
  }

  /// Runs `body` while it has the lock; until then the thread waits, for as long as it takes.
  ///
  /// - Throws: ``FileError``: `.notFound` when there is no directory for the file, `.notAFile` when
  ///   something other than a plain file has the name, `.denied` when it may not be opened; and whatever
  ///   `body` throws.
  @available(*, noasync, message: "Call withLock(timeout:), which leaves the thread free.")
  public func withLock<Result>(
    _ mode: Mode = .exclusive, _ body: () throws -> Result
  ) throws -> Result {
    guard let held = try take(mode, wait: true) else { throw exchanged() }
    defer { held.release() }
    return try body()
  }

  /// Runs `body` if it can have the lock at once, and returns nil otherwise.
  ///
  /// - Throws: ``FileError`` as ``withLock(_:_:)`` does; and whatever `body` throws.
  public func withLockIfAvailable<Result>(
    _ mode: Mode = .exclusive, _ body: () throws -> Result
  ) throws -> Result? {
    guard let held = try take(mode, wait: false) else { return nil }
    defer { held.release() }
    return try body()
  }

  /// Runs `body` while it has the lock; until then the task waits and its thread is free.
  ///
  /// It waits for the system to tell that somebody has closed the lock's file, as a holder does when it
  /// frees the lock or dies, and looks again then. Since a death is told a moment before the lock is
  /// free, and holders other than this type may tell nothing, it also looks 1, 10 and 100 ms later
  /// and then once a second. The lock is held over the suspensions of `body`.
  ///
  /// - Parameters:
  ///   - mode: Whether others may have the lock at the same time.
  ///   - timeout: How long to wait at most; nil for as long as it takes.
  ///   - body: What to do; it runs on the caller's actor.
  /// - Throws: ``FileError``: `.busy` when others had the lock for the whole time, else as
  ///   ``withLock(_:_:)`` does; `CancellationError` when the task was cancelled while it waited; and
  ///   whatever `body` throws.
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
  /// The lock; nil when it is to be had now or not at all, and others have it.
  private func take(_ mode: Mode, wait: Bool) throws -> HeldLock? {
    let path = try url.checkedPath
    for _ in 0..<Self.exchangeLimit {
      let opened = try HeldLock(path)
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

  private func take(_ mode: Mode, timeout: Duration?) async throws -> HeldLock {
    if let held = try take(mode, wait: false) { return held }
    try Task.checkCancellation()
    let deadline = timeout.map { ContinuousClock.now + $0 }
    let calls = LockCalls(url)
    // Open from one look to the next: closing it would call everyone else who waits.
    var opened = try HeldLock(url.checkedPath)
    do {
      var pause = 0
      while true {
        if try opened.lock(mode, wait: false), try opened.isCurrent { return opened }
        if try !opened.isCurrent {
          opened.release()
          opened = try HeldLock(url.checkedPath)
          continue
        }
        guard deadline.map({ .now < $0 }) ?? true else { throw busy(timeout) }
        let isCalled = await calls.wait(until: deadline, atMost: pauses[pause])
        try Task.checkCancellation()
        pause = isCalled ? 0 : min(pause + 1, pauses.count - 1)
      }
    } catch {
      opened.release()
      throw error
    }
  }

  private func busy(_ timeout: Duration?) -> FileError {
    FileError(
      code: .busy, message: "Others had the lock for \(timeout ?? .zero).",
      path: url.path(percentEncoded: false))
  }

  private func exchanged() -> FileError {
    FileError(
      code: .busy, message: "The lock's file was exchanged again and again.",
      path: url.path(percentEncoded: false))
  }
}
