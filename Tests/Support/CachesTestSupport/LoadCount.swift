internal import Synchronization

/// A number that tasks and threads count up together.
package final class LoadCount: Sendable {
  private let number = Atomic<Int>(0)

  package init() {}

  package func add() { number.add(1, ordering: .relaxed) }
  package var count: Int { number.load(ordering: .relaxed) }
}
