private let flaw = RuleID(id: "P09", name: "literal-key", level: .note)

extension Rule {
  static let literalKey = Rule(
    flaw, isFixable: true,
    summary:
      "A literal key is repeated, duplicates a constant, or is one letter away from another key.",
    why: """
      If a key is spelled out at each use, one typo is enough to write a value under one name and read it under \
      another. Nothing reports that: the reader gets the default.
      """,
    bad: """
      defaults.set(true, forKey: "didOnboard")
      if defaults.bool(forKey: "didOnbord") { start() }
      """,
    good: """
      extension Preferences.Keys {
        var didOnboard: Preferences.Key<Bool> { .init("didOnboard", default: false) }
      }
      """,
    avoids: [
      "A key that only one place uses, unless a constant exists for it.",
      "Keys that differ in a number, such as `volume1` and `volume2`.",
    ],
    inProject: { index in slips(in: index) + repetitions(in: index) })
}

private struct LiteralUse {
  let key: String
  let use: PreferenceUse
}

private func literals(in index: ProjectIndex) -> [LiteralUse] {
  index.preferences.compactMap { use in
    guard case .literal(let key) = use.key, index.isShipped(use.place) else { return nil }
    return LiteralUse(key: key, use: use)
  }
}

/// Keys that are only read, and are one letter away from a key that is only written.
private func slips(in index: ProjectIndex) -> [Finding] {
  var accesses: [String: Set<PreferenceUse.Access>] = [:]
  for use in index.preferences {
    guard let key = index.value(of: use.key) else { return [] }
    accesses[key, default: []].insert(use.access)
  }
  let written = accesses.filter {
    $0.value.isDisjoint(with: [.read, .wrapper]) && $0.value.contains(.write)
  }.keys
  return literals(in: index).compactMap { literal in
    guard accesses[literal.key] == [.read], literal.key.count > 4,
      let other = written.filter({
        $0.isOneEdit(from: literal.key) && !differInNumber($0, literal.key)
      }).min()
    else { return nil }
    return Finding(
      flaw,
      "“\(literal.key)” is never written, but “\(other)” is: probably a typo; use a typed key.",
      at: literal.use.keyPlace, level: .warning)
  }
}

private func differInNumber(_ one: String, _ other: String) -> Bool {
  one.filter { !$0.isNumber } == other.filter { !$0.isNumber }
}

/// Keys that are spelled out in several places, and those for which a constant exists.
private func repetitions(in index: ProjectIndex) -> [Finding] {
  Dictionary(grouping: literals(in: index), by: \.key).values.flatMap { uses -> [Finding] in
    if let constant = index.sharedConstant(of: uses[0].key) {
      return uses.map { literal in
        Finding(
          flaw, "`\(constant.name)` is this key; use it.", at: literal.use.keyPlace,
          fix: fix(literal, with: constant))
      }
    }
    let places = Set(uses.map { $0.use.place.path + ":\($0.use.scope)" })
    guard places.count > 1, let first = uses.map(\.use.keyPlace).min(by: { $0.precedes($1) }) else {
      return []
    }
    return [
      Finding(
        flaw, "“\(uses[0].key)” is spelled out in \(places.count) places; give it a typed key.",
        at: first)
    ]
  }
}

/// A case of an enumeration isn't a string, so only a `static let` can replace the literal.
private func fix(_ literal: LiteralUse, with constant: ConstantFact) -> Fix? {
  guard !constant.place.sourceLine.trimmed.hasPrefix("case "),
    constant.place.sourceLine.contains("static let")
  else {
    return nil
  }
  let place = literal.use.keyPlace
  return Fix(
    "Use \(constant.name)",
    [.init(offset: place.offset, length: place.length, replacement: constant.name)])
}
