import Foundation

extension PayloadHistory {
  /// The payloads that satisfy a predicate, newest first.
  ///
  /// Checks all of them, each time. The time that it takes is recorded for ``advice``.
  public func filter(_ isIncluded: (Payload) throws -> Bool) rethrows -> [Payload] {
    try search("") { items in try items.filter(isIncluded) }
  }

  /// The payloads whose field has a value, newest first.
  ///
  /// Checks all of them, each time, without an index. The time that it takes is recorded for ``advice``,
  /// under the field's name.
  public func filter<Value: Equatable>(
    _ field: KeyPath<Payload, Value>, equals value: Value
  ) -> [Payload] {
    search("\(field)") { items in items.filter { $0[keyPath: field] == value } }
  }

  private func search(
    _ field: String, _ body: ([Payload]) throws -> [Payload]
  ) rethrows -> [Payload] {
    let start = ContinuousClock.now
    let found = try body(items)
    let seconds = start.duration(to: .now) / .seconds(1)
    let limit = options.adviceLimits.searchSeconds
    cores.current.withLock { $0.usage.note(field, seconds: seconds, limit: limit) }
    return found
  }

  /// Why records would serve the app better than this history; nil while they would not.
  ///
  /// Times are those of this object: its opening, and its searches.
  public var advice: HistoryAdvice? {
    read { state in
      HistoryAdvice(
        count: state.table.total, byteCount: state.table.byteCount, usage: state.usage,
        limits: options.adviceLimits)
    }
  }
}
