import Foundation
import SteadFormats
import Testing

@testable import SteadPreferences

/// A value of 256 levels was accepted, and the property list with it had 257. So no compaction succeeded from then on,
/// and the journal grew.
struct NestingTests {
  @Test(
    arguments: [1, 2, 200, 254, 255, 256, 257, 300],
    [PropertyList.Format.binary, PropertyList.Format.xml])
  func `a value that is accepted can be published, however it is nested`(
    levels: Int, format: PropertyList.Format
  ) throws {
    for isArray in [true, false] {
      let directory = try TemporaryDirectory()
      var options = DomainStore.Options()
      options.format = format
      let store = try DomainStore("app", directory: directory.url, options: options)
      var value = PropertyList.string("innermost")
      for _ in 0..<levels { value = isArray ? .array([value]) : .dictionary(["k": value]) }
      do {
        try store.set(value, forKey: "deep")
        #expect(levels <= 255)
      } catch {
        #expect(levels > 255)
        let code = PreferencesError(error, domain: nil).code
        #expect(code == .notAPropertyList)
      }
      try store.set(.integer(1), forKey: "other")
      try store.checkpoint()
      let expected = levels <= 255 ? value : nil
      let other = try DomainStore("app", directory: directory.url, options: options)
      #expect(other.value(forKey: "deep") == expected)
      let data = try Data(contentsOf: directory.file("app.plist"))
      #expect(try PropertyList.fields(of: data)["deep"] == expected)
    }
  }
}
