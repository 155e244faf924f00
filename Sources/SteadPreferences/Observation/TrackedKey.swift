import Observation

/// An observable stand-in for one preference key: reading the preference reads it, changing the preference writes it.
///
/// It has no value of its own: each read looks up the value in the domains.
final class TrackedKey: Observable, Sendable {
  // One for each key, so that a reader of one isn't notified of others.
  private let registrar = ObservationRegistrar()
  private let path: KeyPath<TrackedKey, Void> & Sendable = \TrackedKey.value

  private var value: Void { () }

  func willRead() { registrar.access(self, keyPath: path) }

  func didChange() { registrar.withMutation(of: self, keyPath: path) {} }
}
