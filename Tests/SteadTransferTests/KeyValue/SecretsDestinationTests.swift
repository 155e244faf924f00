import Foundation
import SteadPreferences
import SteadSecrets
import SteadTestSupport
import Testing

@testable import SteadTransfer

/// Tokens on their way into a vault, as the engine calls the destination.
@Suite struct SecretsDestinationTests {
  private let directory: TemporaryDirectory
  private let secrets: Secrets
  private let destination: SecretsDestination

  init() throws {
    directory = try TemporaryDirectory()
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o700], ofItemAtPath: directory.url.filePath)
    let vault = try Vault(
      at: directory.file("vault"), key: .keyFile(directory.file("key")), opening: .create,
      environment: ["XDG_STATE_HOME": directory.file("state").filePath])
    secrets = try Secrets(service: "org.example.mail", store: vault)
    destination = try SecretsDestination(secrets)
  }

  private let entries = [
    SecretEntry(account: "ada", secret: "token of ada", label: "Ada's"),
    SecretEntry(account: "carl", secret: "token of carl"),
  ]

  @discardableResult
  private func write(_ entries: [SecretEntry]) throws -> TransferReceipt {
    let receipt = TransferReceipt.none("tokens").adding(
      entries.count, at: Date(timeIntervalSinceReferenceDate: 0))
    try destination.write(ElementBatch(entries), receipt, { _ in }) { written in
      ReceiptChunk(written.placements.map { .init(identity: "from \($0.location)", placement: $0) })
    }
    return try #require(try destination.receipt(named: "tokens"))
  }

  private func pending() throws -> [TransferPlacement] {
    try #require(try destination.entries(named: "tokens")).pending.map(\.placement)
  }

  @Test func `secrets and their receipt are kept`() throws {
    #expect(try destination.receipt(named: "tokens") == nil)
    try write(entries)
    #expect(try pending().map(\.location) == ["ada", "carl"])
    #expect(try secrets.string(for: "ada") == "token of ada")
    #expect(try secrets.item(for: "ada")?.label == "Ada's")
    #expect(try secrets.accounts() == ["ada", "carl"])
  }

  /// A run was killed after its first secret, before the receipt.
  @Test func `what a cut-off run has written is not doubled`() throws {
    try secrets.set("token of ada", for: "ada")
    #expect(try write(entries).pendingCount == 2)
    #expect(try secrets.accounts() == ["ada", "carl"])
  }

  @Test func `of two runs at once, one is told`() throws {
    let first = try write(entries)
    #expect {
      try write(entries)
    } throws: { ($0 as? TransferError)?.code == .changed }
    #expect(try destination.receipt(named: "tokens") == first)
  }

  @Test func `another secret is never replaced`() throws {
    try secrets.set("an older token", for: "carl")
    #expect {
      try write(entries)
    } throws: { error in
      guard let error = error as? TransferError else { return false }
      return error.code == .conflict && error.failures.map(\.item) == ["account carl"]
        && !"\(error)".contains("token of") && !"\(error)".contains("older")
    }
    #expect(try secrets.accounts() == ["carl"])
    #expect(try destination.receipt(named: "tokens") == nil)
  }

  @Test func `two different secrets for one account are refused`() throws {
    #expect {
      try write(entries + [SecretEntry(account: "ada", secret: "another")])
    } throws: { ($0 as? TransferError)?.code == .conflict }
    #expect(try secrets.accounts() == [])
  }

  @Test func `what is not there or has changed is found`() throws {
    try write(entries)
    let placements = try pending()
    #expect(try destination.verify(placements, { _ in }) == [])
    try secrets.set("changed", for: "ada")
    #expect(try destination.verify(placements, { _ in }).map(\.location) == ["ada"])
    try secrets.remove("carl")
    #expect(try destination.verify(placements, { _ in }).map(\.location) == ["ada", "carl"])
  }

  @Test func `a receipt is replaced`() throws {
    let receipt = try write(entries).finished(sourceVersion: nil)
    let placements = try pending()
    try destination.replace(receipt)
    #expect(try destination.receipt(named: "tokens") == receipt)
    #expect(try destination.entries(named: "tokens")?.moved.map(\.placement) == placements)
  }

  /// A digest of a short secret would give it away.
  @Test func `no digest is outside the store`() throws {
    try write(entries)
    let placements = try pending()
    let files = try FileManager.default.subpathsOfDirectory(atPath: directory.url.filePath)
    #expect(!files.isEmpty)
    for file in files {
      let data = (try? Data(contentsOf: directory.file(file))) ?? Data()
      for placement in placements { #expect(data.range(of: Data(placement.digest.utf8)) == nil) }
    }
  }

  /// Once the journal kept it for some two hundred writes more.
  @Test(arguments: [true, false])
  func `a moved token is in no file of preferences`(wholeDomain: Bool) throws {
    let place = directory.file("preferences")
    let preferences = try Preferences(domain: "org.example.mail", directory: place)
    preferences.set("token-of-ada-lovelace", forKey: "ada")
    try preferences.flush()
    let destination = try TransferDestination.secrets(secrets)
    if wholeDomain {
      try Transfer("tokens", from: .preferences(preferences), to: destination) { entry in
        guard case .string(let token) = entry.value else { throw CocoaError(.coderInvalidValue) }
        return SecretEntry(account: entry.key, secret: token)
      }.run()
    } else {
      try Transfer(
        "tokens", from: .preference("ada", of: String.self, in: preferences), to: destination
      ) { SecretEntry(account: "ada", secret: $0) }.run()
    }
    #expect(try secrets.string(for: "ada") == "token-of-ada-lovelace")
    for name in try FileManager.default.contentsOfDirectory(atPath: place.filePath) {
      let bytes = try Data(contentsOf: place.file(name))
      #expect(bytes.firstRange(of: Data("lovelace".utf8)) == nil, "\(name)")
    }
  }
}
