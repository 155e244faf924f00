import Foundation
import Testing

@testable import SteadSecrets

/// Automatic places with a real keyring, in each state that one can be in.
@Suite(.needs(.keyring)) struct ChoosingOnDesktopTests {
  @Test func `an open keyring is chosen and stays`() throws {
    let home = Home(try KeyringSession())
    let secrets = try home.secrets()
    #expect(secrets.storeDescription.kind == .secretService)
    #expect(try secrets.string(for: "anna") == nil)
    #expect(!home.has(home.record))
    try secrets.set("word", for: "anna")
    #expect(home.has(home.record) && !home.has(home.vault))
    #expect(try home.secrets().string(for: "anna") == "word")
    let session = try #require(home.session)
    let found = try session.secretTool("lookup", "service", Home.service, "account", "anna")
    #expect(found.text == "word")
  }

  /// The secrets are in the keyring, so a process without the desktop must not find "none".
  @Test func `without its desktop, the keyring is missed and nothing else is used`() throws {
    let home = Home(try KeyringSession())
    try home.secrets().set("word", for: "anna")
    let secrets = try home.withoutDesktop.secrets()
    let error = #expect(throws: SecretError.self) { try secrets.string(for: "anna") }
    #expect(error?.unavailability == .noBus)
    #expect(error?.message.contains(home.record.filePath) == true)
    #expect(secretError { try secrets.set("new", for: "anna") }?.unavailability == .noBus)
    #expect(secretError { try secrets.remove("anna") }?.unavailability == .noBus)
    #expect(!home.has(home.vault))
  }

  @Test func `a locked keyring is waited for, not replaced`() throws {
    let session = try KeyringSession()
    let home = Home(session)
    try session.restartLocked()
    let secrets = try home.secrets()
    #expect(secrets.storeDescription.kind == .secretService)
    #expect(secrets.storeDescription.reason.contains("locked"))
    #expect(errorCode { try secrets.string(for: "anna") } == .locked)
    #expect(errorCode { try secrets.set("word", for: "anna") } == .locked)
    // Nothing was written, so nothing is settled yet.
    #expect(!home.has(home.record) && !home.has(home.vault))
    try session.restartUnlocked()
    try secrets.set("word", for: "anna")
    #expect(try secrets.string(for: "anna") == "word")
  }

  @Test func `a recorded keyring that is locked says so`() throws {
    let session = try KeyringSession()
    let home = Home(session)
    try home.secrets().set("word", for: "anna")
    try session.restartLocked()
    let secrets = try home.secrets()
    let error = #expect(throws: SecretError.self) { try secrets.string(for: "anna") }
    #expect(error?.code == .locked)
    #expect(error?.message.contains("nowhere else") == true)
    #expect(errorCode { try secrets.accounts() } == .locked)
  }

  @Test func `a keyring that was never made gives way to a vault`() throws {
    let home = Home(try KeyringSession(.uninitialised))
    let secrets = try home.secrets()
    #expect(secrets.storeDescription.kind == .vault)
    #expect(secrets.storeDescription.reason.contains("no collection"))
    try secrets.set("word", for: "anna")
    #expect(home.has(home.vault))
  }

  @Test func `a bus without a service gives way to a vault`() throws {
    let bus = try PrivateBus()
    let secrets = try Secrets(
      service: Home.service, environment: bus.environment, timeout: .seconds(120))
    #expect(secrets.storeDescription.kind == .vault)
    #expect(secrets.storeDescription.reason.contains("Nothing on the message bus"))
  }

  /// A sandbox, or a rule of the bus, may forbid the call, and the keyring behind it may have secrets.
  @Test func `a service that may not be called gives way to nothing`() throws {
    let bus = try PrivateBus(denying: [KeyringSession.name])
    let peer = try SilentPeer(KeyringSession.name, on: bus)
    let error = secretError {
      _ = try Secrets(
        service: Home.service, environment: bus.environment, timeout: .seconds(120))
    }
    #expect(error?.code == .accessDenied)
    let home = bus.environment["HOME"] ?? ""
    #expect(try FileManager.default.subpathsOfDirectory(atPath: home) == [])
    withExtendedLifetime(peer) {}
  }

  /// It may have secrets, which a vault would hide for ever.
  @Test func `a service that hangs is an error and gives way to nothing`() throws {
    let session = try KeyringSession()
    let home = Home(session)
    func hanging(_ service: String) throws(SecretError) -> Secrets {
      try Secrets(
        service: service, environment: home.environment, timeout: .milliseconds(300))
    }
    try home.secrets().set("word", for: "anna")
    try session.withStoppedDaemon {
      let error = secretError { _ = try hanging("org.example.Mail") }
      #expect(error?.unavailability == .timedOut)
      #expect(error?.message.contains("Secrets(service:in: .vault())") == true)
      #expect(!home.has(home.vault) && !home.has(home.keyFile))
      let recorded = try hanging(Home.service)
      #expect(secretError { try recorded.string(for: "anna") }?.unavailability == .timedOut)
    }
    #expect(try home.secrets().string(for: "anna") == "word")
  }

  /// A server that gets a desktop later goes on with what it has.
  @Test func `a vault that is recorded is kept when a keyring appears`() throws {
    let home = Home(try KeyringSession())
    try home.withoutDesktop.secrets().set("word", for: "anna")
    let secrets = try home.secrets()
    #expect(secrets.storeDescription.kind == .vault)
    #expect(try secrets.string(for: "anna") == "word")
  }

  @Test func `whoever writes first decides for all`() throws {
    let home = Home(try KeyringSession())
    let desktop = try home.secrets()
    let server = try home.withoutDesktop.secrets()
    #expect(
      desktop.storeDescription.kind == .secretService && server.storeDescription.kind == .vault)
    try server.set("word", for: "anna")
    #expect(try desktop.string(for: "anna") == "word")
    try desktop.set("other", for: "bob")
    #expect(desktop.storeDescription.kind == .vault)
    #expect(try server.accounts() == ["anna", "bob"])
  }
}
