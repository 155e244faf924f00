import Synchronization

/// Which keys' values are being loaded again, and when the others may be that could not be loaded.
final class RefreshLog: Sendable {
  /// The most keys that are remembered; beyond them, failures are forgotten, and tried again sooner.
  private static let limit = 10_000

  /// When a key may be loaded again; the greatest number while it is.
  private let times = Mutex<[String: Int64]>([:])

  /// Whether the caller has to load a key's value again, which ends with ``end(_:)`` or ``postpone(_:until:)``.
  ///
  /// - Parameter latest: The moment to which it would be postponed now. A later one is that of a clock that was set back.
  func claim(_ key: String, at now: Int64, latest: Int64) -> Bool {
    times.withLock { times in
      if let time = times[key], time > now, time <= latest || time == .max { return false }
      if times.count >= Self.limit { times = times.filter { $0.value == .max } }
      times[key] = .max
      return true
    }
  }

  func end(_ key: String) { times.withLock { $0[key] = nil } }

  func postpone(_ key: String, until time: Int64) { times.withLock { $0[key] = time } }
}
