import Foundation
import SteadFiles

/// The lock that writers of all processes take, one after the other, at the Secret Service.
struct ServiceLock {
  /// Between two looks at a lock that others have; twice as long each time, up to the last.
  private static let (firstPause, lastPause) = (UInt32(500), UInt32(16_000))

  /// What names the runtime directory; nil for the process's own.
  let environment: [String: String]?

  /// Calls `body` while it has the lock.
  ///
  /// - Throws: ``SecretError``: `.unavailable` when others had it all the time; `.accessDenied`
  ///   or `.failed` when the lock's file cannot be had; and what `body` throws.
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
          message: "Other programs were writing to the Secret Service all the time. Try again.",
          unavailability: .timedOut)
      }
      // A lock's file cannot be waited for with a time limit by a thread that blocks; only tasks can.
      usleep(pause)
      pause = min(pause * 2, Self.lastPause)
    }
  }

  /// The user's runtime directory. Where none exists, its stand-in is in a place where everyone may write, and
  /// another user who makes it first could stop all writes. Then a directory in the user's home is used.
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
      message: "The lock file in the user's runtime or state directory cannot be had; see the "
        + "cause.",
      cause: error)
  }
}
