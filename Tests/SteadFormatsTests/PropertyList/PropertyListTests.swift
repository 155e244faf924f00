import Foundation
import Testing

@testable import SteadFormats

struct PropertyListAnyTests {
  private func propertyList(_ value: Any) -> PropertyList? { try? PropertyList(validating: value) }

  @Test func `scalars keep their kind`() {
    let cases: [(Any, PropertyList)] = [
      (true, .bool(true)), (false, .bool(false)), (1, .integer(1)), (Int8(-1), .integer(-1)),
      (Int16(2), .integer(2)), (Int32(3), .integer(3)), (Int64.min, .integer(.min)),
      (UInt8(4), .integer(4)), (UInt16(5), .integer(5)), (UInt32(6), .integer(6)),
      (UInt(7), .integer(7)), (UInt64(8), .integer(8)), (UInt64.max, .unsignedInteger(.max)),
      (UInt.max, .unsignedInteger(.max)), (Float(0.1), .float(0.1)), (2.0, .double(2)),
      (CGFloat(0.5), .double(0.5)), (Decimal(1.5), .double(1.5)), ("text", .string("text")),
      ("text".dropFirst(), .string("ext")), (Data([1]), .data(Data([1]))),
      (Date(timeIntervalSinceReferenceDate: 0.1), .date(Date(timeIntervalSinceReferenceDate: 0.1))),
      (PropertyList.integer(3), .integer(3)), (AnyHashable("text"), .string("text")),
    ]
    for (value, list) in cases { #expect(propertyList(value) == list) }
  }

  @Test func `numbers of Foundation keep their kind`() {
    let cases: [(NSNumber, PropertyList)] = [
      (NSNumber(value: true), .bool(true)), (NSNumber(value: false), .bool(false)),
      (true, .bool(true)), (1, .integer(1)), (NSNumber(value: Int8(1)), .integer(1)),
      (NSNumber(value: UInt8(1)), .integer(1)), (NSNumber(value: Int64.min), .integer(.min)),
      (NSNumber(value: UInt64.max), .unsignedInteger(.max)),
      (NSNumber(value: UInt64(1)), .integer(1)),
      (NSNumber(value: Float(0.1)), .float(0.1)), (NSNumber(value: 2.0), .double(2)),
      (NSDecimalNumber(string: "1.5"), .double(1.5)),
    ]
    for (value, list) in cases { #expect(propertyList(value) == list) }
  }

  @Test func `objects of Foundation are taken`() {
    let date = Date(timeIntervalSinceReferenceDate: 0.1)
    let dictionary = NSMutableDictionary(dictionary: ["a": NSArray(array: [1, true, 0.5])])
    dictionary["n"] = NSNull()
    #expect(propertyList(NSMutableString("text")) == .string("text"))
    #expect(propertyList(NSData(data: Data([1]))) == .data(Data([1])))
    #expect(propertyList(date as NSDate) == .date(date))
    #expect(propertyList(dictionary) == nil)
    dictionary["n"] = nil
    #expect(
      propertyList(dictionary)
        == .dictionary(["a": .array([.integer(1), .bool(true), .double(0.5)])]))
  }

  @Test func `optionals are unwrapped wherever they are`() {
    let nested: Int?? = 3
    #expect(propertyList(nested as Any) == .integer(3))
    #expect(
      propertyList([nested as Any, Optional("x") as Any]) == .array([.integer(3), .string("x")]))
    #expect(propertyList(["k": [true] as [Bool?]]) == .dictionary(["k": .array([.bool(true)])]))
    #expect(propertyList([1, nil] as [Int?]) == nil)
    #expect(propertyList(Int??.some(nil) as Any) == nil)
  }

  @Test func `collections of one type are taken`() {
    #expect(propertyList([1, 2] as [UInt8]) == .array([.integer(1), .integer(2)]))
    #expect(propertyList(["a": [0.5]]) == .dictionary(["a": .array([.double(0.5)])]))
    #expect(propertyList(["a" as AnyHashable: 1 as Any]) == .dictionary(["a": .integer(1)]))
    #expect(propertyList([Substring("a"): 1]) == .dictionary(["a": .integer(1)]))
  }

  @Test func `an error names the type and no value`() {
    struct Secret { var word = "hunter2" }
    let cases: [(Any, String)] = [
      (Secret(), "Secret"), (["key": [Secret()]], "Secret"), (URL(filePath: "/hunter2"), "URL"),
      (NSNull(), "NSNull"), ([7: "hunter2"], "Int"),
      (NSDictionary(object: "hunter2", forKey: 7 as NSNumber), "key"),
      (Set(["hunter2"]), "Set<String>"), (Optional<Int>.none as Any, "Optional<Int>"),
    ]
    for (value, name) in cases {
      let error = #expect(throws: PropertyListError.self) { try PropertyList(validating: value) }
      #expect(error?.code == .notAPropertyList)
      #expect(error?.message.contains(name) == true)
      #expect(error?.description.contains("hunter2") == false)
    }
  }

  @Test func `nesting has a limit`() throws {
    var value: Any = 1
    for _ in 0..<PropertyList.maximumDepth { value = [value] }
    #expect(propertyList(value) != nil)
    let tooDeep = #expect(throws: PropertyListError.self) { try PropertyList(validating: [value]) }
    #expect(tooDeep?.code == .tooDeep)
    #expect(propertyList(["key": value]) == nil)
  }

  /// The table in the documentation of `anyValue`.
  @Test func `numbers are cast as on Apple`() {
    func casts(_ list: PropertyList) -> [Bool] {
      let value = list.anyValue
      return [
        value is Int, value is Int32, value is UInt8, value is UInt64, value is Double,
        value is Float,
        value is Bool,
      ]
    }
    #expect(casts(.integer(1)) == [true, true, true, true, true, true, true])
    #expect(casts(.integer(300)) == [true, true, false, true, true, true, false])
    #expect(casts(.integer(-1)) == [true, true, false, false, true, true, false])
    #expect(casts(.unsignedInteger(.max)) == [false, false, false, true, false, false, false])
    #expect(casts(.double(2)) == [true, true, true, true, true, true, false])
    #expect(casts(.double(0.5)) == [false, false, false, false, true, true, false])
    #expect(casts(.bool(true)) == [true, true, true, true, true, true, true])
  }

  @Test func `collections are cast as on Apple`() {
    let array = PropertyList.array([.integer(1), .integer(2)]).anyValue
    #expect(array as? [Int] == [1, 2])
    #expect(array as? [Double] == [1, 2])
    #expect(array as? [NSNumber] == [1, 2])
    #expect(array as? [String] == nil)
    #expect((array as? NSArray)?.count == 2)
    let dictionary = PropertyList.dictionary(["a": .integer(1), "b": .double(2)]).anyValue
    #expect(dictionary as? [String: Int] == ["a": 1, "b": 2])
    #expect(dictionary as? [String: Double] == ["a": 1, "b": 2])
    #expect((dictionary as? NSDictionary)?["a"] as? Int == 1)
    #expect(PropertyList.array([.string("a")]).anyValue as? [String] == ["a"])
    #expect(PropertyList.array([.bool(true)]).anyValue as? [Bool] == [true])
  }

  @Test(arguments: 0..<20)
  func `what any value gives is taken back`(seed: UInt64) {
    var generator = PropertyListGenerator(seed: seed)
    for _ in 0..<25 {
      let value = generator.value()
      // A Swift dictionary, and an NSNumber of an infinite Float, cannot say all that a list can.
      if case .dictionary = value { continue }
      if case .array = value { continue }
      if case .float(let number) = value, number.isInfinite { continue }
      #expect(propertyList(value.anyValue) == value)
    }
    let list: PropertyList = .dictionary([
      "a": .array([.bool(false), .float(0.1), .date(.distantPast)])
    ])
    #expect(propertyList(list.anyValue) == list)
  }
}

struct PropertyListFieldsTests {
  /// Beside an array that is sorted the slow way.
  @Test(arguments: ["", "settings.", "a key with a long beginning "], [3, 40, 300])
  func `keys are in the order of their bytes`(beginning: String, count: Int) {
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

  @Test func `keys are set, replaced and removed`() {
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

  @Test func `spellings and kinds are told apart`() {
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

/// The codes of the other errors printed as their names, as was promised for all; this one printed the
/// private value that it consists of, which is what a log or a metric then got.
struct PropertyListErrorTests {
  @Test(arguments: [
    (PropertyListError.Code.damaged, "damaged"), (.unsupported, "unsupported"),
    (.tooDeep, "tooDeep"), (.tooLarge, "tooLarge"), (.notADictionary, "notADictionary"),
    (.notAPropertyList, "notAPropertyList"),
  ])
  func `a code prints as its name`(code: PropertyListError.Code, name: String) {
    #expect("\(code)" == name)
  }

  /// "A tag has no end." named neither what is damaged nor what to do about it.
  @Test(arguments: ["", "<plist><dict>", "<plist><string>hunter2", "<plist/>", "{ a = "])
  func `a message names subject problem and remedy`(text: String) throws {
    let error = try #require(throws: PropertyListError.self) {
      try PropertyList.parse(Data(text.utf8))
    }
    #expect(error.code == .damaged)
    #expect(error.message.hasPrefix("The property list is damaged: "), "\(error)")
    #expect(error.message.hasSuffix(". Correct it, or use a good copy."), "\(error)")
    #expect(!error.message.contains("hunter2"))
  }
}
