/// Decides how long a call goes on trying to get the journal's lock.
///
/// A process that has the lock and writes nothing for ``limit`` counts as stopped. While others write, nobody is
/// stopped: they only get the lock before the caller, as may happen on a busy machine, since waiters get it in no
/// particular order.
struct LockTurns {
  /// How long a call waits for its turn at most.
  static let contendedLimit = Duration.seconds(10)

  private let limit: Duration
  private let end: ContinuousClock.Instant
  /// The journal's tail when its holder last was seen to write.
  private var tail: UInt64?
  private var deadline: ContinuousClock.Instant

  init(limit: Duration, contended: Duration, tail: UInt64?) {
    let now = ContinuousClock.now
    (self.limit, self.tail) = (limit, tail)
    (deadline, end) = (now + limit, now + contended)
  }

  /// Whether to try once more, now that the journal has this tail.
  mutating func goesOn(tail: UInt64?) -> Bool {
    let now = ContinuousClock.now
    if now < deadline { return true }
    guard tail != self.tail, now < end else { return false }
    (self.tail, deadline) = (tail, now + limit)
    return true
  }
}
