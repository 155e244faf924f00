private let flaw = RuleID(id: "P12", name: "absent-means-false", level: .warning)

extension Rule {
  static let absentMeansFalse = Rule(
    flaw,
    summary:
      "A key defaults to true, or to another value, in one place and to false or zero in another.",
    why: """
      `bool(forKey:)` and `integer(forKey:)` return false and zero for a key that nobody has set. If `@AppStorage` \
      has another default for the same key, the two places disagree until the user changes the setting.
      """,
    bad: """
      @AppStorage("playsSounds") private var playsSounds = true
      // elsewhere
      if UserDefaults.standard.bool(forKey: "playsSounds") { play() }
      """,
    good: #"UserDefaults.standard.register(defaults: ["playsSounds": true])"#,
    avoids: [
      "Keys with a registered default, keys that are set when they are absent, and keys whose defaults agree.",
      "Keys that get the other default at the first launch: in an `if` that checks for it, or in a function that first reads a flag and also sets it.",
      "Reads that check for the value with `object(forKey:)` or `value(forKey:)` first.",
      "Numbers that are compared with zero, as in `limit > 0 ? limit : 1000`.",
      "The defaults of another program, by its folder's name: a watch app, or a widget that shares no suite.",
      "`@objc dynamic` properties of an extension of `UserDefaults`, which exist to be observed: a note.",
    ],
    inProject: { index in
      let defaults = otherDefaults(in: index)
      let registered = index.preferences.filter {
        $0.access == .register && index.isShipped($0.place)
      }.map(text).joined(separator: " ")
      let looked = Set(index.preferences.filter(asksForAbsence).map { look(at: $0, in: index) })
      let seeded = seededKeys(in: index)
      let first = firstValues(in: index)
      return index.preferences.compactMap { use in
        guard use.access == .read, !use.isComparedWithZero,
          ["bool", "integer", "double", "float"].contains(use.method),
          let key = index.value(of: use.key), let value = defaults[program(of: use)]?[key],
          looked.isDisjoint(with: [[function(use), key], [function(use)]]), !seeded.contains(key),
          !first.contains([key, value]),
          !isRegistered(key, use.key, in: registered)
        else { return nil }
        return Finding(
          flaw,
          "While “\(key)” is absent this is \(use.method == "bool" ? "false" : "0"), and \(value) in an `@AppStorage`; "
            + "register a default.",
          at: use.place, level: use.isObservable ? .note : nil)
      }
    })
}

private func asksForAbsence(_ use: PreferenceUse) -> Bool {
  use.method == "object" || use.method == "value"
}

/// The function and the key of a check for absence. An unknown key may be any key.
private func look(at use: PreferenceUse, in index: ProjectIndex) -> [String] {
  [function(use)] + (index.value(of: use.key).map { [$0] } ?? [])
}

/// The function of a use.
private func function(_ use: PreferenceUse) -> String {
  use.place.path + ":\(use.scope)"
}

/// The folder of a program with its own preferences; empty for the app. A watch shares no preferences with its phone,
/// and a widget only those of a suite.
private func program(of use: PreferenceUse) -> String {
  let isShared = use.access == .read && !["UserDefaults.standard", "self"].contains(use.receiver)
  let endings =
    ["Watch", "Watch App", "WatchApp", "Watch Extension", "WatchKit Extension"]
    + (isShared ? [] : ["Widget", "Widgets"])
  let folder = use.place.path.split(separator: "/").dropLast().first { folder in
    endings.contains(where: folder.hasSuffix)
  }
  return String(folder ?? "")
}

/// The defaults of wrappers, except false and zero, by program and key.
private func otherDefaults(in index: ProjectIndex) -> [String: [String: String]] {
  var found: [String: [String: String]] = [:]
  for use in index.preferences where use.access == .wrapper && index.isShipped(use.place) {
    guard let key = index.value(of: use.key), let value = use.value else { continue }
    let isNumber = Double(value.filter { $0 != "_" }).map { $0 != 0 } ?? false
    if value == "true" || isNumber { found[program(of: use), default: [:]][key] = value }
  }
  return found
}

/// The uses in the app, grouped by function.
private func functions(in index: ProjectIndex) -> [[PreferenceUse]] {
  Array(
    Dictionary(grouping: index.preferences.filter { index.isShipped($0.place) }, by: function)
      .values)
}

/// The keys that a function sets and checks for absence.
private func seededKeys(in index: ProjectIndex) -> Set<String> {
  functions(in: index).reduce(into: []) { found, uses in
    let looked = Set(uses.filter(asksForAbsence).compactMap { index.value(of: $0.key) })
    let written = uses.filter { $0.access == .write }.compactMap { index.value(of: $0.key) }
    found.formUnion(looked.intersection(written))
  }
}

/// The keys and values that a function sets once: at the first launch, or after it reads a flag that it also sets.
private func firstValues(in index: ProjectIndex) -> Set<[String]> {
  functions(in: index).reduce(into: []) { found, uses in
    let written = uses.filter { $0.access == .write }
    let flags = Set(
      written.filter { $0.value == "true" }.compactMap { index.value(of: $0.key) })
    let isOnce = uses.contains { use in
      use.method == "bool" && written.allSatisfy { use.place.precedes($0.place) }
        && index.value(of: use.key).map(flags.contains) == true
    }
    for use in written where isOnce || use.isAtFirstLaunch {
      if let key = index.value(of: use.key), let value = use.value { found.insert([key, value]) }
    }
  }
}

private func text(_ use: PreferenceUse) -> String {
  guard case .other(let text) = use.key else { return "" }
  return text
}

/// Whether the registered defaults have the key, as a literal or by a name. Defaults from elsewhere may have any key.
private func isRegistered(_ key: String, _ fact: KeyFact, in registered: String) -> Bool {
  guard !registered.isEmpty else { return false }
  if registered.contains("\"\(key)\"") { return true }
  if case .reference(let name, _) = fact, registered.contains(name.lastComponent) { return true }
  return !registered.contains("[")
}
