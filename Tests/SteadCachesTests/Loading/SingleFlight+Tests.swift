@testable import SteadCaches

extension SingleFlight {
  /// Returns once so many calls wait for a key's load.
  func waitForWaiters(_ count: Int, of key: Key) async {
    while waiterCount(for: key) < count { await Task.yield() }
  }

  /// Returns once all loads have ended, and what they have loaded is kept.
  func waitForLoads() async { while count > 0 { await Task.yield() } }
}
