import SwiftSyntax

// MARK: - P08 large-blob-in-preferences

private let p08 = RuleID(id: "P08", name: "large-blob-in-preferences", level: .warning)

extension Rule {
  /// Images that are written to preferences, and encoded lists that only grow.
  ///
  /// Images are found in a single file. A list is a note, since how long it gets depends on its
  /// user.
  static let largeBlobInPreferences = Rule(
    p08,
    summary: "An encoded image, or a list that only grows, is written to preferences.",
    why: """
      All preferences of a program are read at its start and written as a whole. An image of a few megabytes slows \
      each launch, and each change of another key. A list that is encoded as a whole takes longer with each new \
      element.
      """,
    bad: #"UserDefaults.standard.set(photo.pngData(), forKey: "avatar")"#,
    good: """
      let name = "avatar.png"
      try photo.pngData()?.write(to: AppDirectories(id: "com.example.app").data.appending(path: name), options: .atomic)
      UserDefaults.standard.set(name, forKey: "avatar")
      """,
    avoids: [
      "File paths and file names.",
      "Images that are removed, or written to a file.",
      "Lists that something shortens, or whose length is compared with a limit. A list without a limit is a note.",
    ],
    inFile: { file in
      file.walk.calls.compactMap { call in
        guard call.name == "set" || call.name == "setValue", call.argument("forKey") != nil,
          let receiver = call.receiver?.code, isPreferences(receiver),
          let value = call.arguments.first?.expression,
          isImage(value, in: file)
        else { return nil }
        return Finding(
          p08,
          "An image makes each launch and each change slower; write it to a file and keep the file's name.",
          at: file.place(call))
      }
    },
    inProject: { index in
      index.codings.compactMap { use in
        guard case .preference = use.target, let growth = use.growth else { return nil }
        return Finding(
          p08,
          "The list that is encoded on line \(use.place.line) only grows, and each change writes all of it; "
            + "keep the last few hundred, or move to a database.",
          at: growth, level: .note)
      }
    })
}

/// Whether a receiver is a store of preferences, by its source alone.
///
/// That is enough here, since the written value has to be an encoded image as well.
private func isPreferences(_ receiver: String) -> Bool {
  receiver.hasPrefix("UserDefaults") || NameWords(receiver.lastComponent).words.last == "defaults"
    || receiver.hasPrefix("Preferences.")
}

/// The methods and functions of Apple's frameworks that encode an image.
private let encoders: Set<String> = [
  "pngData", "jpegData", "heicData", "tiffRepresentation", "UIImagePNGRepresentation",
  "UIImageJPEGRepresentation",
]

/// Whether an expression encodes an image, or is a variable that the function binds to one.
///
/// A variable in a function that encodes an image elsewhere isn't one: the binding itself has to
/// have the call.
private func isImage(_ value: ExprSyntax, in file: FileContext) -> Bool {
  if value.mentions(anyOf: encoders) { return true }
  guard let name = value.as(DeclReferenceExprSyntax.self)?.baseName.text else { return false }
  let scope = value.scope
  // The tokens first: most functions encode no image, and need no walk for the bindings.
  return scope.tokens(viewMode: .sourceAccurate).contains { encoders.contains($0.text) }
    && bindings(of: name, in: scope).contains { $0.mentions(anyOf: encoders) }
}

/// The bindings of a name in a function, including those of `if let`.
///
/// The walk has a stack of its own, so a deep function can't overflow that of the thread.
private func bindings(of name: String, in scope: Syntax) -> [Syntax] {
  var found: [Syntax] = []
  var open = [scope]
  while let node = open.popLast() {
    if let binding = node.as(PatternBindingSyntax.self), binding.pattern.trimmedDescription == name
    {
      found.append(node)
    }
    if let binding = node.as(OptionalBindingConditionSyntax.self),
      binding.pattern.trimmedDescription == name
    {
      found.append(node)
    }
    open += node.children(viewMode: .sourceAccurate).filter { !$0.is(TokenSyntax.self) }
  }
  return found
}

// MARK: - P09 literal-key

private let p09 = RuleID(id: "P09", name: "literal-key", level: .note)

extension Rule {
  /// Literal keys that are nearly another key, have a constant, or are spelled out in several
  /// places.
  ///
  /// A note, except for a typo: what is written under one name is never read under it.
  static let literalKey = Rule(
    p09, isFixable: true,
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
    inProject: { index in typos(in: index) + repetitions(in: index) })
}

/// A use of a key that is a literal.
private struct LiteralUse {
  let key: String
  let use: PreferenceUse
}

/// The uses of literal keys in shipped code. Tests spell keys out on purpose, to notice a change.
private func literals(in index: ProjectIndex) -> [LiteralUse] {
  index.preferences.compactMap { use in
    guard case .literal(let key) = use.key, index.isShipped(use.place) else { return nil }
    return LiteralUse(key: key, use: use)
  }
}

/// Keys that are only read, and are one letter away from a key that is only written.
///
/// Both halves are needed. A key that is written and read elsewhere has no missing half, and two
/// such keys may well have similar names.
private func typos(in index: ProjectIndex) -> [Finding] {
  var accesses: [String: Set<PreferenceUse.Access>] = [:]
  // These neither read nor write one key: a registration gives defaults for several, and
  // `synchronize()` concerns all.
  for use in index.preferences where ![.register, .synchronize].contains(use.access) {
    // One unknown key may be the one that is missing, so nothing is certain any more.
    guard let key = index.value(of: use.key) else { return [] }
    accesses[key, default: []].insert(use.access)
  }
  // A wrapper reads, too.
  let written = accesses.filter {
    $0.value.isDisjoint(with: [.read, .wrapper]) && $0.value.contains(.write)
  }.keys
  return literals(in: index).compactMap { literal in
    // Short keys are one letter away from many others.
    guard accesses[literal.key] == [.read], literal.key.count > 4,
      let other = written.filter({
        $0.isOneEdit(from: literal.key) && !differInNumber($0, literal.key)
      }).min()
    else { return nil }
    return Finding(
      p09,
      "“\(literal.key)” is never written, but “\(other)” is: probably a typo; use a typed key.",
      at: literal.use.keyPlace, level: .warning)
  }
}

/// Whether keys differ only in their digits, as numbered keys do.
private func differInNumber(_ one: String, _ other: String) -> Bool {
  one.filter { !$0.isNumber } == other.filter { !$0.isNumber }
}

/// Keys that are spelled out in several places, and those for which a constant exists.
///
/// With a constant each use is a finding, since each can be replaced. Without one the first place
/// stands for all: what is missing is one declaration.
private func repetitions(in index: ProjectIndex) -> [Finding] {
  Dictionary(grouping: literals(in: index), by: \.key).values.flatMap { uses -> [Finding] in
    if let constant = index.sharedConstant(of: uses[0].key) {
      return uses.map { literal in
        Finding(
          p09, "`\(constant.name)` is this key; use it.", at: literal.use.keyPlace,
          fix: fix(literal, with: constant))
      }
    }
    // By function: an `if` that reads a key and sets it is one place.
    let places = Set(uses.map { $0.use.place.path + ":\($0.use.scope)" })
    guard places.count > 1, let first = uses.map(\.use.keyPlace).min(by: { $0.precedes($1) }) else {
      return []
    }
    return [
      Finding(
        p09, "“\(uses[0].key)” is spelled out in \(places.count) places; give it a typed key.",
        at: first)
    ]
  }
}

/// A case of an enumeration isn't a string, so only a `static let` can replace the literal.
///
/// The constant's own line shows which of the two it is; the fact has no syntax.
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

// MARK: - P10 key-unsafe-for-kvo

private let p10 = RuleID(id: "P10", name: "key-unsafe-for-kvo", level: .warning)

extension Rule {
  /// Keys that key-value observing takes for a path, and keys that begin as the system's do.
  ///
  /// A warning only for `addObserver`. SwiftUI follows such a key by the notification of all
  /// changes, so for `@AppStorage` the cost is an evaluation of the view, and the finding is a
  /// note.
  static let keyUnsafeForKVO = Rule(
    p10,
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
        // A scene's storage isn't among the preferences, and a wrapper of the program's own
        // observes in its own way.
        let isObserved =
          use.access == .observe || (use.access == .wrapper && use.method == "AppStorage")
        // What isn't observed as a path may still have a reserved prefix.
        guard isObserved, let key = index.value(of: use.key),
          key.contains(".") || key.contains("@"), isObservedByFoundation(use, index)
        else { return reserved(use, in: index) }
        return use.access == .observe
          ? Finding(
            p10,
            "“\(key)” is treated as a key path, so its changes go unnoticed; use another name.",
            at: use.keyPlace)
          : Finding(
            p10,
            "“\(key)” can't be observed on its own, so each write of any preference evaluates the view again; use another name.",
            at: use.keyPlace, level: .note)
      }
    })
}

/// The system's keys that a program may set.
///
/// A program sets them for itself, to change its language or its appearance.
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
  // Reading a key of the system's is what such keys are for.
  guard use.access == .wrapper || use.access == .write, let key = index.value(of: use.key),
    !settable.contains(key), hasReservedPrefix(key)
  else { return nil }
  return Finding(
    p10,
    "“\(key)” begins like the system's keys, and a later system may read it; use another name.",
    at: use.keyPlace, level: .note)
}

/// Whether a key begins as the system's keys do. `Appleseed` doesn't.
private func hasReservedPrefix(_ key: String) -> Bool {
  if key.hasPrefix("com.apple.") { return true }
  return key.hasPrefix("Apple") && key.dropFirst("Apple".count).first?.isUppercase == true
}

/// Whether a wrapper is Foundation's or SwiftUI's, which observe by key paths. SteadPreferences compares
/// whole keys.
///
/// By the file's imports: the wrapper's name alone doesn't say whose it is.
private func isObservedByFoundation(_ use: PreferenceUse, _ index: ProjectIndex) -> Bool {
  guard let file = index.files.first(where: { $0.path == use.place.path }) else { return true }
  return file.imports.isDisjoint(with: ["SteadPreferences"])
}
