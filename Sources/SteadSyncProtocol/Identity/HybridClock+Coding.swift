// `[last milliseconds, last counter, seen milliseconds, seen counter, offset]`.
extension HybridClock: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    let numbers = (syncValue.array ?? []).compactMap(\.int)
    guard numbers.count == 5, let last = Moment(numbers[0], numbers[1]),
      let seen = Moment(numbers[2], numbers[3])
    else { throw SyncCodingError(.unexpected, "A clock isn't five whole numbers.") }
    self.init(last: last, seen: seen, offset: numbers[4])
  }

  package var syncValue: SyncValue {
    .array([
      .int(last.milliseconds), .int(Int64(last.counter)), .int(seen.milliseconds),
      .int(Int64(seen.counter)), .int(offset),
    ])
  }
}

extension HybridClock.Moment {
  fileprivate init?(_ milliseconds: Int64, _ counter: Int64) {
    guard (0...Stamp.millisecondsLimit).contains(milliseconds),
      let counter = UInt16(exactly: counter)
    else { return nil }
    self.init(milliseconds: milliseconds, counter: counter)
  }
}
