import Foundation
import SteadFiles
import SteadFormats

@testable import SteadPreferences

/// What an observer of all keys is told.
final class ModelChanges: Sendable {
  private struct State {
    var first: [String: PropertyList?] = [:]
    var last: [String: PropertyList?] = [:]
    var problem: String?
  }

  /// How long, in seconds, changes of others may take to be told.
  private static let patience = 60.0

  private let state = ForkSafeLock(State())
  private let observation: ForkSafeLock<PreferenceObservation?> = ForkSafeLock(nil)

  init(_ preferences: Preferences) {
    for key in ModelValues.keys {
      let value = preferences.propertyList(forKey: key)
      state.withLock { $0.last[key] = .some(value) }
    }
    let observation = preferences.observe { [state] change in
      state.withLock { state in
        let last = state.last[change.key] ?? nil
        if change.old != last { state.problem = "\(change.key) was told with another old value" }
        if change.old == change.new { state.problem = "\(change.key) was told without a change" }
        state.last[change.key] = .some(change.new)
      }
    }
    self.observation.withLock { $0 = observation }
  }

  /// Throws unless the last value that was told of each key is the expected one, each after the one before.
  ///
  /// Waits for what is told from a background queue.
  func compare(_ expected: (Int) -> PropertyList?) throws {
    let deadline = ContinuousClock.now + .seconds(Self.patience)
    while true {
      let (last, problem) = state.withLock { ($0.last, $0.problem) }
      if let problem { throw ModelRun.Difference(description: problem) }
      let missing = ModelValues.keys.indices.first { key in
        (last[ModelValues.keys[key]] ?? nil) != expected(key)
      }
      guard let missing else { break }
      guard ContinuousClock.now < deadline else {
        throw ModelRun.Difference(
          description: "the last value of \(ModelValues.keys[missing]) was not told")
      }
      sched_yield()
    }
  }
}
