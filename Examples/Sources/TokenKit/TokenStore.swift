/// Where a library for OAuth keeps an account's token, as such a library declares it.
public protocol TokenStore: Sendable {
  /// Nil where nobody has signed in.
  func token() async throws -> Token?

  /// Keeps the token of a new sign-in.
  func save(_ token: Token) async throws

  /// Exchanges the token for the next one, and gives the one that is kept then.
  ///
  /// A server takes a refresh token once. Where another process was faster, its token is kept, and the result.
  func renew(_ exchange: @Sendable (Token) async throws -> Token) async throws -> Token

  /// Signs out.
  func remove() async throws
}

/// What a ``TokenStore`` throws itself.
public enum TokenStoreError: Error, Equatable {
  /// There is no token to renew: sign in first.
  case signedOut
}
