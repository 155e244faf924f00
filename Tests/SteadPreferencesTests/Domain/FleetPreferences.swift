import Foundation
import SteadPreferences

/// What the files in `EarlierFiles/` were written with. Never to change.
enum FleetPreferences {
  static let domain = "com.example.fleet"

  /// What was set first, and published except in `logged`.
  static let first: [(key: String, value: PropertyList)] = [
    ("yes", .bool(true)), ("no", .bool(false)), ("small", .integer(-7)),
    ("large", .integer(.min)), ("huge", .unsignedInteger(.max)), ("float", .float(0.1)),
    ("double", .double(-0.0)), ("date", .date(Date(timeIntervalSinceReferenceDate: 86_400.25))),
    ("data", .data(Data([0, 127, 255]))), ("text", .string("é e\u{301} 🚢 <&>")),
    ("empty", .string("")), ("Ключ", .integer(1)),
    ("list", .array([.integer(1), .string("two"), .array([]), .dictionary([:])])),
    ("table", .dictionary(["b": .bool(true), "a": .dictionary(["deep": .double(0.5)])])),
    ("changed", .integer(1)), ("removed", .integer(1)),
    ("long", .data(Data(repeating: 7, count: 3_000))),
  ]

  /// What was set and removed afterwards.
  static let then: [(key: String, value: PropertyList?)] = [
    ("changed", .string("later")), ("removed", nil), ("added", .array([.bool(false)])),
  ]

  /// The values in the end.
  static var values: [String: PropertyList] {
    var values = Dictionary(uniqueKeysWithValues: first.map { ($0.key, $0.value) })
    for (key, value) in then { values[key] = value }
    return values
  }
}
