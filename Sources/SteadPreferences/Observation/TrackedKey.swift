import Observation

/// A key for Observation's eyes: reading the preference reads this, changing it writes this.
final class TrackedKey: Observable, Sendable {
  private let registrar = ObservationRegistrar()
  private let path: KeyPath<TrackedKey, Void> & Sendable = \TrackedKey.value

  private var value: Void { () }

  func willRead() { registrar.access(self, keyPath: path) }

  func didChange() { registrar.withMutation(of: self, keyPath: path) {} }
}
