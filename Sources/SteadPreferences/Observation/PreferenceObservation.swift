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
  /// No call of the handler begins after this has returned. One that is under way on another thread
  /// comes to its end. A handler may cancel its own observation.
  public func cancel() { observers.remove(id) }
}
