import Foundation
import SteadFormats
import Testing

/// The codes of the other errors printed as their names, as was promised for all; this one printed the
/// private value that it consists of, which is what a log or a metric then got.
struct PropertyListErrorTests {
  @Test(arguments: [
    (PropertyListError.Code.damaged, "damaged"), (.unsupported, "unsupported"),
    (.tooDeep, "tooDeep"), (.tooLarge, "tooLarge"), (.notADictionary, "notADictionary"),
    (.notAPropertyList, "notAPropertyList"),
  ])
  func aCodePrintsAsItsName(code: PropertyListError.Code, name: String) {
    #expect("\(code)" == name)
  }

  /// "A tag has no end." named neither what is damaged nor what to do about it.
  @Test(arguments: ["", "<plist><dict>", "<plist><string>hunter2", "<plist/>", "{ a = "])
  func aMessageNamesSubjectProblemAndRemedy(text: String) throws {
    let error = try #require(throws: PropertyListError.self) {
      try PropertyList.parse(Data(text.utf8))
    }
    #expect(error.code == .damaged)
    #expect(error.message.hasPrefix("The property list is damaged: "), "\(error)")
    #expect(error.message.hasSuffix(". Correct it, or use a good copy."), "\(error)")
    #expect(!error.message.contains("hunter2"))
  }
}
