@testable import SteadCaches

extension SingleFlight {
  /// Returns once so many calls wait for a key's load.
  func waitForWaiters(_ count: Int, of key: Key) async {
    while waiterCount(for: key) < count { await Task.yield() }
  }
}
