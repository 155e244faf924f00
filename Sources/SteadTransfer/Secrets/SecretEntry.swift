public import SteadSecrets

/// A secret on its way to a secret store.
public struct SecretEntry: Sendable {
  /// The user or the purpose, unique within the service.
  public var account: String
  /// The secret itself.
  public var secret: SecretBytes
  /// The label in a password manager; nil means "SERVICE: ACCOUNT".
  public var label: String?

  /// A secret for an account.
  ///
  /// - Parameters:
  ///   - account: The user or the purpose.
  ///   - secret: A string, `Data`, `[UInt8]` or `SecretBytes`. Its source, such as a property list in memory, is not
  ///     zeroed.
  ///   - label: The label in a password manager; nil means "SERVICE: ACCOUNT".
  public init(account: String, secret: some SecretContent, label: String? = nil) {
    self.account = account
    self.secret = secret.secretBytes
    self.label = label
  }
}
