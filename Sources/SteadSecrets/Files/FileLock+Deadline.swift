import Foundation
import SteadFiles

// MARK: - Deadline

/// The time by which a call must have ended. Passed down instead of a timeout, so that all steps share it.
struct Deadline: Sendable {
  /// The longest timeout: the bus counts in 32-bit milliseconds.
  static let longest = Duration.milliseconds(Int64(Int32.max - 1))

  private let end: ContinuousClock.Instant

  init(in timeout: Duration) { end = .now + max(.zero, min(timeout, Self.longest)) }

  var remaining: Duration { max(.zero, end - .now) }
  var hasPassed: Bool { end <= .now }

  /// The remaining time for the bus; never less than 1, since 0 would mean no time and -1 a default.
  var milliseconds: Int32 {
    let parts = remaining.components
    return Int32(clamping: max(1, parts.seconds * 1000 + parts.attoseconds / 1_000_000_000_000_000))
  }
}

// MARK: - Locks

extension FileLock {
  /// How long a writer of secrets waits for another process.
  static let writerLimit = Duration.seconds(10)
  // The pause between two attempts to get a lock that is taken, in microseconds: doubled each time, up to the last.
  // `flock` has no time limit, so a thread has to poll.
  private static var firstPause: useconds_t { 100 }
  private static var lastPause: useconds_t { 10_000 }

  /// Calls `body` with the lock, for which the thread waits up to a time limit.
  ///
  /// - Throws: ``SecretError`` `.unavailable` when others held it the whole time; and what `body` throws.
  func hold<Result>(
    _ mode: Mode = .exclusive, for limit: Duration, _ body: () throws -> Result
  ) throws -> Result {
    let deadline = Deadline(in: limit)
    var pause = Self.firstPause
    while true {
      // Before the deadline is looked at, so that a limit of zero still tries once.
      if let result = try withLockIfAvailable(mode, body) { return result }
      guard !deadline.hasPassed else {
        throw SecretError(
          code: .unavailable,
          message:
            "Other processes held the lock \(url.path(percentEncoded: false)) the whole time. Resume "
            + "or end the one that is stopped.", unavailability: .timedOut)
      }
      usleep(pause)
      pause = min(pause * 2, Self.lastPause)
    }
  }
}
