import Foundation
import SteadFiles

/// The lock with which writers of all processes take turns at the Secret Service.
struct ServiceLock {
  /// The pause between two attempts to get a lock that is taken; doubled each time, up to the last.
  private static let (firstPause, lastPause) = (UInt32(500), UInt32(16_000))

  /// Variables for the runtime directory; nil means the process's own.
  let environment: [String: String]?

  /// Calls `body` while holding the lock.
  ///
  /// - Throws: ``SecretError``: `.unavailable` when others held it the whole time; `.accessDenied` or
  ///   `.failed` when the lock's file cannot be used; and what `body` throws.
  func hold<Success>(
    until deadline: Deadline, _ body: () throws(SecretError) -> Success
  ) throws(SecretError) -> Success {
    let lock: FileLock
    do {
      lock = FileLock(try directory().appending(path: "secret-service.lock"))
    } catch {
      throw Self.noLock(error)
    }
    var pause = Self.firstPause
    while true {
      let outcome: Result<Success, SecretError>?
      do {
        outcome = try lock.withLockIfAvailable { Result(catching: body) }
      } catch {
        throw Self.noLock(error)
      }
      if let outcome { return try outcome.get() }
      guard !deadline.isOver else {
        throw SecretError(
          code: .unavailable,
          message: "Other programs kept writing to the Secret Service. Try again.",
          unavailability: .timedOut)
      }
      // A blocking thread cannot wait for a lock's file with a time limit; only tasks can.
      usleep(pause)
      pause = min(pause * 2, Self.lastPause)
    }
  }

  /// The user's runtime directory. If none exists, its replacement is in a location where everyone may write,
  /// and another user who creates it first could block all writes. In that case a directory in the user's
  /// home is used.
  private func directory() throws -> URL {
    let environment = environment ?? ProcessInfo.processInfo.environment
    let directories = try AppDirectories(id: "stead", environment: environment)
    do {
      return try directories.create(\.runtime)
    } catch let error as FileError where error.code == .denied || error.code == .notAFile {
      return try directories.create(\.state)
    }
  }

  private static func noLock(_ error: any Error) -> SecretError {
    let isDenied = (error as? FileError)?.code == .denied
    return SecretError(
      code: isDenied ? .accessDenied : .failed,
      message: "The lock file in the user's runtime or state directory cannot be used; see the "
        + "cause.",
      cause: error)
  }
}
