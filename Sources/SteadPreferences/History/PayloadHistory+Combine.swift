// Not run on this project's machines.

#if canImport(Combine)
  public import Combine
  import Foundation

  extension PayloadHistory: ObservableObject {
    /// Tells views that follow the object, on the main thread, as they want it.
    func announceChange() {
      if Thread.isMainThread { return objectWillChange.send() }
      DispatchQueue.main.async { self.objectWillChange.send() }
    }
  }
#else
  extension PayloadHistory {
    /// There is no Combine here, and so nobody to tell.
    func announceChange() {}
  }
#endif
