/// Whether secrets can be read and kept in a store now.
///
/// A store says that there is no secret only when it is ready: what is locked or has never been set up
/// throws.
public enum SecretStoreState: Hashable, Sendable, CaseIterable {
  /// It is open.
  case ready
  /// It is locked, and nothing is known of its items.
  ///
  /// ``Secrets/unlock(timeout:)`` asks the person to open it.
  case locked
  /// It has never been set up: there is no collection, or no file, to keep items in.
  ///
  /// ``Secrets/unlock(timeout:)`` makes the Secret Service's default collection, and the first write
  /// the usual vault.
  case notInitialized
}
