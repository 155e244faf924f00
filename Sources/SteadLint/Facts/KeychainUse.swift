/// A call of a keychain function such as `SecItemAdd`, with the values in its query.
struct KeychainUse: Codable, Sendable {
  enum Operation: String, Codable {
    case add = "SecItemAdd"
    case update = "SecItemUpdate"
    case read = "SecItemCopyMatching"
    case delete = "SecItemDelete"
  }

  let operation: Operation
  /// The constant of the class, such as `kSecClassGenericPassword`; nil if the source doesn't show it.
  let itemClass: String?
  /// The service, or the server of an internet password.
  let service: KeyFact?
  let account: KeyFact?
  /// The value of `kSecAttrAccessible`, or a note that an access control is set.
  let accessibility: String?
  let isSynced: Bool
  let scopeType: String
  let function: String
  let place: Place
  /// Where the query names its class and its accessibility.
  let queryPlaces: [Place]
}
