import CForkSupport
import Foundation
import Testing

@testable import SteadSecrets

/// What is said when there is no way to the service, or no longer one, and that it is said in time.
@Suite(.needs(.keyring)) struct ServiceLossTests {
  /// So long that only a hang reaches it.
  private static let ample = Duration.seconds(120)
  /// So short that a test can wait for it.
  private static let brief = Duration.milliseconds(300)

  private static func error(_ store: SecretService) -> SecretError? {
    do throws(SecretError) {
      _ = try store.bytes(for: SecretID(service: "S", account: "A"))
      return nil
    } catch {
      return error
    }
  }

  @Test func `says when the library is not installed`() throws {
    let session = try KeyringSession()
    let store = SecretService(
      timeout: Self.ample, environment: session.environment,
      libraryNames: ["libstead-has-no-such-library.so.0"], aliasLifetime: .seconds(1))
    #expect(Self.error(store)?.unavailability == .noLibrary)
    // One that is there, and is not libsecret.
    let other = SecretService(
      timeout: Self.ample, environment: session.environment, libraryNames: ["libc.so.6"],
      aliasLifetime: .seconds(1))
    #expect(Self.error(other)?.unavailability == .noLibrary)
  }

  @Test func `says when there is no bus`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.url.filePath
    // An address of "autolaunch:" would have GDBus start a bus.
    for environment in [
      [:], ["XDG_RUNTIME_DIR": path], ["DBUS_SESSION_BUS_ADDRESS": ""],
      ["DBUS_SESSION_BUS_ADDRESS": "autolaunch:"],
      ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(path)/bus"],
      ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(path)/bus;autolaunch:"],
      ["DBUS_SESSION_BUS_ADDRESS": "not an address"],
      ["DBUS_SESSION_BUS_ADDRESS": "tcp:host=127.0.0.1,port=1"],
    ] {
      let store = SecretService(timeout: Self.ample, environment: environment)
      #expect(Self.error(store)?.unavailability == .noBus, "\(environment)")
    }
    #expect(try directory.names.isEmpty)
  }

  @Test func `finds the bus of the runtime directory`() throws {
    let session = try KeyringSession()
    var environment = session.environment
    environment["DBUS_SESSION_BUS_ADDRESS"] = nil
    environment["XDG_RUNTIME_DIR"] = session.bus.directory.url.filePath
    try Secrets(
      service: "S", store: SecretService(timeout: Self.ample, environment: session.environment)
    ).set("word", for: "A")
    let store = SecretService(timeout: Self.ample, environment: environment)
    #expect(try Secrets(service: "S", store: store).string(for: "A") == "word")
  }

  @Test func `says in time when what listens is no bus`() throws {
    let directory = try TemporaryDirectory()
    let descriptor = try UnixSocket.listen(directory.file("bus").filePath)
    defer { close(descriptor) }
    let store = SecretService(
      timeout: Self.brief, address: "unix:path=\(directory.file("bus").filePath)")
    #expect(Self.error(store)?.unavailability == .timedOut)
  }

  @Test func `says when nothing offers the service`() throws {
    let bus = try PrivateBus()
    let store = SecretService(timeout: Self.ample, environment: bus.environment)
    #expect(Self.error(store)?.unavailability == .noService)
    let error = #expect(throws: SecretError.self) { try store.state() }
    #expect(error?.unavailability == .noService)
  }

  @Test func `says when the service cannot be started`() throws {
    let bus = try PrivateBus(services: [KeyringSession.name: "/bin/false"])
    let store = SecretService(timeout: Self.ample, environment: bus.environment)
    #expect(Self.error(store)?.unavailability == .noService)
  }

  @Test func `says in time when the service never answers`() throws {
    let bus = try PrivateBus()
    let peer = try SilentPeer(KeyringSession.name, on: bus)
    let store = SecretService(timeout: Self.brief, environment: bus.environment)
    #expect(Self.error(store)?.unavailability == .timedOut)
    withExtendedLifetime(peer) {}
  }

  @Test func `says in time when the service hangs and goes on with it`() throws {
    let session = try KeyringSession()
    let store = SecretService(timeout: Self.ample, environment: session.environment)
    let secrets = try Secrets(service: "S", store: store)
    try secrets.set("word", for: "A")
    let hurried = SecretService(timeout: Self.brief, environment: session.environment)
    // A busy machine may need more than one try to connect.
    while Self.error(hurried)?.code != nil {}
    session.withStoppedDaemon {
      #expect(Self.error(hurried)?.unavailability == .timedOut)
      let error = #expect(throws: SecretError.self) {
        try Secrets(service: "S", store: hurried).set("other", for: "B")
      }
      #expect(error?.unavailability == .timedOut)
    }
    #expect(try secrets.string(for: "A") == "word")
  }

  @Test func `says disconnected when the service is killed in the middle`() throws {
    let session = try KeyringSession()
    let store = SecretService(timeout: Self.ample, environment: session.environment)
    let secrets = try Secrets(service: "S", store: store)
    try secrets.set("word", for: "A")
    let daemon = try #require(session.daemonID)
    let monitor = try BusMonitor("type='method_call'", on: session.bus)
    // Stopped, it has the call and cannot answer; then it dies.
    kill(daemon, SIGSTOP)
    let killer = Thread {
      _ = try? monitor.wait(for: KeyringSession.path)
      kill(daemon, SIGKILL)
    }
    killer.start()
    #expect(Self.error(store)?.unavailability == .disconnected)
    // The next call has the bus start another one, which has the password.
    #expect(try secrets.string(for: "A") == "word")
    #expect(session.startCount == 2)
  }

  @Test func `connects anew when the service was started again`() throws {
    let session = try KeyringSession()
    let store = SecretService(timeout: Self.ample, environment: session.environment)
    let secrets = try Secrets(service: "S", store: store)
    try secrets.set("word", for: "A")
    try session.killDaemon()
    #expect(try secrets.string(for: "A") == "word")
    try session.restartUnlocked()
    try secrets.set("other", for: "A")
    try session.restartLocked()
    #expect(Self.error(store)?.code == .locked)
  }

  /// The bus that programs share ends them by a signal when it dies.
  @Test func `outlives the bus`() throws {
    let session = try KeyringSession()
    let store = SecretService(timeout: Self.ample, environment: session.environment)
    try Secrets(service: "S", store: store).set("word", for: "A")
    session.bus.kill()
    for _ in 0..<3 {
      let reason = Self.error(store)?.unavailability
      #expect(reason == .noBus || reason == .disconnected)
    }
    #expect(Self.error(store)?.unavailability == .noBus)
  }

  @Test func `closes the connections that it made`() throws {
    let session = try KeyringSession()
    func count() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
        let target = try? FileManager.default.destinationOfSymbolicLink(
          atPath: "/proc/self/fd/\($0)")
        return target?.hasPrefix("socket:") ?? false
      }.count
    }
    let before = try count()
    for _ in 0..<100 {
      let error = Self.error(
        SecretService(timeout: Self.ample, environment: session.environment))
      // gnome-keyring has been seen to die of many connections on a busy machine.
      #expect(error == nil || error?.unavailability == .disconnected)
    }
    // Other tests have connections of their own meanwhile.
    #expect(try count() < before + 60)
  }

  @Test func `says forked in the child of a fork`() throws {
    let session = try KeyringSession()
    let store = SecretService(timeout: Self.ample, environment: session.environment)
    try Secrets(service: "S", store: store).set("word", for: "A")
    let fresh = SecretService(timeout: Self.ample, environment: session.environment)
    let child = stead_test_fork()
    if child == 0 {
      alarm(240)
      let isTold =
        Self.error(store)?.unavailability == .forked && Self.error(fresh)?.unavailability == .forked
      stead_test_exit(isTold ? 0 : 1)
    }
    #expect(stead_test_wait(child) == 0)
    #expect(try Secrets(service: "S", store: store).string(for: "A") == "word")
  }
}
