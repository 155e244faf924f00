import Foundation
import SteadSecrets

extension TestedStore {
  static let vaults: [TestedStore] = [
    vault("with a key file") { .keyFile($0.keyFile) },
    vault("with a passphrase") { _ in TestVault.passphrase("correct horse") },
  ]

  private static func vault(
    _ name: String, key: @escaping @Sendable (TestVault) -> VaultKey
  ) -> TestedStore {
    TestedStore(name: "vault \(name)") {
      let place = try TestVault()
      return { try place.open(key(place)) }
    }
  }
}
