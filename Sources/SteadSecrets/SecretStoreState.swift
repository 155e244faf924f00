/// Whether secrets can be read and stored in a store now.
///
/// A store reports a missing secret only when it is ready: one that is locked or has never been set up throws.
public enum SecretStoreState: Hashable, Sendable, CaseIterable {
  /// It is open.
  case ready
  /// It is locked, and nothing is known about its items.
  ///
  /// ``Secrets/unlock(timeout:)`` asks the person to open it.
  case locked
  /// It has never been set up: no collection or file exists for items.
  ///
  /// ``Secrets/unlock(timeout:)`` creates the Secret Service's default collection, and the first write
  /// creates the default vault.
  case notInitialized
}
