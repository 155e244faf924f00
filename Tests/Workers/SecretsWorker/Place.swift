import Foundation
import SteadSecrets
import SteadSecretsTesting

/// Where a store is, and how every command opens it.
struct Place {
  enum Kind: String { case vault, plaintext }

  var kind: Kind
  var directory: URL

  func secrets() throws -> Secrets {
    try Secrets(service: "org.example.Shared", store: store())
  }

  /// Takes an older vault for the newest one.
  func acceptRollback() throws {
    try Vault.acceptRollback(at: vault, key: key, environment: environment)
  }

  private func store() throws -> any SecretStore {
    switch kind {
    case .vault: try Vault(at: vault, key: key, opening: .openOrCreate, environment: environment)
    case .plaintext: PlaintextTestStore(at: directory.file("secrets.json"))
    }
  }

  private var vault: URL { directory.file("vault/secrets.vault") }
  private var key: VaultKey { .keyFile(directory.file("keys/secrets.key")) }
  private var environment: [String: String] {
    ["XDG_STATE_HOME": directory.file("state").filePath]
  }
}

/// A secret that is made from a number and a size, and can be told from all others and from parts.
struct Sample {
  var number: Int
  var size: Int

  var bytes: SecretBytes {
    SecretBytes(count: size) { bytes in
      withUnsafeBytes(of: number.littleEndian) { number in
        for index in bytes.indices { bytes[index] = number[index % 8] }
      }
    }
  }

  /// What a secret was made from; nil when it is not such a secret, whole.
  init?(_ secret: SecretBytes) {
    guard secret.count >= 8 else { return nil }
    number = secret.withBytes { Int(littleEndian: $0.loadUnaligned(as: Int.self)) }
    size = secret.count
    guard bytes == secret else { return nil }
  }

  init(number: Int, size: Int) {
    self.number = number
    self.size = size
  }

  var text: String { "\(size) bytes of \(number)" }
}

extension Secrets {
  /// A line for each account, and a full stop. A sample's label is its number.
  func dump(prefix: String = "") throws(SecretError) -> String {
    var lines = ""
    for item in try items() where item.account.hasPrefix(prefix) {
      guard let secret = try bytes(for: item.account) else {
        lines += "error \(item.account) is listed, and has no secret\n"
        continue
      }
      guard let sample = Sample(secret) else {
        lines += "\(item.account) \(try string(for: item.account) ?? "")\n"
        continue
      }
      let isWhole = item.label == "\(sample.number)"
      lines += "\(item.account) \(sample.text)\(isWhole ? "" : " labelled \(item.label)")\n"
    }
    return lines + "."
  }

  func set(_ sample: Sample, for account: String) throws(SecretError) {
    try set(sample.bytes, for: account, label: "\(sample.number)")
  }
}
