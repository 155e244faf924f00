// Not run on this project's machines.

#if canImport(Combine)
  public import Combine
  import Foundation

  extension PayloadHistory: ObservableObject {
    /// Notifies views that observe the object, on the main thread, as they require.
    func announceChange() {
      if Thread.isMainThread { return objectWillChange.send() }
      DispatchQueue.main.async { self.objectWillChange.send() }
    }
  }
#else
  extension PayloadHistory {
    /// Combine is unavailable here, so there is no publisher to notify.
    func announceChange() {}
  }
#endif
