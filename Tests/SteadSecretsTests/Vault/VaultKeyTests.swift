import Foundation
@testable import SteadSecrets
import Testing

/// The kinds of keys, and their changes.
@Suite struct VaultKeyTests {
  let place: TestVault

  init() throws { place = try TestVault() }

  @Test func `a passphrase opens the vault`() throws {
    try place.open(TestVault.passphrase("alt"), .create).set("geheim", "anna")
    #expect(try place.open(TestVault.passphrase("alt"), .open).text("anna") == "geheim")
    #expect(errorCode { _ = try place.open(TestVault.passphrase("neu"), .open) } == .wrongKey)
    #expect(errorCode { _ = try place.open(TestVault.passphrase(""), .open) } == .wrongKey)
  }

  @Test func `another kind of key is the wrong key`() throws {
    _ = try place.open(TestVault.passphrase("alt"), .create)
    try place.put(nil, Data(count: 32))
    #expect(errorCode { _ = try place.open(.open) } == .wrongKey)
  }

  @Test func `a key file is made with its vault only`() throws {
    _ = try place.open(.create)
    #expect(try Data(contentsOf: place.keyFile).count == VaultKey.minimumSize)
    #expect(try place.keyFile.mode == 0o600)
    try FileManager.default.removeItem(at: place.keyFile)
    #expect(errorCode { _ = try place.open() } == .notFound)
    #expect(!FileManager.default.fileExists(atPath: place.keyFile.filePath))
  }

  @Test func `a key file that is there is used`() throws {
    let key = Data((0..<100).map { UInt8($0) })
    try place.put(nil, key)
    try place.open(.create).set("geheim", "anna")
    #expect(try Data(contentsOf: place.keyFile) == key)
    #expect(try place.open(.open).text("anna") == "geheim")
    try place.put(nil, Data(key.dropLast()))
    #expect(errorCode { _ = try place.open(.open) } == .wrongKey)
  }

  @Test(arguments: [0, 31, VaultKey.maximumSize + 1])
  func `a key file of another length is refused`(_ length: Int) throws {
    try place.put(nil, Data(count: length))
    #expect(errorCode { _ = try place.open(.create) } != nil)
    #expect(errorCode { _ = try place.open(.open) } == .notInitialized)
  }

  @Test func `a credential opens the vault`() throws {
    let credential = place.directory.file("credentials/stead-vault-key")
    try FileManager.default.createDirectory(
      at: credential.deletingLastPathComponent(), withIntermediateDirectories: false)
    let key = VaultKey.systemdCredential(name: "stead-vault-key")
    #expect(errorCode { _ = try place.open(key) } == .notFound)
    try Data(repeating: 7, count: 32).write(to: credential)
    try credential.setMode(0o440)
    try place.open(key).set("geheim", "anna")
    #expect(try place.open(key, .open).text("anna") == "geheim")
    try credential.setMode(0o444)
    #expect(errorCode { _ = try place.open(key, .open) } == .accessDenied)
    #expect(errorCode { _ = try place.open(.systemdCredential(name: "../x")) } == .invalidName)
    #expect(
      errorCode { _ = try Vault(at: place.url, key: key, opening: .open, environment: [:]) }
        == .notFound)
  }

  @Test func `a key in another store is made with its vault only`() throws {
    let store = InMemorySecretStore()
    let id = try SecretID(service: "vault", account: "key")
    try place.open(.stored(in: store, id), .create).set("geheim", "anna")
    #expect(try store.bytes(for: id)?.count == 32)
    #expect(try place.open(.stored(in: store, id), .open).text("anna") == "geheim")
    try store.remove(id)
    #expect(errorCode { _ = try place.open(.stored(in: store, id)) } == .notFound)
    #expect(try store.bytes(for: id) == nil)
  }

  @Test func `a changed passphrase leaves the secrets' bytes as they are`() throws {
    let vault = try place.open(TestVault.passphrase("alt"), .create)
    try vault.set("geheim", "anna")
    let values = try place.values()
    try vault.changePassphrase(
      from: SecretBytes("alt"), to: SecretBytes("neu"), cost: TestVault.cheap)
    #expect(try place.values() == values)
    #expect(errorCode { _ = try place.open(TestVault.passphrase("alt"), .open) } == .wrongKey)
    #expect(try place.open(TestVault.passphrase("neu"), .open).text("anna") == "geheim")
    #expect(try vault.text("anna") == "geheim")
    #expect(
      errorCode {
        try vault.changePassphrase(from: SecretBytes("alt"), to: SecretBytes("x"))
      } == .wrongKey)
  }

  /// Once a new passphrase cost what is usual, whatever was chosen for the old one.
  @Test func `a changed passphrase keeps its cost`() throws {
    let cost = try #require(VaultScrypt(logN: 3, r: 2, p: 1))
    let vault = try place.open(.passphrase(SecretBytes("alt"), cost), .create)
    try vault.changePassphrase(from: SecretBytes("alt"), to: SecretBytes("neu"))
    #expect(try costs() == [cost])
    try vault.changePassphrase(
      from: SecretBytes("neu"), to: SecretBytes("neuer"), cost: TestVault.cheap)
    #expect(try costs() == [TestVault.cheap])
  }

  private func costs() throws -> [VaultScrypt?] {
    try Data(contentsOf: place.url).withUnsafeBytes { try VaultHeader(parsing: $0) }
      .slots.map(\.scrypt)
  }

  /// Of a strange file, sixteen passphrases of the greatest cost each could be tried in turn.
  @Test func `passphrases that cost too much together are refused`() throws {
    let costly = try #require(VaultScrypt(logN: 20, r: 4, p: 4))
    #expect(costly.work == VaultScrypt.workLimit)
    _ = try place.open(TestVault.passphrase("a"), .create)
    var header = try Data(contentsOf: place.url).withUnsafeBytes { try VaultHeader(parsing: $0) }
    var slot = header.slots[0]
    slot.scrypt = costly
    for count in [2, 3] {
      header.slots = Array(repeating: slot, count: count)
      let file = Self.file(header)
      let code = errorCode { _ = try file.withUnsafeBytes { try VaultHeader(parsing: $0) } }
      #expect(code == (count == 2 ? nil : .corrupt))
    }
  }

  /// A file with the header, and zeros for the rest.
  private static func file(_ header: VaultHeader) -> Data {
    var data = Data(count: header.valuesRange.upperBound)
    data.withUnsafeMutableBytes { bytes in
      var writer = VaultWriter(bytes)
      header.write(to: &writer)
    }
    return data
  }

  @Test func `each key opens and a removed one does not`() throws {
    let vault = try place.open(.create)
    let added = try vault.addKey(TestVault.passphrase("zweite"))
    #expect(added.kind == .passphrase)
    #expect(try vault.keySlots.map(\.kind) == [.keyFile, .passphrase])
    #expect(errorCode { try vault.removeKey(UUID()) } == .notFound)
    try place.open(TestVault.passphrase("zweite"), .open).set("geheim", "anna")
    try vault.removeKey(vault.keySlots[0].id)
    #expect(errorCode { _ = try place.open(.open) } == .wrongKey)
    #expect(try vault.text("anna") == "geheim")
    #expect(errorCode { try vault.removeKey(added.id) } == .failed)
    #expect(try place.open(TestVault.passphrase("zweite"), .open).keySlots == [added])
  }

  @Test func `an added key file is made`() throws {
    let vault = try place.open(TestVault.passphrase("alt"), .create)
    try vault.addKey(.keyFile(place.keyFile))
    try place.open(.open).set("geheim", "anna")
    #expect(try vault.text("anna") == "geheim")
  }

  @Test func `a vault has a limited number of keys`() throws {
    let vault = try place.open(.create)
    for number in 1..<Vault.keyLimit { try vault.addKey(TestVault.passphrase("\(number)")) }
    #expect(errorCode { try vault.addKey(TestVault.passphrase("x")) } == .tooLarge)
    #expect(try place.open(TestVault.passphrase("15"), .open).keySlots.count == Vault.keyLimit)
  }

  @Test(arguments: [
    (0, 8, 1), (17, 0, 1), (17, 8, 0), (17, 17, 1), (17, 8, 17), (23, 1, 1), (20, 8, 1),
    (18, 8, 16), (16, 1, 1), (Int.max, Int.max, Int.max),
  ])
  func `costs beyond the limits cannot be made`(_ logN: Int, _ r: Int, _ p: Int) {
    #expect(VaultScrypt(logN: logN, r: r, p: p) == nil)
  }
}

// MARK: - Key in a keyring

/// A vault whose key the desktop's keyring holds: it opens while the keyring is open.
@Suite(.needs(.keyring)) struct VaultKeyInKeyringTests {
  @Test func `opens while the keyring is open`() throws {
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
