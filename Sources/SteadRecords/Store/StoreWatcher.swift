import Foundation

/// Calls a function whenever a store's write-ahead log is written to.
///
/// The mechanism is the platform's: see the other files of this name. A platform without one finds
/// other processes' commits when a context next fetches.
final class StoreWatcher: Sendable {
  private let source: any Cancellable

  protocol Cancellable: Sendable {
    func cancel()
  }

  init?(store: URL, onChange: @escaping @Sendable () -> Void) {
    guard let source = Self.makeSource(store, onChange) else { return nil }
    self.source = source
  }

  deinit { source.cancel() }
}
