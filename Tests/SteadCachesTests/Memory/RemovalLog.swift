import SteadCaches
import Synchronization

/// What a cache's handler was called with, in order.
final class RemovalLog: Sendable {
  struct Entry: Equatable, Sendable {
    let key: Int
    let value: Int
    let reason: RemovalReason
  }

  private let log = Mutex<[Entry]>([])

  var entries: [Entry] { log.withLock { $0 } }

  @Sendable func note(_ key: Int, _ value: Int, _ reason: RemovalReason) {
    log.withLock { $0.append(Entry(key: key, value: value, reason: reason)) }
  }
}
