import Foundation
import Testing

@testable import SteadSecrets

/// Old copies of a vault, which are as authentic as the newest.
@Suite struct VaultRollbackTests {
  private let place: TestVault
  private let old: Data

  init() throws {
    place = try TestVault()
    try place.open().set("alt", "anna")
    old = try Data(contentsOf: place.url)
  }

  private var witness: URL {
    get throws {
      let names = try FileManager.default.contentsOfDirectory(atPath: place.witnesses.filePath)
      #expect(names.count == 1)
      return place.witnesses.file(names.first ?? "")
    }
  }

  private func putBack() throws { try place.put(old, nil) }

  @Test func anOldCopyIsNoticedByTheNextProgram() throws {
    try place.open().set("neu", "anna")
    try putBack()
    #expect(errorCode { _ = try place.open() } == .rolledBack)
    #expect(errorCode { _ = try place.open(.open) } == .rolledBack)
    #expect(try Data(contentsOf: place.url) == old)
  }

  @Test func anOldCopyIsNoticedByAnOpenVaultWithoutItsWitness() throws {
    let vault = try place.open()
    try vault.set("neu", "anna")
    try FileManager.default.removeItem(at: place.witnesses)
    try putBack()
    #expect(errorCode { _ = try vault.text("anna") } == .rolledBack)
    #expect(errorCode { try vault.set("neuer", "anna") } == .rolledBack)
    #expect(try Data(contentsOf: place.url) == old)
  }

  /// Two branches of one vault have the same generation.
  @Test func anotherBranchIsNoticed() throws {
    let vault = try place.open()
    try vault.set("ein", "anna")
    let branch = try Data(contentsOf: place.url)
    try putBack()
    try FileManager.default.removeItem(at: place.witnesses)
    try place.open().set("anderer", "anna")
    try place.put(branch, nil)
    #expect(errorCode { _ = try place.open() } == .rolledBack)
    #expect(errorCode { _ = try vault.text("anna") } == .rolledBack)
  }

  @Test func anAcceptedCopyIsTheNewestForEveryone() throws {
    let vault = try place.open()
    try vault.set("neu", "anna")
    try putBack()
    try Vault.acceptRollback(
      at: place.url, key: .keyFile(place.keyFile), environment: place.environment)
    #expect(try place.open(.open).text("anna") == "alt")
    #expect(try vault.text("anna") == "alt")
    try putBack()
    #expect(errorCode { _ = try place.open() } == .rolledBack)
  }

  @Test func acceptingNeedsTheKeyAndAVault() throws {
    let other = try TestVault()
    try other.put(nil, Data(count: 32))
    #expect(
      errorCode {
        try Vault.acceptRollback(
          at: place.url, key: .keyFile(other.keyFile), environment: place.environment)
      } == .wrongKey)
    #expect(
      errorCode {
        try Vault.acceptRollback(
          at: other.url, key: .keyFile(other.keyFile), environment: other.environment)
      } == .notInitialized)
    #expect(try other.directory.names == ["keys"])
  }

  /// A writer that is killed behind the replacement leaves a witness that is behind.
  @Test func aWitnessThatIsBehindIsRaised() throws {
    let behind = try Data(contentsOf: witness)
    try place.open().set("neu", "anna")
    let newer = try Data(contentsOf: witness)
    try behind.write(to: witness)
    #expect(try place.open().text("anna") == "neu")
    #expect(try Data(contentsOf: witness) == newer)
    try putBack()
    #expect(errorCode { _ = try place.open() } == .rolledBack)
  }

  /// A record that was cut short, or damaged, counts for nothing; the other one does.
  @Test func oneDamagedRecordLeavesTheOther() throws {
    try place.open().set("neu", "anna")
    try place.open().set("neuer", "anna")
    // Generations 3 and 4 are in records 1 and 0; the copy is generation 2.
    let records = try Data(contentsOf: witness)
    #expect(records.count == 128)
    try putBack()
    for (damaged, code) in [
      (records.flipping(0), SecretError.Code.rolledBack), (records.flipping(100), .rolledBack),
      (records.flipping(0).flipping(100), nil),
    ] {
      try damaged.write(to: witness)
      #expect(errorCode { _ = try place.open() } == code)
    }
  }

  /// Generations in a witness are worth only as much as the code behind them.
  @Test func aForgedWitnessCountsForNothing() throws {
    var forged = try Data(contentsOf: witness)
    forged[7] = 0x7F
    try forged.write(to: witness)
    #expect(try place.open().text("anna") == "alt")
  }

  @Test func withoutAPlaceForTheWitnessTheVaultWorks() throws {
    try FileManager.default.removeItem(at: place.directory.file("state"))
    try Data().write(to: place.directory.file("state"))
    let vault = try place.open()
    try vault.set("neu", "anna")
    #expect(try place.open().text("anna") == "neu")
    try putBack()
    #expect(errorCode { _ = try vault.text("anna") } == .rolledBack)
  }
}

extension Data {
  fileprivate func flipping(_ index: Int) -> Data {
    var copy = self
    copy[index] ^= 1
    return copy
  }
}
