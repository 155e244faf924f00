/// Which store keeps the secrets, and why it was chosen, to be shown or logged.
///
/// It contains no secret. To decide by it, compare ``kind``; ``SecretStore/features`` says what the store can do.
public struct SecretStoreDescription: Hashable, Sendable {
  /// The kinds of stores.
  public enum Kind: Hashable, Sendable {
    /// The desktop's service, such as GNOME Keyring or KWallet.
    case secretService
    /// An encrypted file.
    case vault
    /// Apple's Keychain.
    case keychain
    /// The memory of the process.
    case inMemory
    /// Another kind of store, not from this package.
    case other(String)
  }

  /// What kind of store it is.
  public var kind: Kind
  /// The file, the collection or the address; nil if none.
  public var location: String?
  /// Why this store was chosen, and what that means for the secrets, in a sentence or two.
  public var reason: String

  /// Makes the description of a store.
  public init(kind: Kind, location: String? = nil, reason: String) {
    self.kind = kind
    self.location = location
    self.reason = reason
  }
}

// MARK: - State

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

// MARK: - Features

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

// MARK: - Requirements

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
