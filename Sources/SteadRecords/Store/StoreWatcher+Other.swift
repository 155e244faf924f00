#if !(os(Linux) || os(Android))
  import Foundation

  // Not run on this project's machines: other systems find commits when a context next fetches.
  extension StoreWatcher {
    static func makeSource(
      _ store: URL, _ onChange: @escaping @Sendable () -> Void
    ) -> (any Cancellable)? { nil }
  }
#endif
