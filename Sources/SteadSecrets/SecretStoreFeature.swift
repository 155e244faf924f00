/// Something that one store can do and another cannot.
///
/// A write that requires a feature its store lacks throws `.unsupported`, and is never made without it.
public enum SecretStoreFeature: Hashable, Sendable, CaseIterable {
  /// Labels and attributes are encrypted like the secret.
  case encryptedAttributes
  /// Access to the secret can depend on whether the device is unlocked.
  case accessibility
  /// Several apps of one maker can share the secret.
  case accessGroups
  /// The secret can be synchronized to the user's other devices.
  case synchronization
  /// The store can be locked and unlocked.
  case locking
  /// The secrets outlive the process.
  case persistence
}
