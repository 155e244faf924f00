import Synchronization

/// Locks that each guard the changes of some keys, so that changes of others needn't wait for a disk.
final class KeyLocks: Sendable {
  private final class Lock: Sendable {
    let mutex = Mutex(())
  }

  private static let count = 64
  private let locks = (0..<count).map { _ in Lock() }

  /// Runs a body while nothing else changes the key. The body must not run user code.
  func withLock<Result: Sendable>(of key: String, _ body: () -> Result) -> Result {
    let number = Int(UInt(bitPattern: key.hashValue) % UInt(Self.count))
    return locks[number].mutex.withLock { _ in body() }
  }

  /// Runs a body while nothing else changes any key.
  func withAllLocks<Result: Sendable>(_ body: () -> Result) -> Result {
    withLocks(locks[...], body)
  }

  // In a fixed order, so that two callers don't wait for each other.
  private func withLocks<Result: Sendable>(
    _ rest: ArraySlice<Lock>, _ body: () -> Result
  ) -> Result {
    guard let first = rest.first else { return body() }
    return first.mutex.withLock { _ in withLocks(rest.dropFirst(), body) }
  }
}
