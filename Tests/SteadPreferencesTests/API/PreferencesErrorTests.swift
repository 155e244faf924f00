import SteadPreferences
import Testing

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
}
