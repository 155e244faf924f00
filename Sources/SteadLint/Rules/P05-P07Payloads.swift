// MARK: - P05 rawrepresentable-collection

private let p05 = RuleID(id: "P05", name: "rawrepresentable-collection", level: .warning)

extension Rule {
  /// Extensions that make a standard collection or a date `RawRepresentable`.
  ///
  /// Only types of other modules: how a type of the program's own is stored is the program's
  /// choice.
  static let rawRepresentableCollection = Rule(
    p05,
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
        // `Array<Item>`, `Swift.Array` and `[Item]` are all arrays.
        let extended = type.name.prefix { $0 != "<" }.trimmed
        let base = type.name.hasPrefix("[") ? "Array" : String(extended)
        guard ["Array", "Set", "Dictionary", "Date", "Optional"].contains(base.lastComponent) else {
          return nil
        }
        return Finding(
          p05,
          "If this `\(base)` doesn't decode, it becomes the default, which then overwrites it; use a key with a Codable value.",
          at: type.place)
      }
    })
}

// MARK: - P06 payload-growth

private let p06 = RuleID(id: "P06", name: "payload-growth", level: .error)

extension Rule {
  /// Required fields of stored types that an earlier version lacked.
  ///
  /// The earlier version comes from a baseline, or from a run on a git revision. The comparison is
  /// in ``Payloads``.
  static let payloadGrowth = Rule(
    p06,
    summary:
      "A stored Codable type has a required field that it lacked when the baseline was written.",
    why: """
      What users have stored was encoded without the field, so decoding it throws `keyNotFound`. A default value \
      doesn't help: the `init(from:)` that Swift synthesizes requires every field that isn't optional. The app then \
      shows nothing, or starts over and overwrites what was stored.
      """,
    bad: """
      struct Entry: Codable {
        var text: String
        var isPinned = false  // since version 2
      }
      """,
    good: """
      struct Entry: Codable {
        var text: String
        var isPinned: Bool?
      }
      """,
    avoids: [
      "Optional fields, and constants with a value, which aren't decoded.",
      "Types with their own `init(from:)`.",
      "Types that only go into a request or a keychain, and types that are newer than the baseline.",
      "Runs without a baseline or `--since`: nothing then shows what earlier versions stored.",
    ],
    inProject: { index in
      Payloads(index).additions(since: index.earlierPayloads).map { type, field in
        Finding(
          p06,
          "Stored values of `\(type)` lack `\(field.name)` and don't decode; make it optional, or write "
            + "an `init(from:)` with `decodeIfPresent`.",
          at: field.place)
      }
    })
}

// MARK: - P07 date-strategy-mismatch

private let p07 = RuleID(id: "P07", name: "date-strategy-mismatch", level: .error)

extension Rule {
  /// Encodings whose strategy for dates differs from that of a decoding of the same bytes.
  ///
  /// The finding is at the encoding, and its message names the decoding: a person has to choose
  /// which one to change.
  static let dateStrategyMismatch = Rule(
    p07,
    summary: "A value is encoded and decoded with different strategies for dates.",
    why: """
      A `JSONEncoder` writes a date as a number of seconds unless it has another strategy. A decoder that expects an \
      ISO 8601 string fails. One that expects another kind of number reads another date.
      """,
    bad: """
      func save() throws {
        defaults.set(try JSONEncoder().encode(entries), forKey: "entries")
      }

      func load() throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        entries = try decoder.decode([Entry].self, from: defaults.data(forKey: "entries")!)
      }
      """,
    good: """
      func save() throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        defaults.set(try encoder.encode(entries), forKey: "entries")
      }
      """,
    avoids: [
      "Coders from elsewhere, whose strategy the file doesn't show.",
      "The program's own strategies, which can't be compared.",
      "Types that have no date, as far as their source shows.",
      "Files that are parameters of functions, since each call may pass another one.",
      "Decoding another type than the encoded one, and decoding several types if the encoded one isn't known.",
    ],
    inProject: { index in
      // Grouped once, or each encoding would look through all decodings of the project.
      let decoders = Dictionary(grouping: index.codings.filter(\.isDecoding)) {
        identity(of: $0, in: index)
      }
      return index.codings.compactMap { use in
        guard !use.isDecoding, let identity = identity(of: use, in: index),
          let own = comparable(use.dateStrategy),
          let other = counterparts(of: use, among: decoders[identity] ?? [], in: index)
            .first(where: { comparable($0.dateStrategy).map { $0 != own } ?? false }),
          mayHaveDate(other.type ?? "", in: index, depth: 0)
        else { return nil }
        return Finding(
          p07,
          "Dates are encoded as `\(own)`, and decoded as `\(other.dateStrategy ?? "")` on line \(other.place.line) of "
            + "\(other.place.path); use one strategy.",
          at: use.place)
      }
    })
}

/// The decodings that read an encoded value: those of its type, or all of them if its type isn't known and
/// they share one.
///
/// One key may have different types at different times, such as one for each version, and their
/// strategies have nothing to do with each other.
private func counterparts(of use: CodingUse, among decoders: [CodingUse], in index: ProjectIndex)
  -> [CodingUse]
{
  let type = use.type ?? use.property.flatMap { index.type(of: $0, in: use.scopeType) }
  // Another variable with the name may be a literal, which has no date.
  guard let type, !["String", "Int", "Double", "Bool"].contains(type) else {
    return Set(decoders.map { plain($0.type ?? "") }).count == 1 ? decoders : []
  }
  return decoders.filter { plain($0.type ?? "") == plain(type) }
}

/// A type's name for comparison: without the types around it, and not optional.
///
/// A list keeps its brackets, so `[Entry]` and `Entry` differ.
private func plain(_ type: String) -> String {
  let name = type.filter { $0 != " " && $0 != "?" }
  return name.hasPrefix("[") ? name : name.lastComponent
}

/// Identifies the key or the file that has the bytes; nil if other functions' files may have the same name.
private func identity(of use: CodingUse, in index: ProjectIndex) -> String? {
  // Two functions with a parameter `url` need not be about one file.
  guard !use.isOwnParameter else { return nil }
  switch use.target {
  case .preference(let key): return index.value(of: key).map { "key " + $0 }
  case .file(let name): return "file " + use.place.path + " " + use.scopeType + " " + name
  case .cloud, .secret, .unknown: return nil
  }
}

/// A strategy that can be compared; nil for an unknown one and for the program's own code.
///
/// A closure or a formatter may write what any other strategy writes.
private func comparable(_ strategy: String?) -> String? {
  guard let strategy, !strategy.contains("{"), !strategy.contains("("), !strategy.contains("custom")
  else { return nil }
  return strategy
}

/// Whether a type has a date, or isn't known.
///
/// Without a date in the value, different strategies make no difference.
private func mayHaveDate(_ type: String, in index: ProjectIndex, depth: Int) -> Bool {
  let name = type.elementType
  // A dictionary isn't taken apart; it may have dates.
  if name == "Date" || name.contains(":") { return true }
  if ["String", "Int", "Bool", "Double", "Float", "Data", "UUID", "URL", "CGFloat", "Int64"]
    .contains(name)
  {
    return false
  }
  let declarations = index.declarations(of: name)
  // A limit, since types may contain themselves. What is deeper may have a date.
  guard !declarations.isEmpty, depth < 4 else { return true }
  return declarations.flatMap(\.properties).contains { property in
    !property.isStatic && !property.isComputed
      && (property.type.map { mayHaveDate($0, in: index, depth: depth + 1) } ?? true)
  }
}
