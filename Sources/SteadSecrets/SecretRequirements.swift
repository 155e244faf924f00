/// What a write requires of the store besides storing the secret.
public struct SecretRequirements: Hashable, Sendable {
  /// When the secret may be read; nil leaves it to the store. Requires `.accessibility`.
  public var accessibility: Accessibility?
  /// The group of apps that share the secret; nil for this app alone. Requires `.accessGroups`.
  public var accessGroup: String?
  /// Whether the secret is synchronized to the user's other devices. Requires `.synchronization`.
  public var isSynchronizable: Bool

  /// Makes requirements; by default none.
  public init(
    accessibility: Accessibility? = nil, accessGroup: String? = nil,
    isSynchronizable: Bool = false
  ) {
    self.accessibility = accessibility
    self.accessGroup = accessGroup
    self.isSynchronizable = isSynchronizable
  }

  /// The first feature that these requirements need and a store lacks.
  func firstMissing(in features: Set<SecretStoreFeature>) -> SecretStoreFeature? {
    if accessibility != nil, !features.contains(.accessibility) { return .accessibility }
    if accessGroup != nil, !features.contains(.accessGroups) { return .accessGroups }
    if isSynchronizable, !features.contains(.synchronization) { return .synchronization }
    return nil
  }
}

extension SecretRequirements {
  /// When a secret may be read, depending on the device's state; the classes are those of Apple's Keychain.
  public enum Accessibility: Hashable, Sendable, CaseIterable {
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
}
