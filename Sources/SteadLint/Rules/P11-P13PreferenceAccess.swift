import SwiftSyntax

// MARK: - P11 needless-synchronize

private let p11 = RuleID(id: "P11", name: "needless-synchronize", level: .warning)

extension Rule {
  /// `synchronize()` where it does nothing, and its absence where values are lost without it.
  ///
  /// The call is found in a single file, by its imports. Its absence is a question to the whole
  /// program, since one call anywhere is enough.
  static let needlessSynchronize = Rule(
    p11, isFixable: true,
    summary:
      "`synchronize()` of `UserDefaults` is called on an Apple system, or missing in a program for Linux.",
    why: """
      Apple's systems keep a value as soon as it is set, and Apple has said since 2016 that the method isn't needed. \
      It waits for another process, and makes readers believe that a value isn't safe without it. Foundation on \
      Linux is different: there a value is in the file only after `synchronize()` returns, so a program that ends \
      earlier loses it.
      """,
    bad: """
      UserDefaults.standard.set(true, forKey: "didOnboard")
      UserDefaults.standard.synchronize()
      """,
    good: #"UserDefaults.standard.set(true, forKey: "didOnboard")"#,
    avoids: [
      "iCloud's key-value store, which needs the call once at the start.",
      "Code that is also built for other systems: Foundation on Linux loses what isn't synchronized.",
      "Programs for Linux that call it anywhere, or write through `SteadPreferences`.",
    ],
    inFile: { file in
      guard isForApplePlatforms(file.walk.imports) else { return [] }
      let variables = VariableTypes(file.walk)
      return file.walk.calls.compactMap { call in
        guard call.name == "synchronize", call.arguments.isEmpty, let receiver = call.receiver,
          isPreferences(receiver, variables)
        else { return nil }
        return Finding(
          p11,
          "`synchronize()` isn't needed, because a value is kept as soon as it is set; remove the call.",
          at: file.place(call),
          fix: fix(call, in: file))
      }
    },
    inProject: missing)
}

/// Modules that only programs for other systems than Apple's import without a condition.
private let linuxModules: Set<String> = [
  "Glibc", "Musl", "FoundationNetworking", "Vapor", "Hummingbird",
]

/// The first write in each file of a program for Linux, if the program never synchronizes.
///
/// One finding for each file: each write needs the same answer.
private func missing(in index: ProjectIndex) -> [Finding] {
  // Of the whole program: a file that writes preferences often imports Foundation alone.
  let imports = index.files.reduce(into: Set<String>()) { $0.formUnion($1.imports) }
  // A program that imports both kinds of modules under conditions can't be told from one for Linux.
  guard !imports.isDisjoint(with: linuxModules), !isForApplePlatforms(imports),
    !imports.contains("SteadPreferences"),
    !index.preferences.contains(where: { $0.access == .synchronize })
  else { return [] }
  let writes = index.preferences.filter {
    $0.access == .write && $0.store == .preferences && index.isShipped($0.place)
  }
  return Dictionary(grouping: writes, by: \.place.path).values.compactMap { uses in
    uses.min { $0.place.precedes($1.place) }.map { use in
      Finding(
        p11,
        "Foundation on Linux writes this only in `synchronize()`, which nothing calls; use `Preferences`.",
        at: use.place)
    }
  }
}

/// Whether the imports include a framework that only Apple's systems have.
///
/// `Foundation` isn't among them. A file that imports nothing else may also be built for Linux,
/// where the call is needed.
private func isForApplePlatforms(_ imports: Set<String>) -> Bool {
  !imports.isDisjoint(with: [
    "AppKit", "Cocoa", "SwiftUI", "UIKit", "WatchKit", "WidgetKit", "Combine", "CoreData",
    "CoreLocation", "StoreKit",
    "UserNotifications", "AVFoundation", "Photos", "WebKit", "CloudKit", "HealthKit", "IOKit",
    "Carbon", "ServiceManagement",
  ])
}

/// Whether it's an instance of `UserDefaults`, by its declared type or else by its name.
///
/// iCloud's key-value store has a `synchronize()`, too, which is needed. So an unknown receiver
/// isn't taken for preferences.
///
/// - Parameter names: Those that were unwrapped on the way. `guard let store = self.store` binds a name to itself.
private func isPreferences(
  _ receiver: ExprSyntax, _ variables: VariableTypes, after names: Set<String> = []
) -> Bool {
  let code = receiver.code
  if code.hasPrefix("UserDefaults.") || code.hasPrefix("UserDefaults(") { return true }
  let name = code.filter { $0 != "?" && $0 != "!" }.lastComponent
  if let type = variables.type(of: name, at: receiver) { return type.elementType == "UserDefaults" }
  if NameWords(name).words.last == "defaults" { return true }
  guard !names.contains(name), let value = unwrapped(name, in: receiver.scope) else { return false }
  return isPreferences(value, variables, after: names.union([name]))
}

/// The expression that `if let` or `guard let` binds to a name.
///
/// `guard let d = kept else { return }` gives a name that says nothing, but the unwrapped
/// expression may have a type.
private func unwrapped(_ name: String, in scope: Syntax) -> ExprSyntax? {
  var open = [scope]
  while let node = open.popLast() {
    if let binding = node.as(OptionalBindingConditionSyntax.self),
      binding.pattern.trimmedDescription == name, let value = binding.initializer?.value,
      value.code != name
    {
      return value
    }
    open += node.children(viewMode: .sourceAccurate).filter { !$0.is(TokenSyntax.self) }
  }
  return nil
}

/// Removes the call's line if the call is a statement whose result isn't used.
///
/// Nil if the call shares its line with other code, or is all that its block has.
private func fix(_ call: FunctionCallExprSyntax, in file: FileContext) -> Fix? {
  var node = Syntax(call)
  // `defaults?.synchronize()`: the chain is around the call.
  if let chain = node.parent, chain.is(OptionalChainingExprSyntax.self) { node = chain }
  // `_ = defaults.synchronize()`
  if let sequence = node.parent?.parent?.as(SequenceExprSyntax.self),
    sequence.code.hasPrefix("_=")
  {
    node = Syntax(sequence)
  }
  guard let item = node.parent?.as(CodeBlockItemSyntax.self),
    let list = item.parent?.as(CodeBlockItemListSyntax.self),
    list.count > 1, item.semicolon == nil
  else { return nil }
  let place = file.place(item)
  // A comment or another statement on the line would be lost with it.
  guard place.sourceLine.trimmed == item.trimmedDescription else { return nil }
  // From the beginning of the line, so that its indentation goes as well. The line feed is the one
  // byte more.
  let start = place.offset - (place.column - 1)
  return Fix(
    "Remove the call",
    [.init(offset: start, length: place.sourceLine.utf8.count + 1, replacement: "")])
}

// MARK: - P12 absent-means-false

private let p12 = RuleID(id: "P12", name: "absent-means-false", level: .warning)

extension Rule {
  /// Reads of a number or a boolean whose key has another default in a wrapper.
  ///
  /// `bool(forKey:)` can't tell an absent value from false. The two places agree as soon as the key
  /// is set or has a registered default, so everything that may do this silences the rule.
  static let absentMeansFalse = Rule(
    p12,
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
      // Not those of tests, which register values that the app doesn't have.
      let registered = index.preferences.filter {
        $0.access == .register && index.isShipped($0.place)
      }.map(text).joined(separator: " ")
      let checked = Set(
        index.preferences.filter(asksForAbsence).map { absenceCheck($0, in: index) })
      let seeded = seededKeys(in: index)
      let first = firstValues(in: index)
      return index.preferences.compactMap { use in
        guard use.access == .read, !use.isComparedWithZero,
          ["bool", "integer", "double", "float"].contains(use.method),
          let key = index.value(of: use.key), let value = defaults[program(of: use)]?[key],
          // The second list stands for a check of a key that isn't known, which may be this one.
          checked.isDisjoint(with: [[function(use), key], [function(use)]]), !seeded.contains(key),
          !first.contains([key, value]),
          !isRegistered(key, use.key, in: registered)
        else { return nil }
        return Finding(
          p12,
          "While “\(key)” is absent this is \(use.method == "bool" ? "false" : "0"), and \(value) in an `@AppStorage`; "
            + "register a default.",
          at: use.place, level: use.isObservable ? .note : nil)
      }
    })
}

/// Whether a read tells an absent value from false and zero.
///
/// Both return nil for it. What the code does with nil isn't looked at.
private func asksForAbsence(_ use: PreferenceUse) -> Bool {
  use.method == "object" || use.method == "value"
}

/// The function and the key of a check for absence. An unknown key may be any key.
private func absenceCheck(_ use: PreferenceUse, in index: ProjectIndex) -> [String] {
  [function(use)] + (index.value(of: use.key).map { [$0] } ?? [])
}

/// Identifies the function of a use, by where it begins: two accessors of a property have one name.
private func function(_ use: PreferenceUse) -> String {
  use.place.path + ":\(use.scope)"
}

/// The folder of a program with its own preferences; empty for the app. A watch shares no
/// preferences with its phone, and a widget only those of a suite.
///
/// A folder is recognized by the end of its name, as Xcode's templates and their users name such
/// targets.
private func program(of use: PreferenceUse) -> String {
  // Any other receiver may be a suite, which app and widget have in common. A watch is another
  // device.
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
///
/// Of several wrappers for one key the last one counts.
private func otherDefaults(in index: ProjectIndex) -> [String: [String: String]] {
  var found: [String: [String: String]] = [:]
  for use in index.preferences where use.access == .wrapper && index.isShipped(use.place) {
    guard let key = index.value(of: use.key), let value = use.value else { continue }
    // A default of an expression could be anything, also false or zero.
    let isNumber = Double(value.filter { $0 != "_" }).map { $0 != 0 } ?? false
    // False and zero agree with what `bool(forKey:)` and `integer(forKey:)` return.
    if value == "true" || isNumber { found[program(of: use), default: [:]][key] = value }
  }
  return found
}

/// The uses in the app, grouped by function.
///
/// In no particular order: the answers made from them are sets.
private func functions(in index: ProjectIndex) -> [[PreferenceUse]] {
  Array(
    Dictionary(grouping: index.preferences.filter { index.isShipped($0.place) }, by: function)
      .values)
}

/// The keys that a function sets and checks for absence.
///
/// `if defaults.object(forKey: "on") == nil { defaults.set(true, forKey: "on") }` gives a default
/// as `register` does.
private func seededKeys(in index: ProjectIndex) -> Set<String> {
  functions(in: index).reduce(into: []) { found, uses in
    let checked = Set(uses.filter(asksForAbsence).compactMap { index.value(of: $0.key) })
    let written = uses.filter { $0.access == .write }.compactMap { index.value(of: $0.key) }
    found.formUnion(checked.intersection(written))
  }
}

/// The keys and values that a function sets once: at the first launch, or after it reads a flag that it also sets.
///
/// Key and value together: a function that sets another value than the wrapper's default doesn't
/// make the places agree.
private func firstValues(in index: ProjectIndex) -> Set<[String]> {
  functions(in: index).reduce(into: []) { found, uses in
    let written = uses.filter { $0.access == .write }
    let flags = Set(
      written.filter { $0.value == "true" }.compactMap { index.value(of: $0.key) })
    // The function reads the flag before it writes anything, and sets it with the rest, so a later
    // launch finds it set.
    let isOnce = uses.contains { use in
      use.method == "bool" && written.allSatisfy { use.place.precedes($0.place) }
        && index.value(of: use.key).map(flags.contains) == true
    }
    for use in written where isOnce || use.isAtFirstLaunch {
      if let key = index.value(of: use.key), let value = use.value { found.insert([key, value]) }
    }
  }
}

/// The source of the registered defaults, which the reader keeps as the key of the call.
private func text(_ use: PreferenceUse) -> String {
  guard case .other(let text) = use.key else { return "" }
  return text
}

/// Whether the registered defaults have the key, as a literal or by a name. Defaults from elsewhere may have
/// any key.
private func isRegistered(_ key: String, _ fact: KeyFact, in registered: String) -> Bool {
  guard !registered.isEmpty else { return false }
  // The dictionary is searched as source, since its keys may be literals, constants or cases.
  if registered.contains("\"\(key)\"") { return true }
  if case .reference(let name, _) = fact, registered.contains(name.lastComponent) { return true }
  // Without a literal dictionary the defaults come from a variable or a file, and may have the key.
  return !registered.contains("[")
}

// MARK: - P13 standard-in-tests

private let p13 = RuleID(id: "P13", name: "standard-in-tests", level: .warning)

extension Rule {
  /// Writes of tests to the preferences that all tests share.
  ///
  /// The only rule about tests. One finding for each file, at the first write that isn't put back.
  static let standardInTests = Rule(
    p13, scope: .tests,
    summary: "A test writes to `UserDefaults.standard`.",
    why: """
      All tests of a run share it, and it outlives the run. Whether a test passes then depends on what ran before \
      it, and on what the developer has set.
      """,
    bad: #"UserDefaults.standard.set(true, forKey: "didOnboard")"#,
    good: """
      let defaults = UserDefaults(suiteName: UUID().uuidString)!
      defaults.set(true, forKey: "didOnboard")
      """,
    avoids: [
      "Suites, and instances that are passed to the test.",
      "Reading, and code outside of tests.",
      "Further writes in the same file: the first one stands for all.",
      "XCTest tests that put the value back in a `defer` or in `tearDown`, if all tests in the file do so: a note.",
    ],
    inProject: { index in
      let uses = index.preferences.filter { use in
        let receiver = use.receiver
        return (use.access == .write || use.access == .remove)
          && (receiver == "UserDefaults.standard" || receiver == "Foundation.UserDefaults.standard")
      }
      return Dictionary(grouping: uses, by: \.place.path).values.compactMap { uses in
        // A note only if all writes of the file are put back: one that stays is enough for the next
        // test to see.
        let first = uses.filter { !$0.isPutBack }.min { $0.place.precedes($1.place) }
        return (first ?? uses.min { $0.place.precedes($1.place) }).map { use in
          let others = uses.count > 1 ? " (\(uses.count - 1) more in this file)" : ""
          return Finding(
            p13,
            "This writes to `UserDefaults.standard`, which all tests share\(others); make a suite for each test.",
            at: use.place, level: use.isPutBack ? .note : nil)
        }
      }
    })
}
