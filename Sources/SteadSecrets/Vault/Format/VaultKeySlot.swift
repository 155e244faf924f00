import Foundation

/// One of the keys that open a vault, as the vault's file tells of it.
public struct VaultKeySlot: Hashable, Sendable, Identifiable {
  /// The kinds of keys.
  public enum Kind: UInt32, Hashable, Sendable, CaseIterable {
    /// Something that a person knows.
    case passphrase = 1
    /// A file with random bytes.
    case keyFile = 2
    /// A credential that systemd gives to a service.
    case systemdCredential = 3
    /// A key that another store holds.
    case stored = 4
  }

  /// What tells it from the vault's other slots.
  public let id: UUID
  /// What opens it.
  public let kind: Kind
  /// When it was made.
  public let created: Date
}
