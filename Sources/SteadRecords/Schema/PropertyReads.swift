import Synchronization

/// Which properties of a class have been read of objects, or used in predicates.
final class PropertyReads: Sendable {
  private let indices = Mutex<Set<Int>>([])

  func note(_ index: Int) { indices.withLock { _ = $0.insert(index) } }

  func contains(_ index: Int) -> Bool { indices.withLock { $0.contains(index) } }
}
