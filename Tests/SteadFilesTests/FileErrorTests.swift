import SteadFiles
import Testing

@Suite struct FileErrorTests {
  @Test(arguments: [
    (FileError.Code.notFound, "notFound"), (.alreadyExists, "alreadyExists"),
    (.changed, "changed"), (.denied, "denied"), (.readOnly, "readOnly"), (.noSpace, "noSpace"),
    (.notAFile, "notAFile"), (.tooLarge, "tooLarge"), (.damaged, "damaged"),
    (.newerVersion, "newerVersion"), (.invalidName, "invalidName"), (.busy, "busy"),
    (.failed, "failed"),
  ])
  func `a code prints as its name`(_ code: FileError.Code, _ name: String) {
    #expect("\(code)" == name)
  }
}
