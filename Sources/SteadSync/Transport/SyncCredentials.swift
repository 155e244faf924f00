public import Foundation

/// The data with which a device accesses its account. Keep it secret.
public struct SyncCredentials: Codable, Hashable, Sendable {
  /// The server's address, such as `https://sync.example.org`.
  public var server: URL
  public var user: String
  /// The device's name in the account; part of each stamp.
  public var device: String
  /// Works once; each use gives the next one.
  public var refreshToken: String

  public init(server: URL, user: String, device: String, refreshToken: String) {
    self.server = server
    self.user = user
    self.device = device
    self.refreshToken = refreshToken
  }
}

extension SyncCredentials: CustomStringConvertible, CustomDebugStringConvertible {
  /// Without the token.
  public var description: String { "\(user) at \(server), device \(device)" }
  public var debugDescription: String { description }
}
