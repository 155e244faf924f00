/// Keeps an observation of preferences alive: it ends with ``cancel()`` or with this object.
public final class PreferenceObservation: Sendable {
  private let observers: PreferenceObservers
  private let id: UInt64

  init(_ observers: PreferenceObservers, id: UInt64) {
    self.observers = observers
    self.id = id
  }

  deinit { cancel() }

  /// Ends the observation and releases its handler; a second call does nothing.
  ///
  /// A call of the handler that is running on another thread, or about to begin there, still finishes; no
  /// others follow. A handler may cancel its own observation.
  public func cancel() { observers.remove(id) }
}
