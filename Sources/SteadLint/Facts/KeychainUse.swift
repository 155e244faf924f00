/// A call of the keychain's functions, such as `SecItemAdd`, with what its query says.
struct KeychainUse: Codable, Sendable {
  enum Operation: String, Codable {
    case add = "SecItemAdd"
    case update = "SecItemUpdate"
    case read = "SecItemCopyMatching"
    case delete = "SecItemDelete"
  }

  let operation: Operation
  /// The constant of the class, such as `kSecClassGenericPassword`; nil where the source doesn't show it.
  let itemClass: String?
  /// The service, or the server of an internet password.
  let service: KeyFact?
  let account: KeyFact?
  /// What `kSecAttrAccessible` is set to, or that an access control is set.
  let accessibility: String?
  let isSynced: Bool
  let scopeType: String
  let function: String
  let place: Place
  /// Where the query names its class and its accessibility.
  let queryPlaces: [Place]
}
