import CForkSupport
import Foundation
import SteadFiles
import Testing

@testable import SteadPreferences

struct ForkObservationTests {
  /// The thread that was telling observers at the moment of the fork is not there in the child, which
  /// then waited for it with all that it had to tell.
  @Test(.exitTests) func theChildTellsItsOwnObservers() async {
    await #expect(processExitsWith: .success) {
      let preferences = Preferences.inMemory()
      let (entered, leave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let log = Log<Change>()
      let observation = preferences.observe("key") { change in
        log.add(change)
        guard change.new == .integer(1) else { return }
        entered.signal()
        leave.wait()
      }
      Thread.detachNewThread { try? preferences.set(1, "key") }
      entered.wait()
      let child = stead_test_fork()
      if child == 0 {
        try? preferences.set(2, "key")
        stead_test_exit(log.all.last?.new == .integer(2) ? 0 : 1)
      }
      #expect(stead_test_wait(child) == 0)
      leave.signal()
      withExtendedLifetime(observation) {}
    }
  }
}
