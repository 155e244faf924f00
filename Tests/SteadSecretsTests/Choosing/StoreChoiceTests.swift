import Foundation
import Testing

@testable import SteadSecrets

/// What is chosen for what is found, as a table.
@Suite struct StoreChoiceTests {
  struct Row: CustomTestStringConvertible, Sendable {
    var found: StoreProbe.Finding
    var chosen: StoreAddress
    var why: String

    var testDescription: String { "\(found) -> \(chosen)" }
  }

  static let rows = [
    Row(found: .state(.ready), chosen: .secretService, why: "unlocked"),
    Row(found: .state(.locked), chosen: .secretService, why: "locked"),
    Row(found: .state(.notInitialized), chosen: .vault, why: "no collection"),
    Row(found: .absent(.noBus), chosen: .vault, why: "no message bus"),
    Row(found: .absent(.noLibrary), chosen: .vault, why: "not installed"),
    Row(found: .absent(.noService), chosen: .vault, why: "Nothing on the"),
    Row(found: .absent(.notOnThisSystem), chosen: .vault, why: "This system"),
  ]

  @Test(arguments: rows)
  func `a service without a record gets what the system has`(_ row: Row) {
    let key = StoreProbe.KeyLocation.keyFile(path: "/home/anna/.config/stead/secrets.key")
    let choice = StoreChoice(probe: StoreProbe(secretService: row.found, vaultKey: key))
    #expect(choice.address == row.chosen)
    #expect(choice.reason.contains(row.why))
    // A file gives less than a keyring does, and says so.
    #expect(choice.reason.contains("does not protect") == (row.chosen == .vault))
  }

  @Test(arguments: rows)
  func `Apple systems have their Keychain, whatever else is there`(_ row: Row) {
    let probe = StoreProbe(
      keychain: .keychain, secretService: row.found, vaultKey: .keyFile(path: "/key"))
    #expect(StoreChoice(probe: probe).address == .keychain)
  }

  @Test(arguments: [
    StoreAddress.secretService, .vault, .keychain,
    StoreAddress(kind: .vault, location: "/srv/notes.vault"),
    StoreAddress(kind: .elsewhere, location: "a vault with a passphrase"),
  ])
  func `a record decides`(_ address: StoreAddress) {
    let record = StoreRecord(
      service: "org.example.Notes", address: address, since: Date(timeIntervalSince1970: 0),
      reason: "There was no bus.")
    let choice = StoreChoice(record: record, path: "/home/anna/notes.json")
    #expect(choice.address == address)
    #expect(choice.reason.contains("/home/anna/notes.json"))
    #expect(choice.reason.contains("1970-01-01"))
    #expect(choice.reason.contains("There was no bus."))
  }

  /// What a sandbox lets through of the Secret Service would have the secrets of all apps.
  @Test(arguments: rows)
  func `in a sandbox, the portal goes before the Secret Service`(_ row: Row) {
    let probe = StoreProbe(secretService: row.found, vaultKey: .secretPortal)
    let choice = StoreChoice(probe: probe)
    #expect(choice.address == .vault)
    #expect(choice.reason.contains("sandbox") && choice.reason.contains("Secret portal"))
  }

  @Test func `the reason tells where the key is`() {
    let credential = StoreProbe(
      secretService: .absent(.noBus),
      vaultKey: .systemdCredential(name: "stead-vault-key"))
    #expect(StoreChoice(probe: credential).reason.contains("systemd credential stead-vault-key"))
    let file = StoreProbe(
      secretService: .absent(.noBus), vaultKey: .keyFile(path: "/a/secrets.key"))
    #expect(StoreChoice(probe: file).reason.contains("/a/secrets.key"))
  }
}
