/// The time by which a call must have ended.
struct Deadline: Sendable {
  /// The longest that any call may take: the bus counts in 32-bit milliseconds.
  static let longest = Duration.milliseconds(Int64(Int32.max - 1))

  private let end: ContinuousClock.Instant

  init(in timeout: Duration) { end = .now + max(.zero, min(timeout, Self.longest)) }

  var remaining: Duration { max(.zero, end - .now) }
  var isOver: Bool { end <= .now }

  /// The remaining time for the bus; never less than 1, since 0 would mean no time and -1 a default.
  var milliseconds: Int32 {
    let parts = remaining.components
    return Int32(clamping: max(1, parts.seconds * 1000 + parts.attoseconds / 1_000_000_000_000_000))
  }
}
