/// The time of a memory cache: nanoseconds since some moment.
@usableFromInline struct CacheClock: Sendable {
  private static let nanosecondsInSecond: Int64 = 1_000_000_000
  private static let attosecondsInNanosecond: Int64 = 1_000_000_000

  private let now: @Sendable () -> Duration

  /// The system's clock, which continues while the system sleeps.
  init() {
    let start = ContinuousClock.now
    now = { start.duration(to: .now) }
  }

  init(_ now: @escaping @Sendable () -> Duration) { self.now = now }

  @usableFromInline var nanoseconds: Int64 { Self.nanoseconds(now()) }

  /// When a value that is set at a time expires; ``PolicyNode/never`` for nil and for deadlines too far away to count,
  /// some 290 years.
  @usableFromInline func deadline(_ timeToLive: Duration?, after time: Int64) -> Int64 {
    guard let timeToLive else { return PolicyNode.never }
    let (sum, isTooLarge) = time.addingReportingOverflow(Self.nanoseconds(timeToLive))
    return isTooLarge ? (timeToLive < .zero ? time : PolicyNode.never) : sum
  }

  /// The sum of two times; ``PolicyNode/never`` if it is too large.
  @usableFromInline static func sum(_ time: Int64, _ duration: Int64) -> Int64 {
    let (sum, isTooLarge) = time.addingReportingOverflow(duration)
    return isTooLarge ? PolicyNode.never : sum
  }

  static func nanoseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    let (product, isTooLarge) = seconds.multipliedReportingOverflow(by: nanosecondsInSecond)
    let limit: Int64 = seconds < 0 ? .min : .max
    if isTooLarge { return limit }
    let (sum, isTooLargeSum) = product.addingReportingOverflow(
      attoseconds / attosecondsInNanosecond)
    return isTooLargeSum ? limit : sum
  }
}
