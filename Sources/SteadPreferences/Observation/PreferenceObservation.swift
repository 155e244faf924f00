/// What keeps an observation of preferences going: it ends with ``cancel()`` or with this object.
public final class PreferenceObservation: Sendable {
  private let observers: PreferenceObservers
  private let id: UInt64

  init(_ observers: PreferenceObservers, id: UInt64) {
    self.observers = observers
    self.id = id
  }

  deinit { cancel() }

  /// Ends the observation and lets go of its handler; a second call does nothing.
  ///
  /// A call of the handler that is under way on another thread, or about to begin there, comes to its
  /// end; after that there is none. A handler may cancel its own observation.
  public func cancel() { observers.remove(id) }
}
