private let flaw = RuleID(id: "P05", name: "rawrepresentable-collection", level: .warning)

extension Rule {
  static let rawRepresentableCollection = Rule(
    flaw,
    summary:
      "An array, a set, a dictionary or a date is made `RawRepresentable` so that `@AppStorage` accepts it.",
    why: """
      If the stored string doesn't decode, `init?(rawValue:)` returns nil and `@AppStorage` shows the default value. \
      The next change overwrites what was stored with a value based on the default. The conformance also applies to \
      the whole program, and clashes with another module's.
      """,
    bad: """
      extension Array: @retroactive RawRepresentable where Element: Codable {
        public init?(rawValue: String) {
          guard let items = try? JSONDecoder().decode([Element].self, from: Data(rawValue.utf8)) else { return nil }
          self = items
        }
        public var rawValue: String { (try? String(decoding: JSONEncoder().encode(self), as: UTF8.self)) ?? "[]" }
      }
      """,
    good: """
      extension Preferences.Keys {
        var items: Preferences.Key<[Item]> { .init("items", default: []) }
      }
      """,
    avoids: [
      "The program's own types.",
      "Other conformances of collections.",
      "Initializers that accept any string, and skip elements that they don't know.",
    ],
    inProject: { index in
      index.files.flatMap(\.types).compactMap { type in
        guard type.kind == .extension, type.inherited.contains("RawRepresentable"),
          !type.takesAnyRawValue
        else {
          return nil
        }
        let extended = type.name.prefix { $0 != "<" }.trimmed
        let base = type.name.hasPrefix("[") ? "Array" : String(extended)
        guard ["Array", "Set", "Dictionary", "Date", "Optional"].contains(base.lastComponent) else {
          return nil
        }
        return Finding(
          flaw,
          "If this `\(base)` doesn't decode, it becomes the default, which then overwrites it; use a key with a Codable value.",
          at: type.place)
      }
    })
}
