import Foundation
import SteadSecrets
import Testing

/// A collection that cannot be used says so, in every call, and is never taken for an empty one.
@Suite(.needs(.keyring)) struct ServiceStateTests {
  /// All calls that read or write, by their names.
  private static func errors(_ store: SecretService) throws -> [String: SecretError.Code?] {
    let secrets = try Secrets(service: "S", store: store)
    func code(_ body: () throws -> Void) -> SecretError.Code? {
      do {
        try body()
        return nil
      } catch {
        return (error as? SecretError)?.code
      }
    }
    var errors: [String: SecretError.Code?] = [:]
    for account in ["A", "missing"] {
      errors["string \(account)"] = code { _ = try secrets.string(for: account) }
      errors["item \(account)"] = code { _ = try secrets.item(for: account) }
      errors["set \(account)"] = code { try secrets.set("new", for: account) }
      errors["insert \(account)"] = code { try secrets.insert("new", for: account) }
      errors["update \(account)"] = code { try secrets.update("new", for: account) }
      errors["replace \(account)"] = code { try secrets.replace("old", with: "new", for: account) }
      errors["remove \(account)"] = code { _ = try secrets.remove(account) }
    }
    errors["items"] = code { _ = try secrets.items() }
    errors["removeAll"] = code { _ = try secrets.removeAll() }
    return errors
  }

  /// Another user may make the stand-in for a runtime directory in /tmp first; no write succeeded from then on.
  @Test(.needs(.superuser)) func `another's runtime directory keeps nobody from writing`() throws {
    let session = try KeyringSession()
    let temporary = try TemporaryDirectory()
    var environment = session.environment
    environment["XDG_RUNTIME_DIR"] = nil
    environment["TMPDIR"] = temporary.url.filePath
    let foreign = temporary.file("stead-runtime-\(geteuid())")
    try FileManager.default.createDirectory(at: foreign, withIntermediateDirectories: false)
    #expect(chown(foreign.filePath, 4_001, 4_001) == 0)
    let secrets = try Secrets(
      service: "S", store: SecretService(timeout: .seconds(120), environment: environment))
    try secrets.set("word", for: "A")
    #expect(try secrets.string(for: "A") == "word")
    #expect(try FileManager.default.contentsOfDirectory(atPath: foreign.filePath).isEmpty)
  }

  @Test func `is ready when it is unlocked`() throws {
    let session = try KeyringSession()
    let store = SecretService(timeout: .seconds(120), environment: session.environment)
    #expect(try store.state() == .ready)
    #expect(try Secrets(service: "S", store: store).string(for: "A") == nil)
  }

  @Test func `says locked for every call once it is locked`() throws {
    let session = try KeyringSession()
    let store = SecretService(timeout: .seconds(120), environment: session.environment)
    try Secrets(service: "S", store: store).set("old", for: "A")
    try store.lock()
    #expect(try store.state() == .locked)
    for (call, code) in try Self.errors(store) { #expect(code == .locked, "\(call)") }

    try session.restartUnlocked()
    #expect(try Secrets(service: "S", store: store).string(for: "A") == "old")
    #expect(try Secrets(service: "S", store: store).accounts() == ["A"])
  }

  /// A daemon that has not seen the keyring open knows attributes by their hashes alone.
  @Test func `says locked for every call after a cold start`() throws {
    let session = try KeyringSession()
    let old = SecretService(timeout: .seconds(120), environment: session.environment)
    try Secrets(service: "S", store: old).set("old", for: "A")
    try session.restartLocked()
    for store in [old, SecretService(timeout: .seconds(120), environment: session.environment)] {
      #expect(try store.state() == .locked)
      for (call, code) in try Self.errors(store) { #expect(code == .locked, "\(call)") }
    }
    try session.restartUnlocked()
    #expect(try Secrets(service: "S", store: old).string(for: "A") == "old")
  }

  @Test func `says not initialised where there was never a keyring`() throws {
    let session = try KeyringSession(.uninitialised)
    let store = SecretService(timeout: .seconds(120), environment: session.environment)
    #expect(try store.state() == .notInitialized)
    for (call, code) in try Self.errors(store) { #expect(code == .notInitialized, "\(call)") }
    let error = #expect(throws: SecretError.self) { try store.lock() }
    #expect(error?.code == .notInitialized)
  }

  @Test func `says not initialised of a collection that is not there`() throws {
    let session = try KeyringSession()
    let store = SecretService(
      collection: .named("Elsewhere"), timeout: .seconds(120), environment: session.environment)
    #expect(try store.state() == .notInitialized)
    for (call, code) in try Self.errors(store) { #expect(code == .notInitialized, "\(call)") }
  }

  @Test func `finds a collection by its alias and by its label`() throws {
    let session = try KeyringSession()
    let secrets = try ["default", "Login"].map {
      try Secrets(
        service: "S",
        store: SecretService(
          collection: .named($0), timeout: .seconds(120), environment: session.environment))
    }
    try secrets[0].set("word", for: "A")
    #expect(try secrets[1].string(for: "A") == "word")
    #expect(secrets[1].storeDescription.location == "Login")
  }

  @Test func `uses the session's collection when the default one is locked`() throws {
    let session = try KeyringSession()
    let kept = SecretService(timeout: .seconds(120), environment: session.environment)
    let passing = SecretService(
      collection: .session, timeout: .seconds(120), environment: session.environment)
    try kept.lock()
    let secrets = try Secrets(service: "S", store: passing)
    try secrets.set("word", for: "A")
    #expect(try secrets.string(for: "A") == "word")
    #expect(try kept.state() == .locked)
    #expect(!passing.features.contains(.persistence) && kept.features.contains(.persistence))
    let error = #expect(throws: SecretError.self) { try passing.lock() }
    #expect(error?.feature == .locking)
  }
}
