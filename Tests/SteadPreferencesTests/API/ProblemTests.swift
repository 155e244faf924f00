import Synchronization
import SteadPreferences
import Testing

// `Stead` comes with the import of SteadPreferences.
struct ProblemTests {
  /// The first error of each kind alone is passed on, and other tests may have met it already. So the
  /// test runs in a process of its own.
  @Test(.exitTests) func errorsWithoutAHandlerReachTheWholePackagesHandler() async {
    await #expect(processExitsWith: .success) {
      let received = Mutex<[Stead.Problem]>([])
      Stead.onProblem = { problem in received.withLock { $0.append(problem) } }
      let preferences = Preferences.inMemory(options: .init(quota: 10))
      let value = "a value longer than the quota"
      preferences.set(value, forKey: "key")
      preferences.set(value, forKey: "key")
      let problems = received.withLock { $0 }
      #expect(problems.map(\.code) == [.preferencesFailed])
      #expect(problems.map(\.product) == [.preferences])
      #expect(problems.first?.subject.contains("key") == true)
      #expect((problems.first?.cause as? PreferencesError)?.code == .quotaExceeded)
      #expect(problems.allSatisfy { !"\($0)".contains(value) })
    }
  }
}
