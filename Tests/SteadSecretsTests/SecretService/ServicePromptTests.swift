import Foundation
import SteadSecrets
import Testing

/// Prompts appear only where they may, are answered, and hold up nobody for longer than was said.
@Suite(.needs(.keyring)) struct ServicePromptTests {
  private static let ample = Duration.seconds(120)

  private static func store(
    _ session: KeyringSession, _ prompts: SecretService.PromptPolicy = .never
  ) -> SecretService {
    SecretService(timeout: ample, prompts: prompts, environment: session.environment)
  }

  @Test func `says that nobody can be asked to unlock`() async throws {
    let session = try KeyringSession()
    let store = Self.store(session)
    try session.lock()
    let error = await #expect(throws: SecretError.self) {
      try await store.unlock(timeout: Self.ample)
    }
    #expect(error?.code == .interactionRequired)
    #expect(try store.state() == .locked)
    let allowed = try Secrets(
      service: "S", store: Self.store(session, .allowed(timeout: Self.ample)))
    let read = #expect(throws: SecretError.self) { try allowed.string(for: "A") }
    #expect(read?.code == .interactionRequired)
  }

  @Test func `says that nobody can be asked for a new password`() async throws {
    let session = try KeyringSession(.uninitialised)
    let store = Self.store(session)
    let error = await #expect(throws: SecretError.self) {
      try await store.unlock(timeout: Self.ample)
    }
    #expect(error?.code == .interactionRequired)
    #expect(try store.state() == .notInitialized)
  }

  @Test func `shows no prompt in any call unless it may`() throws {
    let session = try KeyringSession()
    let store = Self.store(session)
    let secrets = try Secrets(service: "S", store: store)
    try secrets.set("word", for: "A")
    try session.restartLocked()
    let monitor = try BusMonitor("type='method_call'", on: session.bus)
    for call: () throws -> Void in [
      { _ = try secrets.string(for: "A") }, { _ = try secrets.items() },
      { try secrets.set("other", for: "A") }, { try secrets.insert("other", for: "B") },
      { try secrets.remove("A") }, { try secrets.removeAll() },
    ] {
      let error = #expect(throws: SecretError.self) { try call() }
      #expect(error?.code == .locked)
    }
    // The last call that the monitor has to hear of.
    try session.bus.call(
      KeyringSession.name, KeyringSession.path, "org.freedesktop.Secret.Service.ReadAlias",
      "string:the-end")
    let heard = try monitor.wait(for: "the-end")
    #expect(heard.contains("member=SearchItems") && !heard.contains("member=Prompt"))
  }

  @Test func `asks nobody when it is open`() async throws {
    let session = try KeyringSession()
    try await Self.store(session).unlock(timeout: Self.ample)
    #expect(try Self.store(session).state() == .ready)
  }

  @Test(.needs(.prompter)) func `opens with the user's password`() async throws {
    let session = try KeyringSession()
    let store = Self.store(session)
    try Secrets(service: "S", store: store).set("word", for: "A")
    let prompter = try KeyringPrompter([.password(KeyringSession.password)], in: session)
    try session.restartLocked()
    try await store.unlock(timeout: Self.ample)
    #expect(try Secrets(service: "S", store: store).string(for: "A") == "word")
    withExtendedLifetime(prompter) {}
  }

  @Test(.needs(.prompter))
  func `asks in the middle of a call where prompts are allowed`()
    throws
  {
    let session = try KeyringSession()
    try Secrets(service: "S", store: Self.store(session)).set("word", for: "A")
    let prompter = try KeyringPrompter(
      [.password(KeyringSession.password), .password(KeyringSession.password)], in: session)
    try session.restartLocked()
    let secrets = try Secrets(
      service: "S", store: Self.store(session, .allowed(timeout: Self.ample)))
    #expect(try secrets.string(for: "A") == "word")
    try session.lock()
    try secrets.set("other", for: "B")
    #expect(try secrets.string(for: "B") == "other")
    withExtendedLifetime(prompter) {}
  }

  @Test(.needs(.prompter)) func `makes the first collection`() async throws {
    let session = try KeyringSession(.uninitialised)
    let prompter = try KeyringPrompter([.password("a new password")], in: session)
    try session.restartLocked()
    let store = Self.store(session)
    try await store.unlock(timeout: Self.ample)
    #expect(try store.state() == .ready)
    try Secrets(service: "S", store: store).set("word", for: "A")
    #expect(try session.secretTool("lookup", "service", "S", "account", "A").text == "word")
    withExtendedLifetime(prompter) {}
  }

  @Test(.needs(.prompter)) func `says cancelled when the user does`() async throws {
    let session = try KeyringSession()
    let prompter = try KeyringPrompter([.cancel], in: session)
    // The name by which a desktop's prompter is known.
    let named = try SilentPeer("org.gnome.keyring.SystemPrompter", on: session.bus)
    try session.restartLocked()
    let store = Self.store(session)
    let error = await #expect(throws: SecretError.self) {
      try await store.unlock(timeout: Self.ample)
    }
    #expect(error?.code == .cancelled)
    #expect(try store.state() == .locked)
    withExtendedLifetime((prompter, named)) {}
  }

  @Test func `gives up a prompt that nobody answers`() async throws {
    let session = try KeyringSession()
    let prompter = try SilentPeer("org.gnome.keyring.SystemPrompter", on: session.bus)
    // Not merely locked: gnome-keyring opens that again by itself when a prompt is dismissed.
    try session.restartLocked()
    let store = Self.store(session)
    let error = await #expect(throws: SecretError.self) {
      try await store.unlock(timeout: .milliseconds(300))
    }
    #expect(error?.unavailability == .timedOut)
    let allowed = try Secrets(
      service: "S", store: Self.store(session, .allowed(timeout: .milliseconds(300))))
    let read = #expect(throws: SecretError.self) { try allowed.string(for: "A") }
    #expect(read?.unavailability == .timedOut)
    withExtendedLifetime(prompter) {}
  }

  @Test func `dismisses the prompt when the task is cancelled`() async throws {
    let session = try KeyringSession()
    let prompter = try SilentPeer("org.gnome.keyring.SystemPrompter", on: session.bus)
    let monitor = try BusMonitor("interface='org.freedesktop.Secret.Prompt'", on: session.bus)
    try session.lock()
    let store = Self.store(session)
    let task = Task { try await store.unlock(timeout: Self.ample) }
    // At once: the service dismisses the prompt of a prompter that is silent for 25 seconds.
    try await monitor.hear("member=Prompt") { task.cancel() }
    let error = await #expect(throws: SecretError.self) { try await task.value }
    #expect(error?.code == .cancelled)
    try await monitor.hear("member=Dismiss")
    withExtendedLifetime(prompter) {}
  }

  @Test func `is cancelled before it begins`() async throws {
    let session = try KeyringSession()
    try session.lock()
    let store = Self.store(session)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await store.unlock(timeout: Self.ample)
    }
    let error = await #expect(throws: SecretError.self) { try await task.value }
    #expect(error?.code == .cancelled)
  }

  @Test func `says disconnected when the service dies during a prompt`() async throws {
    let session = try KeyringSession()
    let prompter = try SilentPeer("org.gnome.keyring.SystemPrompter", on: session.bus)
    let monitor = try BusMonitor("interface='org.freedesktop.Secret.Prompt'", on: session.bus)
    try session.lock()
    let store = Self.store(session)
    let task = Task { try await store.unlock(timeout: Self.ample) }
    // At once: the service gives up a prompter that is silent for 25 seconds.
    try await monitor.hear("member=Prompt") { try session.killDaemon() }
    let error = await #expect(throws: SecretError.self) { try await task.value }
    #expect(error?.unavailability == .disconnected)
    withExtendedLifetime(prompter) {}
  }
}
