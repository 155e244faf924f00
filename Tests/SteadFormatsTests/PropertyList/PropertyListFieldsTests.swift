import Foundation
import Testing

@testable import SteadFormats

struct PropertyListFieldsTests {
  /// Beside an array that is sorted the slow way.
  @Test(arguments: ["", "settings.", "a key with a long beginning "], [3, 40, 300])
  func keysAreInTheOrderOfTheirBytes(beginning: String, count: Int) {
    var generator = PropertyListGenerator(seed: UInt64(count))
    for _ in 0..<20 {
      let given = (0..<count).map { index in
        let ending = index.isMultiple(of: 3) ? generator.text() : "\(index % 50)\u{0}"
        return PropertyList.Fields.Field(beginning + ending, .integer(Int64(index)))
      }
      var expected: [[UInt8]: PropertyList] = [:]
      for field in given { expected[Array(field.key.utf8)] = field.value }
      let keys = expected.keys.sorted { $0.lexicographicallyPrecedes($1) }
      let fields = PropertyList.Fields(given)
      #expect(fields.map { Array($0.key.utf8) } == keys)
      #expect(fields.map(\.value) == keys.map { expected[$0] })
      for key in keys { #expect(fields[String(decoding: key, as: UTF8.self)] == expected[key]) }
    }
  }

  @Test func keysAreSetReplacedAndRemoved() {
    var fields: PropertyList.Fields = ["b": .integer(1), "a": .integer(2)]
    fields["c"] = .integer(3)
    fields["a"] = .bool(true)
    fields["b"] = nil
    fields["missing"] = nil
    #expect(fields == ["a": .bool(true), "c": .integer(3)])
    fields["e\u{301}"] = .integer(4)
    #expect(fields["\u{E9}"] == nil)
    #expect(fields.count == 3)
  }

  @Test func spellingsAndKindsAreToldApart() {
    #expect(
      PropertyList.Fields(["\u{E9}": .bool(true)] as PropertyList.Fields) != [
        "e\u{301}": .bool(true)
      ])
    #expect(PropertyList.string("\u{E9}") != .string("e\u{301}"))
    #expect(PropertyList.double(0) != .double(-0.0))
    #expect(PropertyList.double(.nan) == .double(.nan))
    #expect(
      Set<PropertyList>([.string("\u{E9}"), .string("e\u{301}"), .string("\u{E9}")]).count == 2)
    #expect(PropertyList.integer(1) != .bool(true))
    #expect(PropertyList.integer(1) != .double(1))
    #expect(PropertyList.float(1) != .double(1))
  }
}
