import Synchronization

/// What programs write where they have no cache: a dictionary behind a lock, without a limit.
final class LockedDictionary<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private let values = Mutex<[Key: Value]>([:])

  func value(for key: Key) -> Value? { values.withLock { $0[key] } }
  func setValue(_ value: Value, for key: Key) { values.withLock { $0[key] = value } }
}
