import Foundation
import SteadTestSupport
import Testing

@testable import SteadSecrets

/// A vault that an earlier version has written opens with each of its keys, and goes on.
@Suite struct EarlierVaultTests {
  /// A key of the vault.
  enum Key: CaseIterable { case passphrase, file }

  private let test: TestVault

  /// Copies the files with the modes that a vault requires, which a checkout doesn't keep.
  init() throws {
    test = try TestVault()
    let files = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "EarlierVaults", directoryHint: .isDirectory)
    try test.put(
      try Data(contentsOf: files.file("secrets.vault")),
      try Data(contentsOf: files.file("secrets.key")))
  }

  private func open(_ key: Key) throws -> Vault {
    switch key {
    case .passphrase: try test.open(TestVault.passphrase("correct horse"), .open)
    case .file: try test.open(.keyFile(test.keyFile), .open)
    }
  }

  private func expectContent(_ vault: Vault, others: [String] = []) throws {
    #expect(try vault.text("anna") == "pässwörd 🚢")
    #expect(try vault.text("empty") == "")
    let large = try vault.bytes(for: SecretID(service: "mail", account: "large"))
    #expect(large == SecretBytes(Data((0..<5_000).map { UInt8(truncatingIfNeeded: $0) })))
    #expect(try vault.text("removed") == nil)
    #expect(try vault.text("anna", service: "web") == "token")
    let items = try vault.items(service: "mail")
    #expect(items.map(\.account) == (["anna", "empty", "large"] + others).sorted())
    #expect(items.first?.label == "Anna's mail")
    #expect(items.first?.attributes == ["server": "imap.example.org"])
    #expect(items.first?.created != nil && items.first?.modified != nil)
  }

  @Test(arguments: Key.allCases) func `each key opens it`(key: Key) throws {
    for _ in 1...2 { try expectContent(open(key)) }
    #expect(try open(key).keySlots.count == 2)
  }

  @Test(arguments: Key.allCases) func `secrets are written and removed`(key: Key) throws {
    let vault = try open(key)
    let secrets = try Secrets(service: "mail", store: vault)
    try secrets.set("new", for: "ben")
    try secrets.set("short", for: "zoe")
    #expect(try secrets.remove("zoe"))
    try expectContent(vault, others: ["ben"])
    for other in Key.allCases {
      let again = try open(other)
      try expectContent(again, others: ["ben"])
      #expect(try again.text("ben") == "new")
    }
  }

  @Test func `a key is added`() throws {
    try open(.passphrase).addKey(TestVault.passphrase("another"))
    try expectContent(test.open(TestVault.passphrase("another"), .open))
  }
}
