private let flaw = RuleID(id: "P07", name: "date-strategy-mismatch", level: .error)

extension Rule {
  static let dateStrategyMismatch = Rule(
    flaw,
    summary: "A value is encoded and decoded with different strategies for dates.",
    why: """
      A `JSONEncoder` writes a date as a number of seconds unless it has another strategy. A decoder that expects a string of \
      ISO 8601 fails for it, or reads another date.
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
      "Coders that come from elsewhere, whose strategy the file doesn't show.",
      "Strategies of the program's own, which can't be compared.",
      "Types that are seen to have no date.",
      "Files that are parameters of functions, since each call may name another one.",
      "Another type than the one that is encoded, and an unknown one where several are decoded.",
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

/// The decodings that read what is encoded: those of its type, or all if it isn't known and they have one type.
private func counterparts(of use: CodingUse, among decoders: [CodingUse], in index: ProjectIndex)
  -> [CodingUse]
{
  let type = use.type ?? use.property.flatMap { index.type(of: $0, in: use.scopeType) }
  // A file's other variable of the name may be a literal, which has no date.
  guard let type, !["String", "Int", "Double", "Bool"].contains(type) else {
    return Set(decoders.map { plain($0.type ?? "") }).count == 1 ? decoders : []
  }
  return decoders.filter { plain($0.type ?? "") == plain(type) }
}

/// A type as it's compared: without the types around it and what makes it optional.
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
