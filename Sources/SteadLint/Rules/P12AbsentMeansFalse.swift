private let flaw = RuleID(id: "P12", name: "absent-means-false", level: .warning)

extension Rule {
  static let absentMeansFalse = Rule(
    flaw,
    summary:
      "A key defaults to true, or to another value, in one place and to false or zero in another.",
    why: """
      `bool(forKey:)` and `integer(forKey:)` return false and zero for a key that nobody has set. Where `@AppStorage` has \
      another default for the same key, the two places disagree until the user changes the setting.
      """,
    bad: """
      @AppStorage("playsSounds") private var playsSounds = true
      // elsewhere
      if UserDefaults.standard.bool(forKey: "playsSounds") { play() }
      """,
    good: #"UserDefaults.standard.register(defaults: ["playsSounds": true])"#,
    avoids: [
      "Keys that are registered with a default, or set where they are absent, or whose defaults agree.",
      "Reads that check for the value with `object(forKey:)` first.",
      "Numbers that are compared with zero, as in `limit > 0 ? limit : 1000`.",
    ],
    inProject: { index in
      let defaults = otherDefaults(in: index)
      let registered = index.preferences.filter { $0.access == .register }.map(text).joined(
        separator: " ")
      let looked = Set(
        index.preferences.filter { $0.method == "object" }.map { $0.place.path + ":\($0.scope)" })
      let seeded = seededKeys(in: index)
      return index.preferences.compactMap { use in
        guard use.access == .read, !use.isComparedWithZero,
          ["bool", "integer", "double", "float"].contains(use.method),
          let key = index.value(of: use.key), let value = defaults[key],
          !looked.contains(use.place.path + ":\(use.scope)"), !seeded.contains(key),
          !isRegistered(key, use.key, in: registered)
        else { return nil }
        return Finding(
          flaw,
          "While “\(key)” is absent this is \(use.method == "bool" ? "false" : "0"), and \(value) in an `@AppStorage`; "
            + "register a default.",
          at: use.place)
      }
    })
}

/// The defaults of wrappers that aren't false and zero, by their keys.
private func otherDefaults(in index: ProjectIndex) -> [String: String] {
  var found: [String: String] = [:]
  for use in index.preferences where use.access == .wrapper && index.isShipped(use.place) {
    guard let key = index.value(of: use.key), let value = use.value else { continue }
    let isNumber = Double(value.filter { $0 != "_" }).map { $0 != 0 } ?? false
    if value == "true" || isNumber { found[key] = value }
  }
  return found
}

/// The keys that a function sets after it has looked whether they are absent.
private func seededKeys(in index: ProjectIndex) -> Set<String> {
  func places(_ uses: [PreferenceUse]) -> [String: Set<String>] {
    Dictionary(grouping: uses) { $0.place.path + ":\($0.scope)" }.mapValues { uses in
      Set(uses.compactMap { index.value(of: $0.key) })
    }
  }
  let looked = places(index.preferences.filter { $0.method == "object" })
  let written = places(index.preferences.filter { $0.access == .write })
  return looked.reduce(into: []) { found, place in
    found.formUnion(place.value.intersection(written[place.key] ?? []))
  }
}

private func text(_ use: PreferenceUse) -> String {
  guard case .other(let text) = use.key else { return "" }
  return text
}

/// Whether what is registered has the key, as a literal or by a name. A list from elsewhere may have any.
private func isRegistered(_ key: String, _ fact: KeyFact, in registered: String) -> Bool {
  guard !registered.isEmpty else { return false }
  if registered.contains("\"\(key)\"") { return true }
  if case .reference(let name, _) = fact, registered.contains(name.lastComponent) { return true }
  return !registered.contains("[")
}
