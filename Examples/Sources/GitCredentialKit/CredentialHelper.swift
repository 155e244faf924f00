import SteadSecrets

/// Answers git out of the secrets of one service, which has the credentials of all servers.
public struct CredentialHelper: Sendable {
  private let secrets: @Sendable () throws(SecretError) -> Secrets

  /// A helper over secrets that are opened when they are needed.
  ///
  /// - Parameter secrets: Gives the secrets of ``CredentialPlace/service``.
  public init(secrets: @escaping @Sendable () throws(SecretError) -> Secrets) {
    self.secrets = secrets
  }

  /// What git is to read; nil when there is nothing to tell, and git asks somebody else.
  ///
  /// Without a user's name in the request, the account is the one that the server has here; of
  /// several, none is guessed.
  public func get(_ request: CredentialRequest) throws(SecretError) -> SecretBytes? {
    guard let place = CredentialPlace(request) else { return nil }
    let secrets = try secrets()
    guard let username = try username(request, at: place, in: secrets),
      let stored = try secrets.bytes(for: place.account(of: username))
    else { return nil }
    guard let reply = StoredPassword(stored).reply(username: username) else {
      throw SecretError(
        code: .notDecodable,
        message:
          "The name or the password holds a line break or a NUL, which git cannot be told. Remove "
          + "the item, and let git store it again.")
    }
    return reply
  }

  /// Keeps a credential that git has used with success.
  public func store(_ request: CredentialRequest) throws(SecretError) {
    guard let place = CredentialPlace(request), !request.isEphemeral,
      let username = request.username, !username.isEmpty, let password = StoredPassword(request)
    else { return }
    let secrets = try secrets()
    let account = place.account(of: username)
    // git stores what it has just got; that need not be written again.
    if try secrets.bytes(for: account) == password.bytes { return }
    try secrets.set(
      password.bytes, for: account, label: "Git: \(username) at \(place.url)",
      attributes: place.attributes.merging(["username": username]) { $1 })
  }

  /// Removes a credential that was refused, unless it has been replaced by another one meanwhile.
  ///
  /// Without a password in the request, all are removed that it fits.
  public func erase(_ request: CredentialRequest) throws(SecretError) {
    guard let place = CredentialPlace(request) else { return }
    let secrets = try secrets()
    let usernames: [String]
    if let username = request.username, !username.isEmpty {
      usernames = [username]
    } else {
      usernames = try self.usernames(at: place, in: secrets)
    }
    for username in usernames {
      let account = place.account(of: username)
      if let password = request.password {
        guard let stored = try secrets.bytes(for: account),
          StoredPassword(stored).holds(password)
        else { continue }
      }
      try secrets.remove(account)
    }
  }

  private func username(
    _ request: CredentialRequest, at place: CredentialPlace, in secrets: Secrets
  ) throws(SecretError) -> String? {
    if let username = request.username, !username.isEmpty { return username }
    let usernames = try usernames(at: place, in: secrets)
    return usernames.count == 1 ? usernames[0] : nil
  }

  private func usernames(
    at place: CredentialPlace, in secrets: Secrets
  ) throws(SecretError) -> [String] {
    try secrets.items(matching: place.attributes).filter(place.has)
      .compactMap { $0.attributes["username"] }
  }
}
