import SteadSecrets

/// The server that a credential is for, and the repository on it where git tells that.
public struct CredentialPlace: Hashable, Sendable {
  /// The service of all credentials.
  ///
  /// A service for each server would leave the servers' names in the clear, as names of records and of vaults, and
  /// they would stay there after the last password was erased.
  public static let service = "git-credential-stead"

  private let scheme: String
  private let host: String
  private let path: String

  /// Nil when a request does not say which server it is about.
  ///
  /// Hosts are the same in capitals and small letters, paths are not.
  public init?(_ request: CredentialRequest) {
    guard let scheme = request.scheme, !scheme.isEmpty else { return nil }
    self.scheme = scheme
    host = (request.host ?? "").lowercased()
    path = request.path ?? ""
    if host.isEmpty, path.isEmpty { return nil }
  }

  /// A URL that no other protocol, user, host and path has: no part holds what ends it.
  public func account(of username: String) -> String {
    url(user: username.escaped(keeping: "") + "@")
  }

  /// What a person sees of it.
  public var url: String { url(user: "") }

  private func url(user: String) -> String {
    let repository = path.isEmpty ? "" : "/" + path.escaped(keeping: "/")
    return "\(scheme.escaped(keeping: "+"))://\(user)\(host.escaped(keeping: ":[]"))\(repository)"
  }

  /// What credentials of the place are found by.
  public var attributes: [String: String] {
    var attributes = ["protocol": scheme, "host": host]
    if !path.isEmpty { attributes["path"] = path }
    return attributes
  }

  /// Whether an item is of this place, and not of a repository on the server.
  public func has(_ item: SecretItem) -> Bool {
    item.matches(attributes) && (item.attributes["path"] ?? "").utf8.elementsEqual(path.utf8)
  }
}

extension SecretItem {
  fileprivate func matches(_ wanted: [String: String]) -> Bool {
    wanted.allSatisfy { name, value in
      attributes[name]?.utf8.elementsEqual(value.utf8) ?? false
    }
  }
}

extension String {
  /// The string with all bytes as `%XX` but letters, digits, `-._~`, and some more.
  fileprivate func escaped(keeping others: String) -> String {
    let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    let kept = Set("\(letters)0123456789-._~\(others)".utf8)
    let digits = Array("0123456789ABCDEF".utf8)
    var escaped: [UInt8] = []
    for byte in utf8 {
      if kept.contains(byte) {
        escaped.append(byte)
      } else {
        escaped += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: escaped, as: UTF8.self)
  }
}
