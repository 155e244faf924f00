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
}
