import Foundation

@testable import SteadSecrets

/// Places for a vault, its key file and its witness, which go with the test.
final class TestVault: Sendable {
  /// The smallest cost there is, so that tests are quick.
  static let cheap = VaultScrypt(logN: 1, r: 1, p: 1) ?? .standard

  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory(inMemory: true) }

  var url: URL { directory.file("vault/secrets.vault") }
  var keyFile: URL { directory.file("keys/secrets.key") }
  var witnesses: URL { directory.file("state/stead/vaults") }
  var environment: [String: String] {
    [
      "XDG_STATE_HOME": directory.file("state").filePath,
      "CREDENTIALS_DIRECTORY": directory.file("credentials").filePath,
    ]
  }

  func open(_ opening: Vault.Opening = .openOrCreate) throws(SecretError) -> Vault {
    try open(.keyFile(keyFile), opening)
  }

  func open(_ key: VaultKey, _ opening: Vault.Opening = .openOrCreate) throws(SecretError) -> Vault
  {
    try Vault(at: url, key: key, opening: opening, environment: environment)
  }

  /// Puts a vault's file and a key file in place, each unless it is nil, closed to others.
  func put(_ vault: Data?, _ key: Data?) throws {
    for (data, place) in [(vault, url), (key, keyFile)] {
      guard let data else { continue }
      let directory = place.deletingLastPathComponent()
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      try directory.setMode(0o700)
      try data.write(to: place)
      try place.setMode(0o600)
    }
  }

  /// The encrypted secrets, as they are in the file.
  func values() throws -> Data {
    let file = try Data(contentsOf: url)
    let header = try file.withUnsafeBytes { try VaultHeader(parsing: $0) }
    return file[header.valuesRange]
  }

  static func passphrase(_ text: String) -> VaultKey { .passphrase(SecretBytes(text), cheap) }
}

extension Vault {
  func text(_ account: String, service: String = "mail") throws -> String? {
    try bytes(for: SecretID(service: service, account: account))?.withBytes {
      String(decoding: $0, as: UTF8.self)
    }
  }

  func set(
    _ text: String, _ account: String, service: String = "mail",
    _ write: SecretStoreWrite = SecretStoreWrite()
  ) throws {
    try self.write(
      SecretBytes(text), for: SecretID(service: service, account: account), write)
  }
}
