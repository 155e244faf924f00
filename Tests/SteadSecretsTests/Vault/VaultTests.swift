import Foundation
import SteadSecrets
import SteadTestSupport
import Testing

@Suite struct VaultTests {
  /// Enough that one of them is interrupted between its look at the vault and the next step.
  private static let openers = 48

  let place: TestVault

  init() throws { place = try TestVault() }

  /// One of them creates the vault just after others have looked for it.
  @Test func `opens a new vault in many threads at once`() throws {
    for _ in 0..<Effort.times(10, long: 400) {
      let place = try TestVault()
      try inThreads(Self.openers) { number in
        try place.open().set("\(number)", "account \(number)")
      }
      for number in 0..<Self.openers {
        #expect(try place.open().text("account \(number)") == "\(number)")
      }
    }
  }

  @Test func `keeps a secret for the next opening`() throws {
    try place.open(.create).set("geheim", "anna")
    #expect(try place.open(.open).text("anna") == "geheim")
    #expect(try place.open(.open).text("otto") == nil)
  }

  @Test func `keeps what describes an item`() throws {
    let vault = try place.open()
    try vault.set(
      "geheim", "anna", SecretStoreWrite(label: "Post", attributes: ["server": "mx", "port": ""]))
    let item = try #require(try place.open().item(for: SecretID(service: "mail", account: "anna")))
    #expect(item.label == "Post")
    #expect(item.attributes == ["server": "mx", "port": ""])
    #expect(item.created == item.modified)
  }

  @Test func `sees what another object writes`() throws {
    let (one, other) = (try place.open(), try place.open())
    for round in 0..<10 {
      try one.set("\(round)", "anna")
      #expect(try other.text("anna") == "\(round)")
      try other.set("\(round)!", "anna")
      #expect(try one.text("anna") == "\(round)!")
    }
    #expect(try one.remove(SecretID(service: "mail", account: "anna")))
    #expect(try other.text("anna") == nil)
  }

  @Test func `opens only what is there and makes only what is not`() throws {
    #expect(errorCode { _ = try place.open(.open) } == .notInitialized)
    // A path with a mistake in it makes no vault, unless the call asks for one.
    let url = place.url
    #expect(
      errorCode {
        try Vault(at: url, key: .keyFile(place.keyFile), environment: place.environment)
      } == .notInitialized)
    #expect(try place.directory.names.isEmpty)
    _ = try place.open(.create)
    #expect(errorCode { _ = try place.open(.create) } == .duplicateItem)
  }

  /// Lengths around the steps in which values are padded, and the largest ones.
  @Test(arguments: [0, 1, 14, 15, 63, 64, 65, 1000, 1 << 20, Vault.sizeLimit])
  func `keeps secrets of every length`(_ length: Int) throws {
    let id = try SecretID(service: "mail", account: "anna")
    let secret = SecretBytes(count: length) { memory in
      var random = SplitMix(seed: UInt64(length))
      for index in memory.indices { memory[index] = UInt8(truncatingIfNeeded: random.next()) }
    }
    try place.open().write(secret, for: id, SecretStoreWrite())
    #expect(try place.open().bytes(for: id) == secret)
  }

  @Test func `refuses what is larger than its limit`() throws {
    let id = try SecretID(service: "mail", account: "anna")
    let secret = SecretBytes(count: Vault.sizeLimit + 1) { _ in }
    let vault = try place.open()
    #expect(
      errorCode { try vault.write(secret, for: id, SecretStoreWrite()) }
        == .tooLarge)
  }

  @Test func `keeps the old vault when the new one would be too large`() throws {
    let vault = try place.open()
    let secret = SecretBytes(count: Vault.sizeLimit) { _ in }
    for name in ["a", "b", "c"] {
      try vault.write(secret, for: SecretID(service: "mail", account: name), SecretStoreWrite())
    }
    let one = try SecretID(service: "mail", account: "d")
    #expect(
      errorCode { try vault.write(secret, for: one, SecretStoreWrite()) } == .tooLarge)
    #expect(try place.open().items(service: "mail").map(\.account) == ["a", "b", "c"])
  }
}
