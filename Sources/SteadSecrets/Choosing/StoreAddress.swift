/// The address of a store in a record, by which the store can be found again.
struct StoreAddress: Codable, Hashable, Sendable {
  /// The names are those of the record's file.
  enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
    case secretService = "secret-service"
    case vault
    case keychain
    /// A store that only its app can open again, such as a vault with a passphrase.
    case elsewhere
  }

  var kind: Kind
  /// The path of a vault, or the name of a collection or of a keychain; nil means the default one.
  var location: String?

  static let secretService = StoreAddress(kind: .secretService)
  static let vault = StoreAddress(kind: .vault)
  static let keychain = StoreAddress(kind: .keychain)
}

extension StoreAddress: CustomStringConvertible {
  /// The store's name for a person.
  var description: String {
    switch kind {
    case .secretService:
      location.map { "the collection \($0) of the Secret Service" } ?? "the Secret Service"
    case .vault: location.map { "the vault \($0)" } ?? "the vault"
    case .keychain: "the Keychain"
    case .elsewhere: location ?? "a store that the app itself opens"
    }
  }
}
