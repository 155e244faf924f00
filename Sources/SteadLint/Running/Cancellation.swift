import Synchronization

/// Whether a run is to stop.
final class Cancellation: Sendable {
  private let flag = Atomic(false)

  var isCancelled: Bool { flag.load(ordering: .relaxed) }

  func cancel() {
    flag.store(true, ordering: .relaxed)
  }
}

/// Numbers that several threads take, each one once.
final class Ticket: Sendable {
  private let next = Atomic(0)

  func take() -> Int {
    next.wrappingAdd(1, ordering: .relaxed).oldValue
  }
}
