import SteadSecrets
import Testing

/// A vault whose key the desktop's keyring holds: it opens while the keyring is open.
@Suite(.needs(.keyring)) struct VaultKeyInKeyringTests {
  @Test func opensWhileTheKeyringIsOpen() throws {
    let (place, session) = (try TestVault(), try KeyringSession())
    let keyring = SecretService(timeout: .seconds(120), environment: session.environment)
    let key = VaultKey.stored(
      in: keyring, try SecretID(service: "vault", account: "key of the vault"))
    let vault = try place.open(key, .create)
    try vault.set("geheim", "anna")
    #expect(try vault.keySlots.map(\.kind) == [.stored])
    #expect(try place.open(key, .open).text("anna") == "geheim")

    try session.lock()
    #expect(errorCode { _ = try place.open(key, .open) } == .locked)
    // The one that was opened goes on.
    #expect(try vault.text("anna") == "geheim")
    #expect(errorCode { _ = try place.open(key, .openOrCreate) } == .locked)
  }
}
