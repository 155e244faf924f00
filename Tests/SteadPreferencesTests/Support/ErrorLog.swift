import SteadPreferences
import Synchronization

/// The errors that preferences have reported.
final class ErrorLog: Sendable {
  private let errors = Mutex<[PreferencesError]>([])

  init(_ preferences: Preferences) {
    preferences.onError = { [weak self] error in self?.errors.withLock { $0.append(error) } }
  }

  var codes: [PreferencesError.Code] { errors.withLock { $0.map(\.code) } }
  var keys: [String?] { errors.withLock { $0.map(\.key) } }
  var texts: [String] { errors.withLock { $0.map(\.description) } }
}

/// Counts from any thread.
final class Counter: Sendable {
  private let number = Atomic(0)
  func count() { number.add(1, ordering: .relaxed) }
  var value: Int { number.load(ordering: .relaxed) }
}

extension Preferences {
  /// The keys of the domain that is written.
  var storedKeys: Set<String> { Set((persistentDomain(forName: domain) ?? [:]).keys) }
}
