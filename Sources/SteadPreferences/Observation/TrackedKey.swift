import Observation

/// A key for Observation's eyes: reading the preference reads this, changing it writes this.
///
/// It has no value of its own: what somebody reads is looked up in the domains each time.
final class TrackedKey: Observable, Sendable {
  // One for each key, so that who reads one is not told of others.
  private let registrar = ObservationRegistrar()
  private let path: KeyPath<TrackedKey, Void> & Sendable = \TrackedKey.value

  private var value: Void { () }

  func willRead() { registrar.access(self, keyPath: path) }

  func didChange() { registrar.withMutation(of: self, keyPath: path) {} }
}
