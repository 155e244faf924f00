#if Server
import Synchronization
@testable import SteadSyncServer

/// A clock that tests move.
final class TestClock: Sendable {
  private let time = Mutex<Int64>(1_800_000_000_000)

  var clock: ServerClock { ServerClock { self.time.withLock { $0 } } }

  func advance(seconds: Int64) { time.withLock { $0 += seconds * 1_000 } }
}
#endif
