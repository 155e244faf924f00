import Foundation
import SteadFiles
import Synchronization
import Testing
@testable import SteadPreferences

struct ErrorsTests {
  private struct Unsuitable {}

  @Test func `what is no property list is refused`() {
    let preferences = Preferences.inMemory()
    let errors = ReportedErrors()
    preferences.onError = errors.handler
    preferences.set("old", forKey: "k")
    preferences.set(Unsuitable(), forKey: "k")
    preferences.set([1: "a"], forKey: "k")
    preferences.setValue(["a": [Unsuitable()]], forKey: "k")
    #expect(errors.codes == Array(repeating: .notAPropertyList, count: 3))
    #expect(preferences.lastError?.key == "k")
    #expect(preferences.string(forKey: "k") == "old")
  }

  @Test func `no text of an error holds a value`() throws {
    let preferences = Preferences.inMemory(options: .init(quota: 10))
    preferences.onError = { _ in }
    let secret = "8 secret 8"
    preferences.set([secret: Unsuitable()], forKey: "key")
    #expect(try !"\(#require(preferences.lastError))".contains(secret))
    preferences.set(secret + secret, forKey: "key")
    let error = try #require(preferences.lastError)
    #expect(error.code == .quotaExceeded)
    #expect(!"\(error)".contains(secret))
    #expect("\(error)".contains("key"))
  }

  /// A code was printed as the type that is its storage.
  @Test func `a code prints as its name`() {
    #expect("\(PreferencesError.Code.quotaExceeded)" == "quotaExceeded")
    #expect("\(PreferencesError.Code.doesNotDecode)" == "doesNotDecode")
    #expect(PreferencesError.Code.failed != .damaged)
  }

  @Test func `the description ends with the cause's sentence`() {
    let full = FileError(code: .noSpace, message: "The disk is full.", path: "/a")
    let error = PreferencesError(
      code: .failed, message: "The value was not set.", domain: "notes", key: "k", cause: full)
    #expect(
      error.localizedDescription
        == "The value was not set. (domain notes, key k) The disk is full.")
    #expect("\(error)" == "The value was not set. (domain notes, key k)")
    // A message that has the sentence already is not followed by it once more.
    let same = PreferencesError(code: .noSpace, message: full.message, cause: full)
    #expect(same.localizedDescription == "The disk is full.")
  }

  @Test func `a cause that may quote a value is not quoted`() throws {
    let key = Preferences.Key<[Int]?>("numbers")
    let preferences = Preferences.inMemory()
    preferences.set(Data("[\"secret\"]".utf8), forKey: "numbers")
    let error = #expect(throws: PreferencesError.self) { try preferences.value(for: key) }
    #expect(error?.localizedDescription.contains("secret") == false)
    let margins = Preferences.Key<Margins?>("margins")
    preferences.set(["left": "secret", "right": 1], forKey: "margins")
    let decoding = #expect(throws: PreferencesError.self) { try preferences.value(for: margins) }
    #expect(decoding?.cause is DecodingError)
    #expect(decoding?.localizedDescription.hasSuffix(" A value isn't of the type Double.") == true)
    struct Leak: LocalizedError { var errorDescription: String? { "secret" } }
    let other = PreferencesError(code: .failed, message: "It failed.", cause: Leak())
    #expect(other.localizedDescription == "It failed.")
  }

  @Test func `read-only preferences refuse every write`() throws {
    let home = try TestHome()
    let file = home.config.appending(path: "com.example.app/com.example.app.plist")
    try home.write(["k": .string("old")], to: file)
    let before = try Data(contentsOf: file)
    let app = try Preferences(
      options: .init(isReadOnly: true), environment: home.environment())
    let errors = ReportedErrors()
    app.onError = errors.handler
    app.set(1, forKey: "k")
    app.removeObject(forKey: "k")
    app.set(URL(string: "https://example.com"), forKey: "k")
    app.setPersistentDomain([:], forName: "com.example.app")
    #expect(throws: PreferencesError.self) { try app.removeAll() }
    #expect(throws: PreferencesError.self) { try app.importDomain(before) }
    #expect(errors.codes == Array(repeating: .readOnly, count: 4))
    #expect(app.string(forKey: "k") == "old")
    #expect(app.synchronize())
    #expect(try Data(contentsOf: file) == before)
  }

  @Test func `the quota is kept`() throws {
    let preferences = Preferences.inMemory(options: .init(quota: 1_000))
    let notices = ForkSafeLock(0)
    let observer = NotificationCenter.default.addObserver(
      forName: Preferences.sizeLimitExceededNotification, object: preferences, queue: nil
    ) { _ in notices.withLock { $0 += 1 } }
    defer { NotificationCenter.default.removeObserver(observer) }
    preferences.onError = { _ in }
    preferences.set("small", forKey: "k")
    preferences.set(Data(count: 2_000), forKey: "k")
    #expect(preferences.lastError?.code == .quotaExceeded)
    #expect(notices.withLock { $0 } == 1)
    #expect(preferences.string(forKey: "k") == "small")
    #expect { try preferences.setPropertyList(.data(Data(count: 2_000)), forKey: "k") } throws: {
      ($0 as? PreferencesError)?.code == .quotaExceeded
    }
    preferences.set("small again", forKey: "k")
    #expect(preferences.string(forKey: "k") == "small again")
  }

  /// A home that cannot be written: the program goes on, and what it set is written when it can be.
  @Test func `a domain that cannot be opened is kept in memory`() throws {
    let home = try TestHome()
    // A file where a directory belongs stops root, too.
    try home.write(Data(), to: home.config)
    let environment = home.environment()
    #expect { try Preferences(environment: environment) } throws: {
      ($0 as? PreferencesError)?.code == .unavailable
    }
    let errors = ReportedErrors()
    let app = try #require(Preferences(suiteName: nil, environment: environment))
    app.onError = errors.handler
    #expect(app.lastError?.code == .unavailable)
    app.set(1, forKey: "k")
    #expect(errors.codes == [.unavailable])
    #expect(app.integer(forKey: "k") == 1)
    #expect(throws: PreferencesError.self) { try app.flush() }
    #expect(!app.synchronize())
    try home.removeFile(home.config)
    #expect(app.synchronize())
    #expect(app.integer(forKey: "k") == 1)
    app.set(2, forKey: "l")
    let again = try Preferences(environment: environment)
    #expect(again.integer(forKey: "k") == 1)
    #expect(again.integer(forKey: "l") == 2)
  }

  @Test func `a handler may use the preferences`() {
    let preferences = Preferences.inMemory()
    preferences.onError = { [weak preferences] error in
      preferences?.set("failed: \(error.key ?? "")", forKey: "log")
    }
    preferences.set(Unsuitable(), forKey: "k")
    #expect(preferences.string(forKey: "log") == "failed: k")
  }
}

@Suite struct PreferencesErrorTests {
  @Test(arguments: [
    (PreferencesError.Code.invalidDomainName, "invalidDomainName"),
    (.notAPropertyList, "notAPropertyList"), (.quotaExceeded, "quotaExceeded"),
    (.readOnly, "readOnly"), (.noSpace, "noSpace"), (.unavailable, "unavailable"),
    (.damaged, "damaged"), (.failed, "failed"), (.doesNotDecode, "doesNotDecode"),
    (.tooManyKeptAside, "tooManyKeptAside"), (.tooLarge, "tooLarge"),
    (.newerVersion, "newerVersion"), (.invalidOptions, "invalidOptions"),
  ])
  func `a code prints as its name`(_ code: PreferencesError.Code, _ name: String) {
    #expect("\(code)" == name)
  }

  /// It was printed with an address of the process.
  @Test(arguments: [
    (UndecodablePayload.Reason.doesNotDecode, "doesNotDecode"), (.upgradeFailed, "upgradeFailed"),
    (.newerVersion, "newerVersion"), (.unreadable, "unreadable"), (.notAnEntry, "notAnEntry"),
  ])
  func `a reason prints as its name`(_ reason: UndecodablePayload.Reason, _ name: String) {
    #expect("\(reason)" == name)
  }

  /// The advice was to make a file writable that was, or there was none.
  @Test(arguments: [
    (EMFILE, "ulimit -n"), (ENFILE, "fs.file-max"), (ENOSPC, "The disk is full"),
    (EACCES, "Make"), (EROFS, "Make"),
  ])
  func `an error says what helps against it`(_ number: Int32, _ remedy: String) {
    let cause = FileError(errno: number, doing: "open the journal", path: "/nowhere/a.journal")
    for isKept in [false, true] {
      let error = PreferencesError(notOpened: cause, domain: "a", nil, isKept: isKept)
      #expect(error.message.contains(remedy), "\(error.message)")
    }
  }

  /// It asked for a directory that can be written, as this one can.
  @Test func `an error names where a link leads that nothing can be made at`() throws {
    let directory = try TemporaryDirectory()
    try FileManager.default.createSymbolicLink(
      atPath: directory.file("app.journal").filePath, withDestinationPath: "/dev/null/x")
    let error = try #require(throws: PreferencesError.self) {
      try Preferences(domain: "app", directory: directory.url)
    }
    #expect(error.message.contains("or the link that leads to /dev/null/x"), "\(error.message)")
  }

  /// It named a variable that moves no directory which the program names, and asked for a directory that can be written
  /// where the preferences are only read.
  @Test(.exitTests, .needs(.superuser), arguments: [false, true], [false, true])
  func `an error tells what helps for the directory and the options`(
    isNamed: Bool, isReadOnly: Bool
  ) async throws {
    let directory = try TemporaryDirectory()
    let closed = directory.file("closed")
    for path in ["closed", "closed/app"] {
      try FileManager.default.createDirectory(
        at: directory.file(path), withIntermediateDirectories: false)
    }
    try Data().write(to: closed.file("app/app.plist"))
    for file in [closed.file("app"), closed] { try file.setMode(0o700) }
    try directory.url.setMode(0o755)
    await #expect(processExitsWith: .success) {
      [
        closed = closed.filePath as String, isNamed = isNamed as Bool,
        isReadOnly = isReadOnly as Bool
      ] in
      #expect(setgid(65_534) == 0 && setuid(65_534) == 0)
      let environment = Preferences.Environment(
        variables: ["HOME": "/", "XDG_CONFIG_HOME": closed], host: "h")
      let error = #expect(throws: PreferencesError.self) {
        try Preferences(
          domain: "app", directory: isNamed ? URL(filePath: closed + "/app") : nil,
          options: .init(isReadOnly: isReadOnly), environment: environment)
      }
      let message = try #require(error).message
      let variable = isNamed ? "." : ", or set XDG_CONFIG_HOME to one that is."
      let able = isReadOnly ? "readable" : "writable"
      #expect(message.contains("Make the directory \(able)\(variable)"), "\(message)")
    }
  }
}

// `Stead` comes with the import of SteadPreferences.
struct ProblemTests {
  /// The first error of each kind alone is passed on, and other tests may have met it already. So the
  /// test runs in a process of its own.
  @Test(.exitTests) func `errors without a handler reach the whole package's handler`() async {
    await #expect(processExitsWith: .success) {
      let received = Mutex<[Stead.Problem]>([])
      Stead.onProblem = { problem in received.withLock { $0.append(problem) } }
      let preferences = Preferences.inMemory(options: .init(quota: 10))
      let value = "a value longer than the quota"
      preferences.set(value, forKey: "key")
      preferences.set(value, forKey: "key")
      let problems = received.withLock { $0 }
      #expect(problems.map(\.code) == [.preferencesFailed])
      #expect(problems.map(\.product) == [.preferences])
      #expect(problems.first?.subject.contains("key") == true)
      #expect((problems.first?.cause as? PreferencesError)?.code == .quotaExceeded)
      #expect(problems.allSatisfy { !"\($0)".contains(value) })
    }
  }
}
