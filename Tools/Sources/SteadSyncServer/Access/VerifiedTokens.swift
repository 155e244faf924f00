import Crypto
import Foundation
import Synchronization

/// Tokens whose signatures were checked, so that all requests with one token cost one check.
///
/// Holds digests instead of tokens. Each use checks the token's times again, and that its key still verifies.
final class VerifiedTokens: Sendable {
  /// The maximum number of tokens: some 3 MB.
  static let maximumCount = 10_000

  private let keys: SigningKeys
  private let clock: ServerClock
  private let limit: Int
  private let known = Mutex<[SHA256Digest: AccessToken.Signed]>([:])

  init(keys: SigningKeys, clock: ServerClock, limit: Int = maximumCount) {
    self.keys = keys
    self.clock = clock
    self.limit = limit
  }

  var count: Int { known.withLock { $0.count } }

  /// Reads a token. Throws ``ServerError`` with the code `unauthorized` unless it is valid in every respect.
  func token(_ text: String) throws -> AccessToken {
    // A token that is too long is refused before it is hashed.
    guard text.utf8.count <= AccessToken.maximumLength else {
      return try AccessToken(verifying: text, keys: keys, clock: clock)
    }
    let digest = SHA256.hash(data: Data(text.utf8))
    if let signed = known.withLock({ $0[digest] }),
      keys.publicKey(named: signed.key.name)?.rawRepresentation == signed.key.bytes
    {
      return try AccessToken(signed, clock: clock)
    }
    let signed = try AccessToken.Signed(verifying: text, keys: keys)
    let token = try AccessToken(signed, clock: clock)
    known.withLock { known in
      if known.count >= limit { prune(&known) }
      known[digest] = signed
    }
    return token
  }

  /// Drops the tokens that have expired; all of them, if none has.
  private func prune(_ known: inout [SHA256Digest: AccessToken.Signed]) {
    known = known.filter { (try? AccessToken($0.value, clock: clock)) != nil }
    if known.count >= limit { known.removeAll(keepingCapacity: true) }
  }
}
