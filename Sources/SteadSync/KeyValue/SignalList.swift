import Synchronization

/// Calls its registered handlers.
final class SignalList: Sendable {
  final class Listener: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  private struct Weak: Sendable { weak var listener: Listener? }
  private let listeners = Mutex<[Weak]>([])

  /// Calls a body at each signal, for the lifetime of the returned object.
  func add(_ body: @escaping @Sendable () -> Void) -> Listener {
    let listener = Listener(body)
    listeners.withLock { list in
      list.removeAll { $0.listener == nil }
      list.append(Weak(listener: listener))
    }
    return listener
  }

  func set() {
    let present = listeners.withLock { $0.compactMap(\.listener) }
    for listener in present { listener.body() }
  }
}
