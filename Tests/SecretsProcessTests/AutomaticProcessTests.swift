import Foundation
import SteadSecrets
import SteadTestSupport
import Testing

/// Automatic places in processes of their own: with nothing in the environment, and killed.
@Suite struct AutomaticProcessTests {
  private static let service = "org.example.Notes"
  private static let words = ["anna": "word", "bob": "other", "carl": ""]

  /// Variables that lead to a desktop, as good as not set.
  private static let nothing = ["DBUS_SESSION_BUS_ADDRESS": "", "XDG_RUNTIME_DIR": ""]
    .merging(
      ["CONFIG", "DATA", "STATE", "CACHE"].map { ("XDG_\($0)_HOME", "") }
    ) { one, _ in one }

  /// What a worker prints that has nothing but this environment.
  private func worker(
    _ arguments: [String], _ environment: [String: String]
  ) throws -> (status: Int32, lines: [String]) {
    let worker = try WorkerProcess(
      ["env", "-i"] + environment.map { "\($0)=\($1)" }
        + [try WorkerProcess.program("SecretsWorker"), "automatic"] + arguments)
    let lines = worker.rest()
    return (worker.finish(), lines)
  }

  private func secrets(
    _ environment: [String: String], _ place: SecretStoreLocation = .automatic
  ) throws -> Secrets {
    try Secrets(
      service: Self.service, in: place, environment: environment, timeout: .seconds(120))
  }

  /// As in a container: no bus, no display, no variable of a desktop, and maybe as root.
  @Test func `a process with nothing but a home keeps secrets`() throws {
    let home = try TemporaryDirectory()
    let environment = ["HOME": home.url.filePath]
    #expect(try worker(["get", "anna"], environment) == (0, ["none vault"]))
    #expect(try home.names.isEmpty)
    #expect(try worker(["set", "anna", "word"], environment) == (0, []))
    #expect(try worker(["get", "anna"], environment) == (0, ["word vault"]))
    #expect(try secrets(environment).string(for: "anna") == "word")
  }

  /// A vault without a record, or a record without a secret, must not keep the next one from writing.
  @Test func `a first write can end anywhere`() throws {
    var random = SplitMix(seed: 20)
    for _ in 0..<40 {
      let home = try TemporaryDirectory(inMemory: true)
      let environment = ["HOME": home.url.filePath]
      let first = try WorkerProcess(
        [try WorkerProcess.program("SecretsWorker"), "automatic", "set", "anna", "first"],
        environment: environment.merging(Self.nothing) { one, _ in one })
      // Nothing is waited for: a moment of the first write's 40 ms at random, to end it at.
      usleep(UInt32(random.next() % 40_000))
      first.end()
      let found = try secrets(environment)
      #expect(try ["first", nil].contains(found.string(for: "anna")))
      try found.set("second", for: "anna")
      #expect(try secrets(environment).string(for: "anna") == "second")
    }
  }

  @Test func `a move between vaults can end anywhere`() throws {
    try tryEveryEnd {
      let home = try TemporaryDirectory(inMemory: true)
      return Setting(
        environment: ["HOME": home.url.filePath], old: .vault(), oldName: "vault",
        newName: home.file("other/notes.vault").filePath,
        new: .vault(at: home.file("other/notes.vault")), holding: home)
    }
  }

  @Test(.needs(.keyring)) func `a move to the keyring can end anywhere`() throws {
    try tryEveryEnd {
      let session = try KeyringSession()
      let home = session.environment["HOME"] ?? ""
      // The vault is the place of what is written without the keyring's bus.
      let first = try secrets(["HOME": home])
      try first.set("word", for: "anna")
      return Setting(
        environment: session.environment, old: .vault(), oldName: "vault",
        newName: "secret-service", new: .secretService(), holding: session)
    }
  }

  @Test(.needs(.keyring)) func `a move from the keyring can end anywhere`() throws {
    try tryEveryEnd {
      let session = try KeyringSession()
      return Setting(
        environment: session.environment, old: .secretService(), oldName: "secret-service",
        newName: "vault", new: .vault(), holding: session)
    }
  }

  // MARK: Ends

  private struct Setting {
    var environment: [String: String]
    var old: SecretStoreLocation
    var oldName: String
    var newName: String
    var new: SecretStoreLocation
    /// The directory or the keyring, which goes with the setting.
    var holding: any Sendable
  }

  /// Kills moves after each of their steps, until one comes to its end.
  private func tryEveryEnd(_ make: () throws -> Setting) throws {
    for count in 0..<100 {
      let setting = try make()
      let secrets = try secrets(setting.environment)
      for (account, word) in Self.words { try secrets.set(word, for: account, label: account) }
      let end = try worker(["move", setting.newName, "\(count)"], setting.environment)
      #expect(end.lines.isEmpty)
      try checkAll(setting, after: count)
      if end.status == 0 {
        // Four counts of copies, the record, three removals.
        #expect(count == 8)
        #expect(try self.secrets(setting.environment, setting.old).items().isEmpty)
        return
      }
      #expect(end.status == -SIGKILL)
      try finish(setting, after: count)
    }
    Issue.record("The move came to no end.")
  }

  /// Everything is where the record leads, whoever asks.
  private func checkAll(_ setting: Setting, after count: Int) throws {
    let secrets = try secrets(setting.environment)
    #expect(try secrets.accounts() == Self.words.keys.sorted(), "\(count)")
    for (account, word) in Self.words {
      #expect(try secrets.string(for: account) == word, "\(account) after \(count)")
      #expect(try secrets.item(for: account)?.label == account, "\(account) after \(count)")
    }
  }

  /// The same move again, once the program has gone on for a while.
  private func finish(_ setting: Setting, after count: Int) throws {
    let secrets = try secrets(setting.environment)
    let isMoved = secrets.storeDescription.reason.contains("Copies may be left")
    #expect(isMoved == (count >= 4))
    let end = try worker(["move", setting.newName, "100"], setting.environment)
    #expect(end == (0, []), "\(count)")
    try checkAll(setting, after: count)
    #expect(try self.secrets(setting.environment, setting.old).items().isEmpty, "\(count)")
    #expect(try self.secrets(setting.environment, setting.new).items().count == 3, "\(count)")
    #expect(!secrets.storeDescription.reason.contains("Copies may be left"))
  }
}
