/// Something that one store can do and another cannot.
///
/// A write that asks for what its store lacks throws `.unsupported`, and is never made without it.
public enum SecretFeature: Hashable, Sendable, CaseIterable {
  /// Labels and attributes are encrypted as the secret is.
  case encryptedAttributes
  /// The secret can be bound to when the device is unlocked.
  case accessibility
  /// Several apps of one maker can share the secret.
  case accessGroups
  /// The secret can go to the user's other devices.
  case synchronization
  /// The store can be locked and unlocked.
  case locking
  /// The secrets outlive the process.
  case persistence
}

/// What a write asks of the store beyond keeping the secret.
public struct SecretRequirements: Hashable, Sendable {
  /// When the secret may be read; nil leaves it to the store. Needs `.accessibility`.
  public var accessibility: SecretAccessibility?
  /// The group of apps that share the secret; nil for this app alone. Needs `.accessGroups`.
  public var accessGroup: String?
  /// Whether the secret goes to the user's other devices. Needs `.synchronization`.
  public var isSynchronizable: Bool

  /// Requirements; without arguments there are none.
  public init(
    accessibility: SecretAccessibility? = nil, accessGroup: String? = nil,
    isSynchronizable: Bool = false
  ) {
    self.accessibility = accessibility
    self.accessGroup = accessGroup
    self.isSynchronizable = isSynchronizable
  }

  /// The first feature that these requirements need and a store lacks.
  public func firstMissing(in features: Set<SecretFeature>) -> SecretFeature? {
    if accessibility != nil, !features.contains(.accessibility) { return .accessibility }
    if accessGroup != nil, !features.contains(.accessGroups) { return .accessGroups }
    if isSynchronizable, !features.contains(.synchronization) { return .synchronization }
    return nil
  }
}

/// When a secret may be read, by the state of the device; the classes are those of Apple's Keychain.
public enum SecretAccessibility: Hashable, Sendable, CaseIterable {
  /// While the device is unlocked.
  case whenUnlocked
  /// While the device is unlocked, and never on another device.
  case whenUnlockedThisDeviceOnly
  /// From the first unlock after a restart on.
  case afterFirstUnlock
  /// From the first unlock after a restart on, and never on another device.
  case afterFirstUnlockThisDeviceOnly
  /// While the device is unlocked, on a device that has a passcode, and never on another one.
  case whenPasscodeSetThisDeviceOnly
}
