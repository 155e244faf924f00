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
}
