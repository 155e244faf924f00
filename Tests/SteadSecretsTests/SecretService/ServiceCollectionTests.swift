import Foundation
@testable import SteadSecrets
import Testing

/// Another collection becomes the default one, or the default one goes, while a program is connected.
@Suite(.needs(.keyring)) struct ServiceCollectionTests {
  private static let service = "org.freedesktop.Secret.Service"
  private static let old = KeyringSession.path + "/collection/login"
  private static let new = KeyringSession.path + "/collection/session"

  /// - Parameter lifetime: How long a read takes the default collection for granted; so long that it is longer
  ///   than the test, unless the test waits for it.
  private static func connected(
    _ session: KeyringSession, lifetime: Duration = .seconds(3600)
  ) throws -> Secrets {
    let store = SecretService(
      timeout: .seconds(120), environment: session.environment, aliasLifetime: lifetime)
    let secrets = try Secrets(service: "S", store: store)
    try secrets.set("word", for: "A")
    return secrets
  }

  /// Connects, and then makes another collection the default.
  private static func outdated(
    _ session: KeyringSession, lifetime: Duration = .seconds(3600)
  ) throws -> Secrets {
    let secrets = try connected(session, lifetime: lifetime)
    try session.bus.call(
      KeyringSession.name, KeyringSession.path, "\(service).SetAlias", "string:default",
      "objpath:\(new)")
    return secrets
  }

  private static func removeTheOld(_ session: KeyringSession) throws {
    try session.bus.call(KeyringSession.name, old, "org.freedesktop.Secret.Collection.Delete")
  }

  @Test func `another default is noticed without a new connection`() throws {
    let session = try KeyringSession()
    let secrets = try Self.outdated(session, lifetime: .milliseconds(50))
    let start = ContinuousClock.now
    while let found = try secrets.string(for: "A") {
      #expect(found == "word")
      guard ContinuousClock.now < start + .seconds(60) else {
        Issue.record("the old default collection was still read after a minute")
        return
      }
    }
    try secrets.set("new", for: "A")
    try Self.removeTheOld(session)
    #expect(try secrets.string(for: "A") == "new")
  }

  @Test func `a write never goes to the old default`() throws {
    let session = try KeyringSession()
    let secrets = try Self.outdated(session)
    try secrets.insert("new", for: "A")
    #expect(try secrets.string(for: "A") == "new")
    try Self.removeTheOld(session)
    #expect(try secrets.string(for: "A") == "new")
  }

  @Test func `a removal never goes to the old default`() throws {
    let session = try KeyringSession()
    let secrets = try Self.outdated(session)
    #expect(try !secrets.remove("A"))
    try secrets.set("new", for: "A")
    #expect(try secrets.removeAll() == 1)
  }

  /// The old default is the source, and the new one is the destination: they have become one.
  @Test func `a move to what has just become the default removes nothing`() throws {
    let session = try KeyringSession()
    let source = try Self.outdated(session)
    let named = SecretService(
      collection: .named("session"), timeout: .seconds(120), environment: session.environment)
    try Secrets(service: "S", store: named).set("new", for: "A")
    let move = SecretMove(service: "S", source: source.store, destination: named)
    #expect(throws: SecretError.self) { try move.copy() }
    try move.removeFromSource(movedAt: .distantFuture)
    #expect(errorCode { try move.removeFromSource() } == .changed)
    #expect(try Secrets(service: "S", store: named).string(for: "A") == "new")
  }

  @Test func `a collection that is gone is replaced by the new default at once`() throws {
    let session = try KeyringSession()
    let secrets = try Self.outdated(session)
    try Self.removeTheOld(session)
    #expect(try secrets.string(for: "A") == nil)
    try secrets.set("new", for: "A")
    #expect(try secrets.string(for: "A") == "new")
  }

  /// Unlocking makes a new one, for which nobody can be asked here.
  @Test func `a collection that is gone is not taken for unlocked`() async throws {
    let session = try KeyringSession()
    let secrets = try Self.connected(session)
    try Self.removeTheOld(session)
    let error = await #expect(throws: SecretError.self) {
      try await secrets.unlock(timeout: .seconds(120))
    }
    #expect(error?.code == .interactionRequired)
  }

  @Test func `a collection that is gone is missing`() throws {
    let session = try KeyringSession()
    let secrets = try Self.connected(session)
    try Self.removeTheOld(session)
    #expect(try secrets.state() == .notInitialized)
    #expect(errorCode { _ = try secrets.string(for: "A") } == .notInitialized)
    #expect(errorCode { try secrets.set("new", for: "A") } == .notInitialized)
  }
}

// MARK: - Keyring for tests

@Suite(.needs(.keyring)) struct KeyringSessionTests {
  /// Without a keyring the suites over all stores have fewer of them, and this test is skipped.
  @Test func `is among the stores of all suites`() {
    let names = Set(TestedStore.all.map(\.name))
    #expect(names.isSuperset(of: ["Secret Service", "automatic, with a keyring"]))
  }

  @Test func `keeps what secret-tool stores until it is locked`() throws {
    let session = try KeyringSession()
    let stored = try session.secretTool(
      "store", "--label=x", "service", "S", "account", "A", input: Data("word".utf8))
    #expect(stored.status == 0)
    #expect(try session.secretTool("lookup", "service", "S", "account", "A").text == "word")

    try session.lock()
    #expect(try session.secretTool("lookup", "service", "S", "account", "A").text == "")

    try session.restartUnlocked()
    #expect(try session.secretTool("lookup", "service", "S", "account", "A").text == "word")

    try session.restartLocked()
    #expect(try session.secretTool("lookup", "service", "S", "account", "A").text == "")
    #expect(session.startCount == 3)
  }

  @Test func `has no keyring before one is made`() throws {
    let session = try KeyringSession(.uninitialised)
    let stored = try session.secretTool(
      "store", "--label=x", "service", "S", "account", "A", input: Data("word".utf8))
    #expect(stored.status != 0)
  }

  @Test func `ends with its last reference`() throws {
    var session: KeyringSession? = try KeyringSession()
    let ids = [session?.bus.processID, session?.daemonID].compactMap(\.self)
    let directory = try #require(session).bus.directory.url.filePath
    #expect(ids.count == 2 && ids.allSatisfy { kill($0, 0) == 0 })
    session = nil
    #expect(!FileManager.default.fileExists(atPath: directory))
    #expect(kill(ids[0], 0) != 0)
  }
}
