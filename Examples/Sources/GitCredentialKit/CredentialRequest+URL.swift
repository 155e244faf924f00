import Foundation
import SteadSecrets

extension CredentialRequest {
  /// Takes a request from a URL, in the place of all that was said before it.
  ///
  /// - Throws: ``CredentialError`` when it is no URL, or hides a line break or a NUL.
  mutating func read(url: String) throws(CredentialError) {
    guard let range = url.firstRange(of: "://"), range.lowerBound > url.startIndex else {
      throw CredentialError("git sent a URL without a protocol.")
    }
    var request = CredentialRequest()
    request.scheme = try Self.decoded(url[..<range.lowerBound])
    var rest = url[range.upperBound...]
    let authority = rest.prefix { !"/?#".contains($0) }
    rest = rest[authority.endIndex...]
    if let at = authority.lastIndex(of: "@") {
      let user = authority[..<at]
      let colon = user.firstIndex(of: ":") ?? user.endIndex
      request.username = try Self.decoded(user[..<colon])
      if colon < user.endIndex {
        request.password = SecretBytes(try Self.decoded(user[colon...].dropFirst()))
      }
      request.host = try Self.decoded(authority[at...].dropFirst())
    } else {
      request.host = try Self.decoded(authority)
    }
    while rest.first == "/" { rest.removeFirst() }
    while rest.last == "/" { rest.removeLast() }
    if !rest.isEmpty { request.path = try Self.decoded(rest) }
    self = request
  }

  private static func decoded(_ text: Substring) throws(CredentialError) -> String {
    guard let decoded = String(text).removingPercentEncoding else {
      throw CredentialError("git sent a URL that cannot be decoded.")
    }
    // One of these would make two attributes of one in what is sent back.
    guard decoded.utf8.allSatisfy(CredentialRequest.canBeSent) else {
      throw CredentialError("git sent a URL with a line break or a NUL in it.")
    }
    return decoded
  }
}
