import Synchronization

/// One who changes a cache and knows of these changes by itself.
final class ChangeOrigin: Sendable {
  private let own = Atomic<UInt64>(0)

  func add() { own.add(1, ordering: .acquiringAndReleasing) }
  var count: UInt64 { own.load(ordering: .acquiring) }
}
