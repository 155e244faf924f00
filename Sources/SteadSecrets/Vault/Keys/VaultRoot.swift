import Crypto
import Foundation

/// A vault's root key, and the keys derived from it.
struct VaultRoot: Sendable {
  let bytes: SecretBytes

  init(_ bytes: SecretBytes) { self.bytes = bytes }

  /// Generates a new root key.
  static func random() -> VaultRoot {
    VaultRoot(.random(count: VaultLayout.rootKeySize))
  }

  func indexKey(_ writeSalt: [UInt8]) -> SymmetricKey { key("index", writeSalt) }
  func valueKey(_ salt: [UInt8]) -> SymmetricKey { key("value", salt) }
  func witnessKey(_ vaultID: [UInt8]) -> SymmetricKey { key("witness", vaultID) }

  private func key(_ purpose: StaticString, _ salt: [UInt8]) -> SymmetricKey {
    bytes.withBytes { root in
      HKDF<Crypto.SHA256>.expand(
        pseudoRandomKey: root, info: Array("stead vault 1 \(purpose)".utf8) + salt,
        outputByteCount: VaultLayout.rootKeySize)
    }
  }
}
