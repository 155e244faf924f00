import Foundation

/// One of the keys that open a vault, as described in the vault's file.
public struct VaultKeySlot: Hashable, Sendable, Identifiable {
  /// The kinds of keys.
  public enum Kind: UInt32, Hashable, Sendable, CaseIterable {
    /// Something that a person knows.
    case passphrase = 1
    /// A file with random bytes.
    case keyFile = 2
    /// A credential that systemd gives to a service.
    case systemdCredential = 3
    /// A key in another store.
    case stored = 4
  }

  /// Distinguishes it from the vault's other slots.
  public let id: UUID
  /// The kind of key that opens it.
  public let kind: Kind
  /// When it was created.
  public let created: Date
}
