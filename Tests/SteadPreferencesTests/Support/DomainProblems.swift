import SteadFiles

@testable import SteadPreferences

/// Collects the errors that a store reports.
final class DomainProblems: Sendable {
  private let errors = ForkSafeLock<[PreferencesError]>([])

  init(_ store: DomainStore) {
    _ = store.addProblemHandler { [weak self] error in self?.errors.withLock { $0.append(error) } }
  }

  func take() -> [PreferencesError.Code] {
    errors.withLock { errors in
      defer { errors = [] }
      return errors.map(\.code)
    }
  }
}
