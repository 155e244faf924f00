import SteadSecrets

/// The secret of an item: a password, and below it in lines of their own what else git wants kept.
///
/// The first line is the password and nothing else, as other helpers and `secret-tool` have it.
struct StoredPassword: Equatable {
  let bytes: SecretBytes

  /// Nil when git sent no password.
  init?(_ request: CredentialRequest) {
    guard let password = request.password else { return nil }
    var lines = [password]
    if let expiry = request.expiry, !expiry.isEmpty {
      lines.append(SecretBytes("password_expiry_utc=\(expiry)"))
    }
    if let token = request.refreshToken, token.count > 0 {
      lines.append(SecretBytes("oauth_refresh_token=").appending(token))
    }
    bytes = lines.joined()
  }

  init(_ bytes: SecretBytes) { self.bytes = bytes }

  /// Whether the password is the one that git means.
  func holds(_ password: SecretBytes) -> Bool { lines.first == password }

  /// What git is told of it, as attributes; nil when a name or password cannot be told in one line.
  func reply(username: String) -> SecretBytes? {
    let known = ["password_expiry_utc=", "oauth_refresh_token="]
    let lines = lines
    let further = lines.dropFirst().filter { line in
      line.withBytes { bytes in known.contains { bytes.starts(with: $0.utf8) } }
    }
    guard username.utf8.allSatisfy(CredentialRequest.canBeSent),
      (lines.prefix(1) + further).allSatisfy({ line in
        line.withBytes { $0.allSatisfy(CredentialRequest.canBeSent) }
      })
    else { return nil }
    let first = SecretBytes("password=").appending(lines.first ?? SecretBytes(""))
    return ([SecretBytes("username=\(username)"), first] + further + [SecretBytes("")]).joined()
  }

  private var lines: [SecretBytes] {
    bytes.withBytes { bytes in
      bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        .map { SecretBytes(copying: .init(rebasing: $0)) }
    }
  }
}

extension SecretBytes {
  fileprivate func appending(_ other: SecretBytes) -> SecretBytes {
    SecretBytes(count: count + other.count) { target in
      withBytes { target.copyMemory(from: $0) }
      other.withBytes {
        UnsafeMutableRawBufferPointer(rebasing: target[count...]).copyMemory(from: $0)
      }
    }
  }
}

extension [SecretBytes] {
  /// One secret of all, with line breaks in between.
  fileprivate func joined() -> SecretBytes {
    let lineBreak = SecretBytes("\n")
    return dropFirst().reduce(first ?? SecretBytes("")) { $0.appending(lineBreak).appending($1) }
  }
}
