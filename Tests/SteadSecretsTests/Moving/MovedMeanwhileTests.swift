import Foundation
import SteadFiles
import Testing

@testable import SteadSecrets

/// A store out of which everything has gone by the time that it answers.
private struct EmptiedStore: SecretStore {
  let empty = InMemorySecretStore()
  /// What another process does between a reader's look at the record and its look at the store.
  let meanwhile: @Sendable () throws -> Void

  var storeDescription: SecretStoreDescription { empty.storeDescription }
  var features: Set<SecretStoreFeature> { empty.features }
  var sizeLimit: Int { empty.sizeLimit }

  private func move() throws(SecretError) {
    try SecretError.files { try meanwhile() }
  }

  func bytes(for id: SecretID) throws(SecretError) -> SecretBytes? {
    try move()
    return try empty.bytes(for: id)
  }
  func item(for id: SecretID) throws(SecretError) -> SecretItem? {
    try move()
    return try empty.item(for: id)
  }
  func items(service: String) throws(SecretError) -> [SecretItem] {
    try move()
    return try empty.items(service: service)
  }
  func items(matching attributes: [String: String]) throws(SecretError) -> [SecretItem] {
    try move()
    return try empty.items(matching: attributes)
  }
  func write(_ bytes: SecretBytes, for id: SecretID, _ write: SecretStoreWrite) throws(SecretError)
  {
    try empty.write(bytes, for: id, write)
  }
  func remove(_ id: SecretID) throws(SecretError) -> Bool { try empty.remove(id) }
  func removeAll(service: String) throws(SecretError) -> Int {
    try empty.removeAll(service: service)
  }
}

/// Readers hold no lock, so a move can come between the look at the record and the look at the store.
@Suite struct MovedMeanwhileTests {
  private let home: Home

  init() throws {
    home = try Home()
    try home.secrets().set("word", for: "anna")
  }

  /// Secrets that are moved in the middle of the first read.
  private func reader() throws -> Secrets {
    let home = home
    let store = try ChosenStore(
      opener: StoreOpener(
        service: Home.service, environment: home.environment, timeout: .seconds(120)))
    let record = home.record
    var current = try store.current()
    current.store = EmptiedStore {
      // The record of the new place, here the same one, is another file.
      try AtomicFile(record).replace(with: AtomicFile(record).read())
    }
    // Another place, so that the store is not used again for the next record.
    current.choice.address = .secretService
    store.setCurrent(current)
    return try Secrets(service: Home.service, store: store)
  }

  @Test func aSecretIsNotMissingBecauseItWasMoved() throws {
    #expect(try reader().string(for: "anna") == "word")
    #expect(try reader().item(for: "anna")?.account == "anna")
    #expect(try reader().accounts() == ["anna"])
    #expect(try reader().items(matching: ["account": "anna"]).count == 1)
  }
}
