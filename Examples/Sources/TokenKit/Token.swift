public import Foundation

/// What an authorization server gave: a token for requests, and one to get the next with.
public struct Token: Codable, Equatable, Sendable {
  public var access: String
  public var refresh: String
  public var expires: Date

  public init(access: String, refresh: String, expires: Date) {
    self.access = access
    self.refresh = refresh
    self.expires = expires
  }
}

/// In logs and messages a token shows when it expires, and no secret.
extension Token: CustomStringConvertible, CustomReflectable {
  public var description: String { "a token that expires at \(expires)" }

  public var customMirror: Mirror { Mirror(self, children: ["expires": expires]) }
}
