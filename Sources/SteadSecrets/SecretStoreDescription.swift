/// Which store keeps the secrets, and why it was chosen.
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
