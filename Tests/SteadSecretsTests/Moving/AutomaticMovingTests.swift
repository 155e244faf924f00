import Foundation
import Testing

@testable import SteadSecrets
import SteadSecretsTesting

/// Moves of secrets whose place a record tells.
@Suite struct AutomaticMovingTests {
  private let home: Home
  private var other: URL { home.file("other/notes.vault") }
  private var otherVault: Secrets {
    get throws { try home.secrets(.vault(at: other)) }
  }

  init() throws { home = try Home() }

  private func filled() throws -> Secrets {
    let secrets = try home.secrets()
    try secrets.set("word", for: "anna", label: "Anna's", attributes: ["server": "example.org"])
    try secrets.set("other", for: "bob")
    return secrets
  }

  @Test func `the record goes with the secrets`() async throws {
    let secrets = try filled()
    let follower = try home.secrets()
    try await secrets.move(to: .vault(at: other))
    for found in [secrets, follower, try home.secrets()] {
      #expect(try found.string(for: "anna") == "word")
      #expect(try found.item(for: "anna")?.attributes == ["server": "example.org"])
      #expect(found.storeDescription.location == other.filePath)
      #expect(found.storeDescription.reason.contains("The program moved the secrets there."))
      #expect(!found.storeDescription.reason.contains("Copies may be left"))
    }
    #expect(try home.secrets(.vault()).items().isEmpty)
    try follower.set("new", for: "carl")
    #expect(try otherVault.string(for: "carl") == "new")
  }

  @Test func `to where they are, nothing moves`() async throws {
    let secrets = try filled()
    let before = try Data(contentsOf: home.record)
    try await secrets.move(to: .vault()) { _ in Issue.record("There was nothing to do.") }
    try await secrets.move(to: .automatic) { _ in Issue.record("There was nothing to do.") }
    #expect(try Data(contentsOf: home.record) == before)
    // The same file by its name is not told by the record, but by a mark in it.
    #expect(
      await errorCode { try await secrets.move(to: .vault(at: home.vault)) } == .duplicateItem)
    #expect(try secrets.accounts() == ["anna", "bob"])
  }

  @Test func `a service without secrets gets its record`() async throws {
    let secrets = try home.secrets()
    try await secrets.move(to: .vault(at: other))
    #expect(secrets.storeDescription.location == other.filePath)
    try secrets.set("word", for: "anna")
    #expect(try otherVault.string(for: "anna") == "word")
    #expect(!home.has(home.vault))
  }

  @Test func `the record says so when only the program can open the new store`() async throws {
    let store = PlaintextTestStore(at: home.file("clear.json"))
    let secrets = try filled()
    try await secrets.move(to: .store(store), accepting: [.encryptedAttributes])
    let error = #expect(throws: SecretError.self) { try home.secrets() }
    #expect(error?.unavailability == .notOnThisSystem)
    #expect(error?.message.contains("clear.json") == true)
    // Who moved them knows, and can bring them back.
    let named = try home.secrets(.store(store))
    #expect(try named.string(for: "anna") == "word")
    let back = try await named.move(to: .automatic, environment: home.environment)
    #expect(try back.string(for: "anna") == "word")
    #expect(try home.secrets().string(for: "bob") == "other")
    #expect(try named.items().isEmpty)
  }

  /// Its key is written to an automatic place, and writers wait for moves.
  @Test func `a vault can have its key in an automatic place`() async throws {
    let keys = try Secrets(service: "org.example.Keys", environment: home.environment)
    let key = VaultKey.stored(
      in: keys.store, try SecretID(service: "org.example.Keys", account: "notes"))
    let secrets = try filled()
    try await secrets.move(to: .vault(at: other, key: key))
    #expect(try home.secrets(.vault(at: other, key: key)).string(for: "anna") == "word")
    #expect(secretError { try home.secrets() }?.unavailability == .notOnThisSystem)
  }

  @Test func `an automatic store by another name is an automatic place`() async throws {
    let secrets = try filled()
    try await secrets.move(to: .vault(at: other))
    let mail = try Secrets(service: "org.example.Mail", environment: home.environment)
    try await secrets.move(to: .store(mail.store))
    #expect(try home.secrets(.vault()).string(for: "anna") == "word")
    #expect(try home.secrets().storeDescription.location == home.vault.filePath)
  }

  @Test func `a move that fails leaves the record`() async throws {
    let secrets = try filled()
    let before = try Data(contentsOf: home.record)
    try otherVault.set("another", for: "bob")
    #expect(
      await errorCode { try await secrets.move(to: .vault(at: other)) } == .duplicateItem)
    #expect(try Data(contentsOf: home.record) == before)
    #expect(try secrets.string(for: "bob") == "other")
  }

  /// Readers hold no lock: one that comes between the steps must not find an item missing.
  @Test func `who reads during a move finds everything`() async throws {
    let reader = try home.secrets()
    try await filled().move(to: .vault(at: other)) { progress in
      #expect(errorCode { try reader.accounts() } == nil)
      #expect((try? reader.accounts()) == ["anna", "bob"], "\(progress)")
      #expect((try? reader.string(for: "anna")) == "word", "\(progress)")
      #expect((try? reader.contains("carl")) == false, "\(progress)")
    }
  }

  @Test func `what is written during a move waits and is at the new place`() async throws {
    let home = home
    let (written, done) = (DispatchSemaphore(value: 0), AsyncStream.makeStream(of: Bool.self))
    try await filled().move(to: .vault(at: other)) { progress in
      guard progress.step == .copying, progress.completed == 0 else { return }
      Thread.detachNewThread {
        done.continuation.yield((try? home.secrets().set("late", for: "bob")) != nil)
        done.continuation.finish()
        written.signal()
      }
      // Far longer than a write takes that does not wait.
      #expect(written.wait(timeout: .now() + 0.5) == .timedOut)
    }
    for await isWritten in done.stream { #expect(isWritten) }
    #expect(try otherVault.string(for: "bob") == "late")
    #expect(try home.secrets(.vault()).items().isEmpty)
  }

  // MARK: What a killed move left behind

  /// The secrets are in the other vault, and old copies still in the usual one.
  private func leaveCopies(movedAt since: Date) throws {
    try home.secrets(.vault()).set("old", for: "anna")
    try otherVault.set("new", for: "anna")
    try StoreRecordFile(
      service: Home.service, in: home.record.deletingLastPathComponent()
    ).replace(
      with: StoreRecord(
        service: Home.service, address: StoreAddress(kind: .vault, location: other.filePath),
        since: since, reason: "The program moved the secrets there.", leftover: .vault))
  }

  @Test func `old copies go, whatever has become of their originals`() async throws {
    try leaveCopies(movedAt: Date(timeIntervalSinceNow: 3600))
    let secrets = try home.secrets()
    #expect(secrets.storeDescription.reason.contains("Copies may be left in the vault"))
    try await secrets.move(to: .vault(at: other))
    #expect(try home.secrets(.vault()).items().isEmpty)
    #expect(try home.secrets().string(for: "anna") == "new")
    #expect(!secrets.storeDescription.reason.contains("Copies may be left"))
  }

  @Test func `what is newer than the move is no old copy`() async throws {
    try leaveCopies(movedAt: Date(timeIntervalSince1970: 0))
    let secrets = try home.secrets()
    #expect(await errorCode { try await secrets.move(to: .vault(at: other)) } == .changed)
    #expect(try home.secrets(.vault()).string(for: "anna") == "old")
    #expect(try secrets.string(for: "anna") == "new")
    // Once somebody has looked at it and removed it, the move comes to its end.
    try home.secrets(.vault()).remove("anna")
    try await secrets.move(to: .vault(at: other))
    #expect(!secrets.storeDescription.reason.contains("Copies may be left"))
  }

  // MARK: With a keyring

  @Test(.needs(.keyring)) func `from a vault to the keyring and back`() async throws {
    let home = Home(try KeyringSession())
    let secrets = try home.withoutDesktop.secrets()
    try secrets.set("word", for: "anna", label: "Anna's", attributes: ["server": "example.org"])
    let desktop = try home.secrets()
    #expect(desktop.storeDescription.kind == .vault)
    try await desktop.move(to: .automatic, accepting: [.encryptedAttributes])
    #expect(desktop.storeDescription.kind == .secretService)
    let session = try #require(home.session)
    #expect(
      try session.secretTool("lookup", "service", Home.service, "account", "anna").text == "word")
    #expect(try home.secrets(.vault()).items().isEmpty)
    // A process without the desktop knows that they are there no more.
    #expect(secretError { try secrets.string(for: "anna") }?.unavailability == .noBus)

    try await desktop.move(to: .vault())
    #expect(try secrets.string(for: "anna") == "word")
    #expect(try secrets.item(for: "anna")?.attributes == ["server": "example.org"])
    #expect(
      try session.secretTool("lookup", "service", Home.service, "account", "anna").text == "")
  }

  @Test(.needs(.keyring)) func `to a locked keyring nothing moves`() async throws {
    let session = try KeyringSession()
    let home = Home(session)
    let secrets = try home.withoutDesktop.secrets()
    try secrets.set("word", for: "anna")
    try session.restartLocked()
    let before = try Data(contentsOf: home.record)
    let desktop = try home.secrets()
    #expect(
      await errorCode {
        try await desktop.move(to: .secretService(), accepting: [.encryptedAttributes])
      } == .locked)
    #expect(try Data(contentsOf: home.record) == before)
    #expect(try desktop.string(for: "anna") == "word")
  }

  /// An alias and a name lead to one collection.
  @Test(.needs(.keyring)) func `a collection is not moved into itself`() async throws {
    let home = Home(try KeyringSession())
    let secrets = try home.secrets()
    try secrets.set("word", for: "anna")
    #expect(
      await errorCode { try await secrets.move(to: .secretService(.named("login"))) }
        == .duplicateItem)
    #expect(try secrets.string(for: "anna") == "word")
  }
}
