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

    /// In a process with many threads the digest's state, which holds what did not fill a block, was once
    /// found after it was freed. Threads that end leave their heaps to nobody.
    @Test func noKeyIsLeftByThreadsThatEnded() throws {
      try use(place.open(.stored(in: Self.store(key), Self.id()), .create))
      try openInThreads()
      #expect(try scan.findings() == [])
    }

    /// A function of its own, so that the key is let go of when it returns.
    private func openInThreads() throws {
      let (place, key) = (place, key)
      try inThreads(8) { _ in
        let store = try Self.store(key)
        for _ in 0..<20 { _ = try place.open(.stored(in: store, Self.id()), .open) }
      }
    }

    private static func id() throws -> SecretID { try SecretID(service: "vault", account: "key") }

    private static func store(_ key: SecretBytes) throws -> InMemorySecretStore {
      let store = InMemorySecretStore()
      try store.write(key, for: id(), SecretStoreWrite())
      return store
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
      #expect(try scan.findings() == [])
    }

    @Test func noKeyOfAnotherStoreIsLeft() throws {
      let store = try Self.store(key)
      try use(place.open(.stored(in: store, Self.id()), .create))
      try use(place.open(.stored(in: store, Self.id()), .open))
      try store.remove(Self.id())
      #expect(try scan.findings() == [])
    }
  }
#endif
