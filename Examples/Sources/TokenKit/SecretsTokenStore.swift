import Foundation
public import SteadSecrets

/// Tokens in the desktop's keyring, or in an encrypted vault where there is none.
///
/// ```swift
/// let store = SecretsTokenStore(try Secrets(service: "org.example.Mail"), account: "anna@example.org")
/// let token = try await store.renew { try await server.refresh($0) }
/// ```
public struct SecretsTokenStore: TokenStore {
  private let secrets: Secrets
  private let account: String

  /// - Parameters:
  ///   - secrets: The secrets of the server or the app. All its accounts are items of this service.
  ///   - account: The user's name on the server.
  public init(_ secrets: Secrets, account: String) {
    self.secrets = secrets
    self.account = account
  }

  public func token() throws -> Token? { try secrets.value(Token.self, for: account) }

  public func save(_ token: Token) throws { try secrets.setValue(token, for: account) }

  public func renew(_ exchange: @Sendable (Token) async throws -> Token) async throws -> Token {
    guard let kept = try secrets.data(for: account) else { throw TokenStoreError.signedOut }
    let next = try await exchange(try JSONDecoder().decode(Token.self, from: kept))
    do {
      try secrets.replace(kept, with: try JSONEncoder().encode(next), for: account)
      return next
    } catch let error as SecretError where error.code == .changed {
      guard let newest = try token() else { throw TokenStoreError.signedOut }
      return newest
    }
  }

  public func remove() throws { try secrets.remove(account) }
}
