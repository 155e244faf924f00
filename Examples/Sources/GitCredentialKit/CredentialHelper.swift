import SteadSecrets

/// Answers git out of the secrets of a service for each server.
public struct CredentialHelper: Sendable {
  private let secrets: @Sendable (_ service: String) throws(SecretError) -> Secrets

  /// A helper over secrets that are opened when they are needed.
  public init(secrets: @escaping @Sendable (_ service: String) throws(SecretError) -> Secrets) {
    self.secrets = secrets
  }

  /// What git is to read; nil when there is nothing to tell, and git asks somebody else.
  ///
  /// Without a user's name in the request, the account is the one that the server has here; of
  /// several, none is guessed.
  public func get(_ request: CredentialRequest) throws(SecretError) -> SecretBytes? {
    guard let service = request.service else { return nil }
    let secrets = try secrets(service)
    guard let username = try username(request, in: secrets),
      let stored = try secrets.bytes(for: username)
    else { return nil }
    guard let reply = StoredPassword(stored).reply(username: username) else {
      throw SecretError(
        code: .notDecodable,
        message:
          "The name or the password holds a line break or a NUL, which git cannot be told. Remove "
          + "the item, and let git store it anew.")
    }
    return reply
  }

  /// Keeps a credential that git has used with success.
  public func store(_ request: CredentialRequest) throws(SecretError) {
    guard let service = request.service, !request.isEphemeral,
      let username = request.username, !username.isEmpty, let password = StoredPassword(request)
    else { return }
    let secrets = try secrets(service)
    // git stores what it has just got; that need not be written again.
    if try secrets.bytes(for: username) == password.bytes { return }
    try secrets.set(
      password.bytes, for: username, label: "Git: \(username) at \(service.dropFirst(4))")
  }

  /// Removes a credential that was refused, unless it has been replaced by another one meanwhile.
  ///
  /// Without a password in the request, all are removed that it fits.
  public func erase(_ request: CredentialRequest) throws(SecretError) {
    guard let service = request.service else { return }
    let secrets = try secrets(service)
    let usernames: [String]
    if let username = request.username, !username.isEmpty {
      usernames = [username]
    } else {
      usernames = try secrets.accounts()
    }
    for username in usernames {
      if let password = request.password {
        guard let stored = try secrets.bytes(for: username),
          StoredPassword(stored).holds(password)
        else { continue }
      }
      try secrets.remove(username)
    }
  }

  private func username(
    _ request: CredentialRequest, in secrets: Secrets
  ) throws(SecretError) -> String? {
    if let username = request.username, !username.isEmpty { return username }
    let accounts = try secrets.accounts()
    return accounts.count == 1 ? accounts[0] : nil
  }
}
