import Synchronization

/// Whether a load's result may be kept.
@usableFromInline final class LoadTicket: Sendable {
  private let isCancelled = Atomic<Bool>(false)

  /// False once the key was set or removed, or nobody waits for the load any more.
  @usableFromInline var isValid: Bool { !isCancelled.load(ordering: .acquiring) }

  func cancel() { isCancelled.store(true, ordering: .releasing) }
}
