import Foundation
import SteadFiles
@testable import SteadSecrets
import SteadSecretsTesting
import Testing

/// Moves between places that are named, over every pair of stores.
@Suite struct MovingTests {
  static let everything = Set(SecretStoreFeature.allCases)

  /// Puts in what stores have trouble with: nothing, bytes that are no text, names with spaces.
  private func fill(_ secrets: Secrets) throws {
    try secrets.set(
      "word", for: "anna", label: "Anna's", attributes: ["server": "example.org", "é": "ü"])
    try secrets.set(Data(), for: "empty one")
    try secrets.set(Data((0..<256).map { UInt8($0) }), for: "key")
  }

  private func checkFilled(_ secrets: Secrets) throws {
    #expect(try secrets.accounts() == ["anna", "empty one", "key"])
    #expect(try secrets.string(for: "anna") == "word")
    #expect(try secrets.data(for: "empty one") == Data())
    #expect(try secrets.data(for: "key") == Data((0..<256).map { UInt8($0) }))
    let item = try secrets.item(for: "anna")
    #expect(item?.label == "Anna's")
    #expect(item?.attributes == ["server": "example.org", "é": "ü"])
  }

  @Test(arguments: TestedStore.named, TestedStore.named)
  func `all that there is goes from one store to another`(
    _ from: TestedStore, _ to: TestedStore
  ) async throws {
    let (old, new) = (try from.place(), try to.place())
    try fill(old.secrets())
    let other = try old.secrets("org.example.Other")
    try other.set("stays", for: "anna")
    let there = try await old.secrets().move(
      to: .store(new.open()), accepting: Self.everything)
    try checkFilled(there)
    try checkFilled(new.secrets())
    #expect(try old.secrets().items().isEmpty)
    #expect(try other.string(for: "anna") == "stays")
    // The mark by which both are told apart is gone.
    #expect(try new.secrets("stead.move").items().isEmpty)
    // Once more there is nothing to do.
    try await old.secrets().move(to: .store(new.open()), accepting: Self.everything)
    try checkFilled(new.secrets())
  }

  /// Each would hold what the other holds, until it is removed from both.
  @Test(arguments: TestedStore.named)
  func `a store is not moved into itself`(_ store: TestedStore) async throws {
    let place = try store.place()
    try fill(place.secrets())
    #expect(
      await errorCode { try await place.secrets().move(to: .store(place.open())) }
        == .duplicateItem)
    try checkFilled(place.secrets())
    #expect(try place.secrets("stead.move").items().isEmpty)
  }

  @Test(arguments: TestedStore.named)
  func `another secret of the name stops the move before it begins`(
    _ store: TestedStore
  ) async throws {
    let (old, new) = (InMemorySecretStore(), try store.place())
    let secrets = try Secrets(service: "org.example.Tests", store: old)
    try fill(secrets)
    try new.secrets().set("another", for: "key")
    let error = await #expect(throws: SecretError.self) {
      try await secrets.move(to: .store(new.open()), accepting: Self.everything)
    }
    #expect(error?.code == .duplicateItem && error?.account == "key")
    try checkFilled(secrets)
    #expect(try new.secrets().accounts() == ["key"])
    #expect(try new.secrets().string(for: "key") == "another")

    try await secrets.move(to: .store(new.open()), replacing: true, accepting: Self.everything)
    try checkFilled(new.secrets())
    #expect(try secrets.items().isEmpty)
  }

  @Test func `a secret that is there already is no conflict`() async throws {
    let (old, new) = (InMemorySecretStore(), InMemorySecretStore())
    let secrets = try Secrets(service: "org.example.Tests", store: old)
    try fill(secrets)
    try Secrets(service: "org.example.Tests", store: new).set("word", for: "anna", label: "Other")
    try checkFilled(try await secrets.move(to: .store(new)))
  }

  @Test func `what the new store cannot protect has to be accepted`() async throws {
    let vault = try TestVault()
    let secrets = try Secrets(service: "org.example.Tests", store: vault.open())
    try fill(secrets)
    let place = SecretStoreLocation.store(
      PlaintextTestStore(at: vault.directory.file("clear.json")))
    #expect(
      await secretError { try await secrets.move(to: place) }?.feature == .encryptedAttributes)
    let memory = SecretStoreLocation.store(InMemorySecretStore())
    #expect(await secretError { try await secrets.move(to: memory) }?.feature == .persistence)
    try checkFilled(secrets)
    try checkFilled(try await secrets.move(to: memory, accepting: [.persistence]))
  }

  @Test func `a secret that the new store does not take stops the move`() async throws {
    let vault = try TestVault()
    let secrets = try Secrets(service: "org.example.Tests", store: InMemorySecretStore())
    try secrets.set("word", for: "anna")
    try secrets.set(Data(count: Vault.sizeLimit + 1), for: "large")
    #expect(await errorCode { try await secrets.move(to: .store(vault.open())) } == .tooLarge)
    #expect(try secrets.accounts() == ["anna", "large"])
  }

  @Test func `what another program changes meanwhile is not removed`() async throws {
    let (old, new) = (InMemorySecretStore(), InMemorySecretStore())
    let secrets = try Secrets(service: "org.example.Tests", store: old)
    try fill(secrets)
    let failure = await errorCode {
      try await secrets.move(to: .store(new)) { progress in
        if progress == SecretMoveProgress(step: .copying, completed: 3, total: 3) {
          #expect(errorCode { try secrets.set("changed", for: "anna") } == nil)
        }
      }
    }
    #expect(failure == .changed)
    #expect(try secrets.accounts() == ["anna"])
    #expect(try secrets.string(for: "anna") == "changed")
    try checkFilled(Secrets(service: "org.example.Tests", store: new))
  }

  @Test func `a move tells how far it has come`() async throws {
    let secrets = try Secrets(service: "org.example.Tests", store: InMemorySecretStore())
    try fill(secrets)
    let (stream, continuation) = AsyncStream.makeStream(of: SecretMoveProgress.self)
    try await secrets.move(to: .store(InMemorySecretStore())) { continuation.yield($0) }
    continuation.finish()
    var told: [SecretMoveProgress] = []
    for await progress in stream { told.append(progress) }
    #expect(
      told == (0...3).map { SecretMoveProgress(step: .copying, completed: $0, total: 3) }
        + (1...3).map { SecretMoveProgress(step: .removing, completed: $0, total: 3) })
  }

  @Test(arguments: [SecretMoveProgress.Step.copying, .removing])
  func `a move that is cancelled can be finished`(_ step: SecretMoveProgress.Step) async throws {
    let (old, new) = (InMemorySecretStore(), InMemorySecretStore())
    let secrets = try Secrets(service: "org.example.Tests", store: old)
    try fill(secrets)
    let move = Task {
      await errorCode {
        try await secrets.move(to: .store(new)) { progress in
          guard progress.step == step, progress.completed == 1 else { return }
          withUnsafeCurrentTask { $0?.cancel() }
        }
      }
    }
    #expect(await move.value == .cancelled)
    #expect(try secrets.items().count == (step == .copying ? 3 : 2))
    try checkFilled(try await secrets.move(to: .store(new)))
    #expect(try secrets.items().isEmpty)
  }
}

// MARK: - During other calls

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

  @Test func `a secret is not missing because it was moved`() throws {
    #expect(try reader().string(for: "anna") == "word")
    #expect(try reader().item(for: "anna")?.account == "anna")
    #expect(try reader().accounts() == ["anna"])
    #expect(try reader().items(matching: ["account": "anna"]).count == 1)
  }
}
