private let flaw = RuleID(id: "P07", name: "date-strategy-mismatch", level: .error)

extension Rule {
  static let dateStrategyMismatch = Rule(
    flaw,
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
          flaw,
          "Dates are encoded as `\(own)`, and decoded as `\(other.dateStrategy ?? "")` on line \(other.place.line) of "
            + "\(other.place.path); use one strategy.",
          at: use.place)
      }
    })
}

/// The decodings that read an encoded value: those of its type, or all of them if its type isn't known and they share
/// one.
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
private func plain(_ type: String) -> String {
  let name = type.filter { $0 != " " && $0 != "?" }
  return name.hasPrefix("[") ? name : name.lastComponent
}

private func identity(of use: CodingUse, in index: ProjectIndex) -> String? {
  guard !use.isOwnParameter else { return nil }
  switch use.target {
  case .preference(let key): return index.value(of: key).map { "key " + $0 }
  case .file(let name): return "file " + use.place.path + " " + use.scopeType + " " + name
  case .cloud, .secret, .unknown: return nil
  }
}

private func comparable(_ strategy: String?) -> String? {
  guard let strategy, !strategy.contains("{"), !strategy.contains("("), !strategy.contains("custom")
  else { return nil }
  return strategy
}

/// Whether a type has a date, or isn't known.
private func mayHaveDate(_ type: String, in index: ProjectIndex, depth: Int) -> Bool {
  let name = type.elementType
  if name == "Date" || name.contains(":") { return true }
  if ["String", "Int", "Bool", "Double", "Float", "Data", "UUID", "URL", "CGFloat", "Int64"]
    .contains(name)
  {
    return false
  }
  let declarations = index.declarations(of: name)
  guard !declarations.isEmpty, depth < 4 else { return true }
  return declarations.flatMap(\.properties).contains { property in
    !property.isStatic && !property.isComputed
      && (property.type.map { mayHaveDate($0, in: index, depth: depth + 1) } ?? true)
  }
}
