import Foundation
import SteadFiles
import Testing

@testable import SteadPreferences

@Suite struct PreferencesErrorTests {
  @Test(arguments: [
    (PreferencesError.Code.invalidDomainName, "invalidDomainName"),
    (.notAPropertyList, "notAPropertyList"), (.quotaExceeded, "quotaExceeded"),
    (.readOnly, "readOnly"), (.noSpace, "noSpace"), (.unavailable, "unavailable"),
    (.damaged, "damaged"), (.failed, "failed"), (.doesNotDecode, "doesNotDecode"),
    (.tooManyKeptAside, "tooManyKeptAside"), (.tooLarge, "tooLarge"),
    (.newerVersion, "newerVersion"), (.invalidOptions, "invalidOptions"),
  ])
  func aCodePrintsAsItsName(_ code: PreferencesError.Code, _ name: String) {
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
