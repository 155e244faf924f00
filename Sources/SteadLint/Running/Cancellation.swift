import Synchronization

/// Whether a run should stop.
final class Cancellation: Sendable {
  private let flag = Atomic(false)

  var isCancelled: Bool { flag.load(ordering: .relaxed) }

  func cancel() {
    flag.store(true, ordering: .relaxed)
  }
}

/// Hands out numbers to several threads, each number once.
final class Ticket: Sendable {
  private let next = Atomic(0)

  func take() -> Int {
    next.wrappingAdd(1, ordering: .relaxed).oldValue
  }
}
