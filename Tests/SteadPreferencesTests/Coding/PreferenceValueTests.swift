import Foundation
import SteadPreferences
import Testing

/// What Swift's types are stored as, and what they are read from.
struct PreferenceValueTests {
  enum Theme: String { case system, dark }
  enum Level: Int, Codable, PreferenceValue { case low = 1, high = 2 }
  enum Side: String, CodingKeyRepresentable, PreferenceValue { case left, right }
  struct Days: OptionSet, PreferenceValue {
    var rawValue: Int
    static let monday = Days(rawValue: 1)
    static let friday = Days(rawValue: 16)
  }
  struct Point: Codable, Equatable, PreferenceValue { var x = 1, y = 2.5 }

  /// It has all three forms, and its own is none of the two others.
  enum Colour: String, Codable, PreferenceValue {
    case red, green

    init(propertyList: PropertyList) throws {
      self = try Bool(propertyList: propertyList) ? .red : .green
    }
    func propertyList() -> PropertyList? { .bool(self == .red) }
  }

  func isKept<Value: PreferenceValue & Equatable>(
    _ value: Value, as stored: PropertyList, at place: SourceLocation = #_sourceLocation
  ) throws {
    #expect(try value.propertyList() == stored, sourceLocation: place)
    #expect(try Value(propertyList: stored) == value, sourceLocation: place)
  }

  @Test func `keeps plain values`() throws {
    try isKept(true, as: .bool(true))
    try isKept("", as: .string(""))
    try isKept(1.5, as: .double(1.5))
    try isKept(Float(0.1), as: .float(0.1))
    try isKept(Data([0, 255]), as: .data(Data([0, 255])))
    let date = Date(timeIntervalSinceReferenceDate: 700_000_000.123)
    try isKept(date, as: .date(date))
    let id = try #require(UUID(uuidString: "6B9AFC3E-3C36-4D7B-AB0B-8C16E7A2BD66"))
    try isKept(id, as: .string("6B9AFC3E-3C36-4D7B-AB0B-8C16E7A2BD66"))
    let amount = try #require(Decimal(string: "0.1000000000000000000000001"))
    try isKept(amount, as: .string("0.1000000000000000000000001"))
    for text in ["-3", "0", "123000000000000000000000000000000", "-0.000000001"] {
      try isKept(try #require(Decimal(string: text)), as: .string(text))
    }
    #expect(try Decimal(propertyList: .string("+1.5e3")) == 1_500)
    #expect(try Decimal(propertyList: #require(Decimal.nan.propertyList())).isNaN)
    try isKept(PropertyList.array([.bool(true)]), as: .array([.bool(true)]))
  }

  /// Foundation reads the number that a text begins with.
  @Test(arguments: ["", "12 apples", "1,5", "0x10", " 1", "1e", "--1", ".", "1.2.3"])
  func `a decimal is a whole text`(text: String) {
    #expect(throws: PreferencesError.self) { try Decimal(propertyList: .string(text)) }
  }

  @Test func `keeps whole numbers of all sizes`() throws {
    try isKept(Int.min, as: .integer(.min))
    try isKept(Int8.min, as: .integer(-128))
    try isKept(Int16.max, as: .integer(32_767))
    try isKept(Int32.min, as: .integer(-2_147_483_648))
    try isKept(UInt8.max, as: .integer(255))
    try isKept(UInt16.max, as: .integer(65_535))
    try isKept(UInt32.max, as: .integer(4_294_967_295))
    try isKept(UInt64.max, as: .unsignedInteger(.max))
    try isKept(UInt(7), as: .integer(7))
  }

  @Test func `keeps collections`() throws {
    try isKept([1, 2], as: .array([.integer(1), .integer(2)]))
    try isKept(
      ["b": [1], "a": []], as: .dictionary(["a": .array([]), "b": .array([.integer(1)])]))
    try isKept([Side.left: true], as: .dictionary(["left": .bool(true)]))
    try isKept([7: "seven"], as: .dictionary(["7": .string("seven")]))
    try isKept(Set(["c", "a", "b"]), as: .array([.string("a"), .string("b"), .string("c")]))
    try isKept(Set([10, 9]), as: .array([.integer(9), .integer(10)]))
    try isKept(2..<5, as: .array([.integer(2), .integer(5)]))
    try isKept(0.5...1.5, as: .array([.double(0.5), .double(1.5)]))
    try isKept(Int?.some(3), as: .integer(3))
    #expect(try Int?.none.propertyList() == nil)
    #expect(try ["a": 1, "b": nil].propertyList() == .dictionary(["a": .integer(1)]))
  }

  @Test func `keeps raw values and trees`() throws {
    try isKept(Level.high, as: .integer(2))
    try isKept([Side.right], as: .array([.string("right")]))
    try isKept([Days.monday, .friday] as Days, as: .integer(17))
    try isKept(Point(), as: .dictionary(["x": .integer(1), "y": .double(2.5)]))
    try isKept([Point()], as: .array([.dictionary(["x": .integer(1), "y": .double(2.5)])]))
    try isKept(Colour.green, as: .bool(false))
  }

  @Test func `refuses nil inside of an array`() {
    #expect { try [1, nil].propertyList() } throws: {
      ($0 as? PreferencesError)?.code == .notAPropertyList
    }
  }

  @Test(
    arguments: [
      (.string("42"), 42), (.string("-1"), -1), (.bool(true), 1), (.double(3), 3), (.float(-2), -2),
      (.double(3.5), nil), (.string("4 2"), nil), (.string(""), nil), (.double(.nan), nil),
      (.unsignedInteger(.max), nil), (.date(.distantPast), nil), (.array([.integer(1)]), nil),
      (.data(Data([1])), nil), (.dictionary([:]), nil), (.double(1e300), nil),
    ] as [(PropertyList, Int?)])
  func `reads whole numbers`(stored: PropertyList, expected: Int?) {
    #expect((try? Int(propertyList: stored)) == expected)
  }

  @Test(
    arguments: [
      (.integer(0), false), (.integer(2), true), (.double(0), false), (.float(0.5), true),
      (.string("YES"), true), (.string("no"), false), (.string("True"), true),
      (.string("0"), false),
      (.string("maybe"), nil), (.string(""), nil), (.date(.distantPast), nil), (.array([]), nil),
    ] as [(PropertyList, Bool?)])
  func `reads booleans`(stored: PropertyList, expected: Bool?) {
    #expect((try? Bool(propertyList: stored)) == expected)
  }

  @Test(
    arguments: [
      (.integer(3), 3), (.float(0.5), 0.5), (.string("1e3"), 1_000), (.bool(true), 1),
      (.integer(9_007_199_254_740_993), nil), (.string("wide"), nil), (.data(Data()), nil),
    ] as [(PropertyList, Double?)])
  func `reads numbers`(stored: PropertyList, expected: Double?) {
    #expect((try? Double(propertyList: stored)) == expected)
  }

  @Test func `reads floats rounded`() throws {
    #expect(try Float(propertyList: .double(0.1)) == 0.1)
    #expect(try Float(propertyList: .double(.infinity)) == .infinity)
    #expect(throws: PreferencesError.self) { try Float(propertyList: .double(1e300)) }
  }

  @Test(
    arguments: [
      (.integer(7), "7"), (.double(2.5), "2.5"), (.bool(true), nil), (.data(Data()), nil),
      (.date(.distantPast), nil), (.array([]), nil),
    ] as [(PropertyList, String?)])
  func `reads texts`(stored: PropertyList, expected: String?) {
    #expect((try? String(propertyList: stored)) == expected)
  }

  @Test func `reads none of the wrong kind`() {
    let text = PropertyList.string("text")
    #expect(throws: PreferencesError.self) { try Date(propertyList: text) }
    #expect(throws: PreferencesError.self) { try Data(propertyList: text) }
    #expect(throws: PreferencesError.self) { try UUID(propertyList: text) }
    #expect(throws: PreferencesError.self) { try [Int](propertyList: .array([text])) }
    #expect(throws: PreferencesError.self) { try [String](propertyList: text) }
    #expect(throws: PreferencesError.self) { try [String: Int](propertyList: ["a": text].asValue) }
    #expect(throws: PreferencesError.self) { try [Int: String](propertyList: ["a": text].asValue) }
    #expect(throws: PreferencesError.self) { try Level(propertyList: .integer(3)) }
    #expect(throws: PreferencesError.self) {
      try Range<Int>(propertyList: .array([.integer(2), .integer(1)]))
    }
    #expect(throws: PreferencesError.self) { try ClosedRange<Int>(propertyList: .array([])) }
  }

  @Test(arguments: ["https://example.com/a?b=c#d", "file:///tmp/a%20b", "mailto:a@example.com"])
  func `keeps addresses as UserDefaults does`(text: String) throws {
    let url = try #require(URL(string: text))
    let preferences = Preferences.inMemory()
    let key = Preferences.Key<URL?>("address")
    preferences[key] = url
    #expect(preferences.url(forKey: "address")?.absoluteString == text)
    preferences.set(url, forKey: "address")
    #expect(preferences[key]?.absoluteString == text)
  }

  @Test func `reads addresses written by hand`() throws {
    #expect(try URL(propertyList: .string("https://a.example")).host() == "a.example")
    #expect(try URL(propertyList: .string("/tmp/x")).isFileURL)
    #expect(try URL(propertyList: .string("~/x")).path == NSHomeDirectory() + "/x")
  }

  /// A value must not get into a log by way of an error.
  @Test func `errors hold no values`() {
    #expect { try Int(propertyList: .string("hunter2")) } throws: {
      !String(describing: $0).contains("hunter2")
    }
    #expect { try Side(propertyList: .string("hunter2")) } throws: {
      !String(describing: $0).contains("hunter2")
    }
  }
}

extension [String: PropertyList] {
  var asValue: PropertyList { .dictionary(.init(map { .init($0.key, $0.value) })) }
}
