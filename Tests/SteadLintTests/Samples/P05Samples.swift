extension RuleSamples {
  static let p05 = RuleSamples(
    rule: "P05",
    flagged: [
      "extension Array: RawRepresentable where Element: Codable {} // !",
      "extension Array: @retroactive RawRepresentable where Element: Codable {} // !",
      "extension Set: RawRepresentable where Element: Codable {} // !",
      "extension Date: RawRepresentable { public var rawValue: String { \"\" } } // !",
      "extension Dictionary: RawRepresentable where Key == String, Value == String {} // !",
      "extension Foundation.Date: @retroactive RawRepresentable {} // !",
      "extension [String]: @retroactive RawRepresentable {} // !",
      """
      extension Array: RawRepresentable where Element: RawRepresentable<Int> { // !
        init?(rawValue: String) {
          guard let numbers = Self(rawValue) else { return nil }
          self = numbers
        }
      }
      """,
    ],
    silent: [
      "extension Tag: RawRepresentable {}",
      "struct Keys: RawRepresentable { var rawValue: String }",
      "extension Array: Identifiable where Element: Hashable {}",
      "enum Theme: String { case dark }",
      "extension Date { var rawValue: String { \"\" } }",
      "extension ArraySlice: RawRepresentable {}",
      "struct Tags: OptionSet { let rawValue: Int }",
      """
      extension Array: RawRepresentable where Element: RawRepresentable<String> {
        init?(rawValue: String) { self = rawValue.split(separator: ",").compactMap { Element(rawValue: String($0)) } }
        var rawValue: String { map(\\.rawValue).joined(separator: ",") }
      }
      """,
    ])
}
