import SteadSecrets

/// What git says of the credential that it looks for, has used, or found to be wrong.
public struct CredentialRequest: Equatable, Sendable {
  /// The most bytes that git may send.
  public static let sizeLimit = 1 << 20

  /// The protocol to reach the server by, such as `https`.
  public var scheme: String?
  /// The server, with the port where there is one.
  public var host: String?
  /// The repository on the server; git sends it when `credential.useHttpPath` is set.
  public var path: String?
  /// Whom to log in as.
  public var username: String?
  /// The password of that user.
  public var password: SecretBytes?
  /// When the password ends, in seconds since 1970, as git has it.
  public var expiry: String?
  /// What to get a new password by.
  public var refreshToken: SecretBytes?
  /// Whether the credential is not to be kept.
  public var isEphemeral = false

  /// A request that says nothing.
  public init() {}

  /// Reads git's lines, each an attribute `key=value`, up to an empty one or the end.
  ///
  /// Attributes of other names, and lists such as `wwwauth[]`, are passed over, as git wants it.
  ///
  /// - Throws: ``CredentialError`` for a line that is no attribute, a carriage return or a NUL in one, and a
  ///   host with a slash; no value is in its text.
  public init(_ input: SecretBytes) throws(CredentialError) {
    try input.withBytes { (bytes) throws(CredentialError) in
      var rest = bytes[...]
      while !rest.isEmpty {
        let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
        let line = rest[..<end]
        rest = rest[end...].dropFirst()
        if line.isEmpty { break }
        try read(line)
      }
    }
    // It would be taken for a host and a path.
    guard host?.contains("/") != true else {
      throw CredentialError("git sent a host with a slash.")
    }
  }

  private mutating func read(_ line: Slice<UnsafeRawBufferPointer>) throws(CredentialError) {
    guard let equals = line.firstIndex(of: UInt8(ascii: "=")), equals > line.startIndex else {
      throw CredentialError("git sent a line that is no attribute.")
    }
    let value = line[equals...].dropFirst()
    // What one program takes for a part of a host's name, another takes for the line's end (CVE-2024-52006).
    guard value.allSatisfy(Self.canBeSent) else {
      throw CredentialError("git sent a carriage return or a NUL.")
    }
    switch String(decoding: line[..<equals], as: UTF8.self) {
    case "protocol": scheme = value.text
    case "host": host = value.text
    case "path": path = value.text
    case "username": username = value.text
    case "password": password = value.secret
    case "password_expiry_utc": expiry = value.text
    case "oauth_refresh_token": refreshToken = value.secret
    case "ephemeral": isEphemeral = value.text == "1" || value.text == "true"
    case "url": try read(url: value.text)
    default: break
    }
  }
}

extension CredentialRequest {
  /// Whether a byte may be in an attribute: neither a NUL nor what ends a line anywhere.
  static func canBeSent(_ byte: UInt8) -> Bool {
    byte != 0 && byte != UInt8(ascii: "\n") && byte != UInt8(ascii: "\r")
  }
}

extension Collection<UInt8> {
  fileprivate var text: String { String(decoding: self, as: UTF8.self) }
}

extension Slice<UnsafeRawBufferPointer> {
  fileprivate var secret: SecretBytes { SecretBytes(copying: .init(rebasing: self)) }
}
