import Foundation
import SteadFiles
import SteadTestSupport
import Testing

@testable import SteadSecrets

/// Automatic places where there is no bus: in containers, for services, over SSH.
@Suite struct ChoosingWithoutDesktopTests {
  private let home: Home

  init() throws { home = try Home() }

  @Test func `secrets are in a vault and stay there`() throws {
    let secrets = try home.secrets()
    #expect(secrets.storeDescription.kind == .vault)
    #expect(secrets.storeDescription.location == home.vault.filePath)
    #expect(secrets.storeDescription.reason.contains("no message bus"))
    #expect(secrets.storeDescription.reason.contains(home.keyFile.filePath))
    try secrets.set("word", for: "anna")
    #expect(try secrets.string(for: "anna") == "word")
    let next = try home.secrets()
    #expect(try next.string(for: "anna") == "word")
    #expect(next.storeDescription.kind == .vault)
    #expect(next.storeDescription.reason.contains(home.record.filePath))
  }

  @Test func `only reading makes no file`() throws {
    let secrets = try home.secrets()
    #expect(try secrets.string(for: "anna") == nil)
    #expect(try secrets.items().isEmpty)
    #expect(try secrets.remove("anna") == false)
    #expect(try secrets.state() == .ready)
    #expect(secrets.store.features.contains(.encryptedAttributes))
    #expect(!home.has(home.vault) && !home.has(home.record) && !home.has(home.keyFile))
  }

  @Test func `a process that only reads sees what another one writes`() throws {
    let reader = try home.secrets()
    #expect(try reader.string(for: "anna") == nil)
    try home.secrets().set("word", for: "anna")
    #expect(try reader.string(for: "anna") == "word")
    #expect(reader.storeDescription.reason.contains(home.record.filePath))
  }

  /// In one vault for all, an app with sixty megabytes made another's writes take seconds, and fail once it was full.
  @Test func `services have vaults and records of their own`() throws {
    try home.secrets().set("word", for: "anna")
    let other = try Secrets(service: "org.example.Mail", environment: home.environment)
    #expect(try other.string(for: "anna") == nil)
    try other.set("other", for: "anna")
    #expect(try home.secrets().string(for: "anna") == "word")
    #expect(home.has(home.file(".config/stead/secrets/org.example.Mail.json")))
    #expect(home.has(home.file(".local/share/stead/secrets/org.example.Mail.vault")))
    #expect(try other.store.services() == ["org.example.Mail"])
  }

  // MARK: Keys that are not allowed

  @Test func `a key beside its vault can be ruled out`() throws {
    let error = secretError { try home.secrets(.automatic(allowsKeyFile: false)) }
    #expect(error?.code == .notFound)
    #expect(error?.message.contains("does not allow") == true)
    #expect(!home.has(home.file(".config")) && !home.has(home.file(".local")))

    // One that exists is not used either.
    try home.secrets().set("word", for: "anna")
    #expect(errorCode { try home.secrets(.automatic(allowsKeyFile: false)) } == .notFound)

    let credentials = try TemporaryDirectory(inMemory: true)
    let key = credentials.file("stead-vault-key")
    try Data((0..<32).map { $0 }).write(to: key)
    try key.setMode(0o400)
    var unit = try Home()
    unit.environment["CREDENTIALS_DIRECTORY"] = credentials.url.filePath
    let secrets = try unit.secrets(.automatic(allowsKeyFile: false))
    try secrets.set("word", for: "anna")
    #expect(try unit.secrets().string(for: "anna") == "word")
    #expect(!unit.has(unit.keyFile))
  }

  @Test func `a move makes no key that is ruled out`() async throws {
    let secrets = try Secrets(service: Home.service, store: InMemorySecretStore())
    try secrets.set("word", for: "anna")
    let environment = home.environment
    let code = await errorCode {
      try await secrets.move(to: .automatic(allowsKeyFile: false), environment: environment)
    }
    #expect(code == .notFound)
    #expect(!home.has(home.keyFile) && !home.has(home.vault))
    #expect(try secrets.string(for: "anna") == "word")
  }

  @Test func `a move to a vault that has to exist makes none`() async throws {
    let secrets = try home.secrets()
    try secrets.set("word", for: "anna")
    let url = home.file("notes/a.vault")
    let code = await errorCode { try await secrets.move(to: .vault(at: url, opening: .open)) }
    #expect(code == .notInitialized)
    #expect(!home.has(url))
    #expect(try home.secrets().string(for: "anna") == "word")
  }

  // MARK: Vaults that the program names

  /// A path with a mistake in it made a new vault by a read, and told that there was no secret.
  @Test func `reading a named vault makes none`() throws {
    let url = home.file("notes/a.vault")
    let secrets = try home.secrets(.vault(at: url))
    #expect(try secrets.string(for: "anna") == nil)
    #expect(try secrets.items(matching: [:]).isEmpty && secrets.remove("anna") == false)
    #expect(try secrets.state() == .ready)
    #expect(secrets.storeDescription.kind == .vault)
    #expect(!home.has(home.file("notes")) && !home.has(home.keyFile))
    #expect(errorCode { try home.secrets(.vault(at: url, opening: .open)) } == .notInitialized)

    try secrets.set("word", for: "anna")
    #expect(try secrets.string(for: "anna") == "word")
    #expect(try home.secrets(.vault(at: url, opening: .open)).string(for: "anna") == "word")
    #expect(errorCode { try home.secrets(.vault(at: url, opening: .create)) } == .duplicateItem)
  }

  @Test func `readers of a named vault see it once it is made`() throws {
    let url = home.file("notes/a.vault")
    let reader = try home.secrets(.vault(at: url))
    #expect(try reader.string(for: "anna") == nil)
    try home.secrets(.vault(at: url)).set("word", for: "anna")
    #expect(try reader.string(for: "anna") == "word")
  }

  @Test func `a named vault that is gone is missed`() throws {
    let url = home.file("notes/a.vault")
    try home.secrets(.vault(at: url)).set("word", for: "anna")
    try FileManager.default.removeItem(at: url)
    #expect(errorCode { try home.secrets(.vault(at: url)) } == .notInitialized)
    // As the message says.
    _ = try home.secrets(.vault(at: url, opening: .create))
    #expect(try home.secrets(.vault(at: url)).string(for: "anna") == nil)
  }

  /// With the record the vault is known to be gone, and it was not without.
  @Test func `a vault that is gone with its record is missed`() throws {
    try home.secrets().set("word", for: "anna")
    try FileManager.default.removeItem(at: home.record)
    try FileManager.default.removeItem(at: home.vault)
    #expect(errorCode { try home.secrets() } == .notInitialized)
    _ = try home.secrets(.vault(opening: .create))
    let secrets = try home.secrets()
    #expect(try secrets.string(for: "anna") == nil)
    try secrets.set("new", for: "anna")
    #expect(home.has(home.record))
  }

  /// The address of a session that has ended, or of one that has still to begin.
  @Test(arguments: ["unix:path=/nowhere/bus", "not an address", "tcp:host=127.0.0.1,port=1"])
  func `an address that leads nowhere is no absence`(address: String) {
    var stale = home
    stale.environment["DBUS_SESSION_BUS_ADDRESS"] = address
    #expect(secretError { _ = try stale.secrets() }?.unavailability == .noBus)
    #expect(!home.has(home.vault) && !home.has(home.record) && !home.has(home.keyFile))
  }

  /// cron starts programs without the variables of the session that the same user may have.
  @Test func `a process that the session did not start knows of its bus`() throws {
    let users = try TemporaryDirectory()
    let directory = users.file("\(geteuid())")
    let home = ProcessInfo.processInfo.environment["HOME"]
    let environment = home.map { ["HOME": $0] } ?? [:]
    #expect(!BusAddress.isGiven(in: environment, users: users.url.filePath))
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    try Data().write(to: directory.file("bus"))
    #expect(BusAddress.isGiven(in: environment, users: users.url.filePath))
    // Whose home is another one is in no session of this user's.
    #expect(!BusAddress.isGiven(in: ["HOME": "/nowhere"], users: users.url.filePath))
  }

  @Test func `a home that is empty or not there is an error`() {
    for path in ["", "relative", home.file("not mounted").filePath] {
      var lost = home
      lost.environment["HOME"] = path
      let error = secretError { _ = try lost.secrets() }
      #expect(error?.code == .failed && error?.message.contains("HOME") == true, "\(path)")
    }
    #expect(!home.has(home.file("not mounted")))
  }

  @Test func `credentials without the vault's are an error`() throws {
    let credentials = try TemporaryDirectory(inMemory: true)
    var unit = home
    unit.environment["CREDENTIALS_DIRECTORY"] = credentials.url.filePath
    #expect(errorCode { try unit.secrets() } == .notFound)
    #expect(!home.has(home.keyFile))
    // A key file that is there is the key.
    try home.secrets().set("word", for: "anna")
    #expect(try unit.secrets().string(for: "anna") == "word")
  }

  /// Under `sudo` with the user's HOME, files of the superuser's would lock the user out.
  @Test(.needs(.superuser)) func `the superuser does not use another's home`() throws {
    #expect(chown(home.file("").filePath, 4_001, 4_001) == 0)
    let error = secretError { _ = try home.secrets() }
    #expect(error?.code == .accessDenied && error?.message.contains("sudo -H") == true)
    #expect(!home.has(home.file(".config")))
  }

  /// A vault that the program names would have been made there, too.
  @Test(.needs(.superuser))
  func `the superuser makes nothing of its own in another's home`() throws {
    #expect(chown(home.file("").filePath, 4_001, 4_001) == 0)
    let error = secretError { try home.secrets(.vault()).set("word", for: "anna") }
    #expect(error?.code == .accessDenied)
    #expect(error?.message.contains("Run it as that user") == true)
    let made = FileManager.default.enumerator(atPath: home.file("").filePath)
    while let path = made?.nextObject() as? String {
      var status = stat()
      #expect(lstat(home.file(path).filePath, &status) == 0 && status.st_uid == 4_001, "\(path)")
    }
  }

  // MARK: Processes that are stopped

  @Test func `a stuck writer of one service holds up no other`() throws {
    let secrets = try home.secrets()
    try secrets.set("word", for: "anna")
    let holder = try lock(home.file(".config/stead/secrets/\(Home.service).json.lock"))
    defer { unlockAndClose(holder) }
    try Secrets(service: "org.example.Mail", environment: home.environment).set("w", for: "a")
    let stuck = try Secrets(
      service: Home.service, environment: home.environment, timeout: .milliseconds(50))
    #expect(secretError { try stuck.set("new", for: "anna") }?.unavailability == .timedOut)
    #expect(try stuck.string(for: "anna") == "word")
  }

  @Test(.ownThread) func `a stuck writer of the vault is not waited for without limit`() throws {
    try home.secrets().set("word", for: "anna")
    let holder = try lock(home.file(".local/share/stead/secrets/\(Home.service).vault.lock"))
    defer { unlockAndClose(holder) }
    let start = ContinuousClock.now
    #expect(secretError { try home.secrets().set("new", for: "anna") }?.unavailability == .timedOut)
    #expect(ContinuousClock.now - start >= FileLock.writerLimit)
    #expect(try home.secrets().string(for: "anna") == "word")
  }

  @Test func `a stuck witness holds up no reader`() throws {
    let secrets = try home.secrets()
    try secrets.set("word", for: "anna")
    let vaults = home.file(".local/state/stead/vaults")
    let name = try #require(
      try FileManager.default.contentsOfDirectory(atPath: vaults.filePath).first)
    let holder = try lock(vaults.appending(path: name))
    defer { unlockAndClose(holder) }
    try secrets.set("new", for: "anna")
    #expect(try home.secrets().string(for: "anna") == "new")
  }

  private func lock(_ url: URL) throws -> Int32 {
    let descriptor = open(url.filePath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    return descriptor
  }

  /// A home directory that is not mounted must not look like one without secrets.
  @Test func `a vault that is gone is not made anew`() throws {
    let writer = try home.secrets()
    try writer.set("word", for: "anna")
    try FileManager.default.removeItem(at: home.vault)
    let error = #expect(throws: SecretError.self) { try home.secrets() }
    #expect(error?.code == .notInitialized)
    #expect(error?.message.contains(home.record.filePath) == true)
    #expect(errorCode { try writer.set("new", for: "anna") } == .notInitialized)
    #expect(errorCode { try writer.string(for: "anna") } == .notInitialized)
    #expect(!home.has(home.vault))
  }

  @Test func `a key that is gone is not made anew`() throws {
    try home.secrets().set("word", for: "anna")
    try FileManager.default.removeItem(at: home.keyFile)
    #expect(errorCode { try home.secrets() } == .notFound)
    #expect(!home.has(home.keyFile))
  }

  @Test func `a record that others could have written is refused`() throws {
    try home.secrets().set("word", for: "anna")
    try home.record.setMode(0o666)
    #expect(errorCode { try home.secrets() } == .accessDenied)
  }

  /// Who can write the directory can exchange the record, whatever its own mode is.
  @Test(arguments: [0o777, 0o770, 0o702])
  func `a directory of records that others could write is refused`(_ mode: Int) throws {
    let records = home.record.deletingLastPathComponent()
    try FileManager.default.createDirectory(at: records, withIntermediateDirectories: true)
    try records.setMode(mode)
    let error = secretError { try home.secrets().set("word", for: "anna") }
    #expect(error?.code == .accessDenied && error?.message.contains("chmod go-w") == true)
    #expect(!home.has(home.record))
    try records.setMode(0o700)
    try home.secrets().set("word", for: "anna")
    try records.setMode(mode)
    #expect(errorCode { try home.secrets() } == .accessDenied)
  }

  @Test func `a record that cannot be read is not taken for none`() throws {
    let secrets = try home.secrets()
    try secrets.set("word", for: "anna")
    try Data("?".utf8).write(to: home.record)
    #expect(errorCode { try home.secrets() } == .corrupt)
    #expect(errorCode { try secrets.string(for: "anna") } == .corrupt)
    #expect(errorCode { try secrets.set("new", for: "anna") } == .corrupt)
  }

  @Test func `a service of systemd has a key that no file holds`() throws {
    let credentials = try TemporaryDirectory(inMemory: true)
    let key = credentials.file("stead-vault-key")
    try Data((0..<32).map { $0 }).write(to: key)
    try key.setMode(0o400)
    var unit = home
    unit.environment["CREDENTIALS_DIRECTORY"] = credentials.url.filePath
    let secrets = try unit.secrets()
    try secrets.set("word", for: "anna")
    #expect(secrets.storeDescription.reason.contains("systemd credential"))
    #expect(!home.has(home.keyFile))
    #expect(try unit.secrets().string(for: "anna") == "word")
    // Outside of the unit nothing opens it, and it is left alone.
    let before = try Data(contentsOf: home.vault)
    #expect(errorCode { try home.secrets() } == .notFound)
    #expect(try Data(contentsOf: home.vault) == before)
  }

  @Test func `a vault from before the credential still opens`() throws {
    try home.secrets().set("word", for: "anna")
    let credentials = try TemporaryDirectory(inMemory: true)
    let key = credentials.file("stead-vault-key")
    try Data((0..<32).map { $0 }).write(to: key)
    try key.setMode(0o400)
    var unit = home
    unit.environment["CREDENTIALS_DIRECTORY"] = credentials.url.filePath
    #expect(try unit.secrets().string(for: "anna") == "word")
  }

  @Test func `a named place is used as it is`() throws {
    let store = InMemorySecretStore()
    let secrets = try home.secrets(.store(store))
    try secrets.set("word", for: "anna")
    #expect(secrets.storeDescription.kind == .inMemory)
    let vault = try home.secrets(.vault(at: home.file("private/notes.vault")))
    try vault.set("word", for: "anna")
    #expect(vault.storeDescription.location == home.file("private/notes.vault").filePath)
    #expect(!home.has(home.record) && !home.has(home.vault))
  }

  @Test func `names are checked`() {
    #expect(errorCode { try Secrets(service: "", environment: home.environment) } == .invalidName)
  }

  @Test func `writers of one service agree on its first record`() async throws {
    let home = home
    await withTaskGroup(of: SecretError.Code?.self) { group in
      for number in 0..<8 {
        group.addTask {
          errorCode { try home.secrets().insert("word \(number)", for: "account \(number)") }
        }
      }
      for await failure in group { #expect(failure == nil) }
    }
    #expect(try home.secrets().accounts() == (0..<8).map { "account \($0)" })
  }
}
