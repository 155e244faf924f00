/// The times of an entry, in nanoseconds of the cache's clock.
@usableFromInline struct EntryTimes: Sendable {
  /// When the entry expires; ``PolicyNode/never`` if it doesn't.
  @usableFromInline private(set) var deadline: Int64
  /// When it expires however much it is used.
  @usableFromInline let lastDeadline: Int64
  /// When a request that could load it has it loaded again; ``PolicyNode/never`` if none does, or one has.
  @usableFromInline var refresh: Int64

  @usableFromInline init(lastDeadline: Int64, idleTime: Int64, refresh: Int64, now: Int64) {
    (self.lastDeadline, self.refresh) = (lastDeadline, refresh)
    deadline = lastDeadline
    if idleTime != PolicyNode.never { noteUse(at: now, idleTime: idleTime) }
  }

  @usableFromInline mutating func noteUse(at now: Int64, idleTime: Int64) {
    let (idleDeadline, isTooLarge) = now.addingReportingOverflow(idleTime)
    deadline = min(lastDeadline, isTooLarge ? PolicyNode.never : idleDeadline)
  }
}
