private let flaw = RuleID(id: "P10", name: "key-unsafe-for-kvo", level: .warning)

extension Rule {
  static let keyUnsafeForKVO = Rule(
    flaw,
    summary:
      "A key with a full stop or an at sign is observed, or a key has one of the system's prefixes.",
    why: """
      `addObserver(_:forKeyPath:…)` treats a key as a key path: `a.b` is the property `b` of the value `a`, and `@` \
      begins an operator. Changes then go unnoticed, and some keys crash the program. `@AppStorage` can't observe \
      such a key on its own: each write of any preference evaluates its view again, on the thread that writes.
      Keys that begin with `Apple` or `com.apple.` belong to the system, which reads some of them, and may read more \
      in later versions.
      """,
    bad: #"UserDefaults.standard.addObserver(self, forKeyPath: "settings.fontSize", context: nil)"#,
    good: #"UserDefaults.standard.addObserver(self, forKeyPath: "settingsFontSize", context: nil)"#,
    avoids: [
      "Keys that are only read and written: they aren't treated as paths.",
      "Keys of `@AppStorage`, whose views do follow the changes: a note.",
      "Wrappers of this package, which compare whole keys.",
      "The system's keys that a program sets on purpose, such as `AppleLanguages`.",
    ],
    inProject: { index in
      index.preferences.compactMap { use in
        let isObserved =
          use.access == .observe || (use.access == .wrapper && use.method == "AppStorage")
        guard isObserved, let key = index.value(of: use.key),
          key.contains(".") || key.contains("@"), isApples(use, index)
        else { return reserved(use, in: index) }
        return use.access == .observe
          ? Finding(
            flaw,
            "“\(key)” is treated as a key path, so its changes go unnoticed; use another name.",
            at: use.keyPlace)
          : Finding(
            flaw,
            "“\(key)” can't be observed on its own, so each write of any preference evaluates the view again; use another name.",
            at: use.keyPlace, level: .note)
      }
    })
}

/// The system's keys that a program may set.
private let settable: Set<String> = [
  "AppleLanguages", "AppleLocale", "AppleInterfaceStyle", "AppleMenuBarVisibleInFullscreen",
  "ApplePersistenceIgnoreState",
  "AppleAccentColor", "AppleHighlightColor", "AppleKeyboardUIMode", "AppleWindowTabbingMode",
  "AppleTextDirection",
  "AppleMomentumScrollSupported", "AppleActionOnDoubleClick", "ApplePressAndHoldEnabled",
  "AppleShowScrollBars",
]

/// A program's own key with a prefix that the system uses: a note, since it may be intended.
private func reserved(_ use: PreferenceUse, in index: ProjectIndex) -> Finding? {
  guard use.access == .wrapper || use.access == .write, let key = index.value(of: use.key),
    !settable.contains(key), hasReservedPrefix(key)
  else { return nil }
  return Finding(
    flaw,
    "“\(key)” begins like the system's keys, and a later system may read it; use another name.",
    at: use.keyPlace, level: .note)
}

private func hasReservedPrefix(_ key: String) -> Bool {
  if key.hasPrefix("com.apple.") { return true }
  return key.hasPrefix("Apple") && key.dropFirst("Apple".count).first?.isUppercase == true
}

private func isApples(_ use: PreferenceUse, _ index: ProjectIndex) -> Bool {
  guard let file = index.files.first(where: { $0.path == use.place.path }) else { return true }
  return file.imports.isDisjoint(with: ["SteadPreferences"])
}
