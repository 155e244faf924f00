import SwiftSyntax

/// Finds the uses of preferences in a file: calls of `UserDefaults` and the like, and wrapped
/// properties.
///
/// A receiver counts by its type if the file shows it, otherwise by its name: `defaults`,
/// `sharedDefaults`.
///
/// Keys are kept as the source writes them, since a constant may be in another file. What a use
/// looks like around the call, such as a comparison with zero, is read here: the index has no
/// syntax any more.
struct PreferenceReader {
  private let reader: FactReader
  private var context: FileContext { reader.context }

  init(_ reader: FactReader) {
    self.reader = reader
  }

  /// Methods that read one key of `UserDefaults` or of iCloud's store.
  private static let readers: Set<String> = [
    "string", "data", "object", "bool", "integer", "double", "float", "array", "dictionary",
    "stringArray", "url",
    "value", "longLong",
  ]
  /// Methods that write one key.
  private static let writers: Set<String> = ["set", "setValue"]
  /// Property wrappers of SwiftUI and of this package.
  private static let wrappers: Set<String> = ["AppStorage", "SceneStorage", "Preference"]

  /// Whether a wrapper keeps its value in preferences: Apple's, ours, and a program's own such as
  /// `@UserDefaultsBacked`.
  private static func isWrapper(_ name: String) -> Bool {
    if wrappers.contains(name) { return true }
    // A `@SecureUserDefault` keeps its value elsewhere, or encrypts it.
    let words: Set = ["secure", "secured", "encrypted", "keychain"]
    return name.contains("UserDefault") && !NameWords(name).contains(anyOf: words)
  }

  /// The uses of preferences: calls first, then wrapped properties.
  ///
  /// Costs several walks to the root of the tree for each use.
  func uses() -> [PreferenceUse] {
    context.walk.calls.compactMap(use) + context.walk.variables.compactMap(wrapper)
  }

  /// The fact of a call; nil if it isn't one of a store of preferences, or has no key where it needs one.
  private func use(_ call: FunctionCallExprSyntax) -> PreferenceUse? {
    guard let access = access(call), let store = store(of: call) else { return nil }
    let key = call.argument("forKey") ?? call.argument("forKeyPath")
    // `set` and `value` are names of many methods; the label `forKey` is what tells these.
    guard key != nil || access == .register || access == .synchronize else { return nil }
    // The value comes first in all methods that write, with a label or without one.
    let value = access == .write ? call.arguments.first?.expression : nil
    return PreferenceUse(
      store: store, access: access, method: call.name, receiver: call.receiver?.code ?? "self",
      // A call without a key keeps its source in place of one. P12 searches that of
      // `register(defaults:)`.
      key: key.map(reader.key) ?? .other(registered(call)), value: value?.trimmedDescription,
      valueType: value.flatMap(type),
      isComparedWithZero: access == .read && isComparedWithZero(call),
      isUnusedProperty: false, setter: setter(around: call), isObservable: isObservable(call),
      isPutBack: isPutBack(call), isAtFirstLaunch: isAtFirstLaunch(call), scope: call.scope.start,
      scopeType: call.enclosingType,
      place: context.place(call), keyPlace: context.place(key.map(Syntax.init) ?? Syntax(call)))
  }

  /// The property whose setter or observer has a call; nil if code that isn't in the project can set the property.
  ///
  /// P01 lowers its finding to a note if no file of the project sets this property. So it is nil as
  /// soon as something else could: another module, Objective-C, or a wrapper.
  private func setter(around call: FunctionCallExprSyntax) -> String? {
    let nodes = Array(call.ancestors)
    let specifiers = ["set", "willSet", "didSet", "_modify"]
    guard
      let accessor = nodes.firstIndex(where: { node in
        node.as(AccessorDeclSyntax.self).map {
          specifiers.contains($0.accessorSpecifier.text)
        } ?? false
      }),
      let variable = nodes[accessor...].lazy.compactMap({ $0.as(VariableDeclSyntax.self) }).first,
      // An attribute such as `@objc`, `@IBInspectable` or a wrapper lets code change it that never
      // names it.
      variable.attributes.isEmpty, isOwn(variable.modifiers)
    else { return nil }
    let group = nodes[accessor...].lazy.compactMap { $0.asProtocol(DeclGroupSyntax.self) }.first
    if let group {
      let attributes = group.attributes.map(\.trimmedDescription)
      // A public type's members are its own, and a public extension's are public.
      guard !group.is(ExtensionDeclSyntax.self) || isOwn(group.modifiers),
        !attributes.contains("@objcMembers")
      else { return nil }
    }
    return variable.declaredName
  }

  /// Whether neither another module nor Objective-C's runtime can see a declaration.
  ///
  /// `package` counts as visible, too: the folder that is checked need not be the whole package.
  private func isOwn(_ modifiers: DeclModifierListSyntax) -> Bool {
    modifiers.allSatisfy { !["public", "open", "package", "dynamic"].contains($0.name.text) }
  }

  /// Whether a call is in a `dynamic` property, which exists to be observed by KVO. P12 reports its
  /// read as a note.
  private func isObservable(_ call: FunctionCallExprSyntax) -> Bool {
    // Only in an extension of `UserDefaults`, where the getter calls its own methods.
    guard call.receiver == nil || call.receiver?.code == "self" else { return false }
    let variable = call.ancestors.lazy.compactMap { $0.as(VariableDeclSyntax.self) }.first
    return variable?.modifiers.contains { $0.name.text == "dynamic" } ?? false
  }

  /// Whether a test puts the value back. Swift Testing runs tests in parallel, so another test may see a
  /// value before it is put back.
  ///
  /// Three ways count, each for the same receiver: a `defer` in the function itself, a call in
  /// `tearDown` of the same type, and an assignment to a property there.
  private func isPutBack(_ call: FunctionCallExprSyntax) -> Bool {
    let imports = context.walk.imports
    // A file may have tests of both kinds, and nothing here says which kind the function is.
    guard imports.contains("XCTest"), !imports.contains("Testing") else { return false }
    if isTearDown(call) { return true }
    // `UserDefaults.standard.theme = theme` in `tearDown`, by a property of an extension.
    let isAssigned = context.walk.assignments.contains { assignment in
      isTearDown(assignment) && assignment.enclosingType == call.enclosingType
        && assignment.code.hasPrefix((call.receiver?.code ?? "") + ".")
        && assignment.elements.contains { $0.is(AssignmentExprSyntax.self) }
    }
    if isAssigned { return true }
    return context.walk.calls.contains { other in
      guard ["set", "setValue", "removeObject"].contains(other.name),
        other.receiver?.code == call.receiver?.code
      else { return false }
      // In the function itself only a `defer` runs if the test throws.
      if other.scope.id == call.scope.id {
        return other.ancestors.contains { $0.is(DeferStmtSyntax.self) }
      }
      return other.enclosingType == call.enclosingType && isTearDown(other)
    }
  }

  /// Whether a call is in the body of an `if` whose condition is about a first launch, by its words.
  ///
  /// P12 takes the value that is set there for a default, which then isn't missing.
  private func isAtFirstLaunch(_ call: FunctionCallExprSyntax) -> Bool {
    call.ancestors.contains { node in
      // Behind the start of the body is the `else`, too: `if !isFirstLaunch { } else { … }`.
      guard let statement = node.as(IfExprSyntax.self), call.start > statement.body.start else {
        return false
      }
      let words = NameWords(statement.conditions.code)
      return words.contains(anyOf: ["onboarding", "onboarded"])
        || Self.firstLaunches.contains { words.words.containsRun($0) }
    }
  }

  /// Runs of words in the names of flags for a first launch. `first` alone would also be in
  /// `sizes.first`.
  private static let firstLaunches = [
    ["first", "launch"], ["first", "run"], ["first", "start"], ["first", "time"],
    ["launched", "before"], ["has", "launched"], ["did", "launch"],
  ]

  /// Whether a node is in a function that XCTest runs after each test.
  ///
  /// `tearDownWithError` is one, too.
  private func isTearDown(_ node: some SyntaxProtocol) -> Bool {
    node.scope.declaredName?.hasPrefix("tearDown") == true
  }

  /// Whether the number that a call reads is compared with zero, there or after it was bound to a name.
  ///
  /// `limit > 0 ? limit : 1000` handles an absent number, so P12 doesn't report the read.
  private func isComparedWithZero(_ call: FunctionCallExprSyntax) -> Bool {
    let operators = [">", "==", "!=", ">=", "<="]
    for node in call.ancestors {
      if let sequence = node.as(SequenceExprSyntax.self),
        // The parser doesn't fold operators, so `a ? b : c` and the comparison in it are one
        // sequence.
        sequence.start == call.start
          || sequence.elements.contains(where: { $0.is(UnresolvedTernaryExprSyntax.self) })
      {
        // The read itself, or the same read in the condition of a `?:` around it.
        return operators.contains { sequence.code.hasPrefix(call.code + $0 + "0") }
      }
      guard let binding = node.as(PatternBindingSyntax.self) else { continue }
      let name = binding.pattern.trimmedDescription
      // After the binding any comparison of the name in the function counts, since the flow isn't
      // followed.
      let code = call.scope.code
      return operators.contains { code.contains(name + $0 + "0") }
    }
    return false
  }

  /// What a call does with preferences, by its name and the number of its arguments; nil for any other call.
  ///
  /// The number of arguments keeps out methods of other types with these names, such as
  /// `set(_:forKey:in:)`.
  private func access(_ call: FunctionCallExprSyntax) -> PreferenceUse.Access? {
    switch call.name {
    case "removeObject": .remove
    case "register" where call.argument("defaults") != nil: .register
    case "synchronize" where call.arguments.isEmpty: .synchronize
    case "addObserver" where call.argument("forKeyPath") != nil: .observe
    case let name where Self.writers.contains(name) && call.arguments.count == 2: .write
    case let name where Self.readers.contains(name) && call.arguments.count == 1: .read
    default: nil
    }
  }

  /// The registered defaults as source, because not all of their keys are literals.
  private func registered(_ call: FunctionCallExprSyntax) -> String {
    call.argument("defaults")?.trimmedDescription ?? ""
  }

  /// The type of a written value, as far as the file shows.
  private func type(of value: ExprSyntax) -> String? {
    if let type = VariableTypes.type(of: value) { return type }
    let name = value.code
    guard name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }) else {
      return nil
    }
    // In a setter the value has the type of the property around it.
    if name == "newValue" {
      let variable = value.ancestors.lazy.compactMap { $0.as(VariableDeclSyntax.self) }.first
      return variable?.bindings.first.flatMap { VariableTypes.type(of: $0) }
    }
    // A longer path leads to members of other types, which only a type checker knows.
    let last = name.hasPrefix("self.") ? String(name.dropFirst(5)) : name
    return last.contains(".") ? nil : reader.variables.type(of: last, at: value)
  }

  /// The store that a call is of; nil for any other receiver.
  private func store(of call: FunctionCallExprSyntax) -> PreferenceUse.Store? {
    if let receiver = call.receiver, receiver.code != "self" { return store(receiver) }
    // An extension of the store itself calls its methods without a receiver.
    let type = call.ancestors.first { $0.asProtocol(DeclGroupSyntax.self) != nil }
    switch type?.as(ExtensionDeclSyntax.self)?.extendedType.code.lastComponent {
    case "UserDefaults": return .preferences
    case "NSUbiquitousKeyValueStore": return .cloud
    default: return nil
    }
  }

  /// The store that a receiver is, by its type if the file shows it, otherwise by its name; nil for anything else.
  ///
  /// A known type decides even against the name: a parameter `defaults: KeychainStore` keeps
  /// secrets, and is no finding.
  private func store(_ receiver: ExprSyntax) -> PreferenceUse.Store? {
    var text = receiver.code
    if text.hasPrefix("Foundation.") { text = String(text.dropFirst("Foundation.".count)) }
    if text.contains("NSUbiquitousKeyValueStore") { return .cloud }
    if text.hasPrefix("UserDefaults.") || text.hasPrefix("UserDefaults(")
      || text.hasPrefix("(UserDefaults(")
    {
      return .preferences
    }
    if text.hasPrefix("Preferences.") { return .preferences }
    // `sharedDefaults?.set` has the receiver `sharedDefaults?`.
    while text.hasSuffix("?") || text.hasSuffix("!") { text = String(text.dropLast()) }
    let name = text.lastComponent
    if let type = reader.variables.type(of: name, at: receiver) {
      switch type.elementType {
      case "UserDefaults", "Preferences", "Foundation.UserDefaults": return .preferences
      case "NSUbiquitousKeyValueStore": return .cloud
      default: return nil
      }
    }
    // A type such as `AppDefaults` isn't an instance.
    guard name.first?.isLowercase == true else { return nil }
    return NameWords(name).words.last == "defaults" ? .preferences : nil
  }

  /// Whether a view's property is never used. Only the file is searched, because other types use no properties of a
  /// view.
  ///
  /// Such a property is left over from before the value moved, and P01 gives it a note. A class or
  /// an enumeration isn't asked, since other types may use its members.
  private func isUnused(_ pattern: PatternSyntax) -> Bool {
    let view = pattern.ancestors.lazy.compactMap { $0.as(StructDeclSyntax.self) }.first
    guard
      view?.inheritanceClause?.inheritedTypes.contains(where: { $0.type.code == "View" }) == true
    else { return false }
    let name = pattern.trimmedDescription
    // The value, the binding and the wrapper itself are three names of one property.
    let names: Set = [name, "$" + name, "_" + name]
    return pattern.root.tokens(viewMode: .sourceAccurate).count { token in
      // The name in a string, such as that of the key itself, is no use of the property.
      if case .stringSegment = token.tokenKind { return false }
      return names.contains(token.text) && !isMemberOfAnother(token)
    } == 1
  }

  /// Whether a name is a member of another value: `reply.token`, not `self.token`.
  private func isMemberOfAnother(_ name: TokenSyntax) -> Bool {
    guard let point = name.previousToken(viewMode: .sourceAccurate), point.tokenKind == .period
    else { return false }
    return point.previousToken(viewMode: .sourceAccurate)?.text != "self"
  }

  /// The use of a wrapped property such as `@AppStorage("key") var value = true`.
  ///
  /// Nil for a wrapper whose first argument isn't its key.
  private func wrapper(_ variable: VariableDeclSyntax) -> PreferenceUse? {
    guard let binding = variable.bindings.first else { return nil }
    for case let attribute? in variable.attributes.map({ $0.as(AttributeSyntax.self) }) {
      let name = attribute.attributeName.trimmedDescription
      guard Self.isWrapper(name), case .argumentList(let arguments) = attribute.arguments,
        let key = arguments.first, key.label == nil || key.label?.text == "key"
      else { continue }
      return PreferenceUse(
        store: .preferences, access: .wrapper, method: name, receiver: "",
        key: reader.key(key.expression),
        value: binding.initializer?.value.trimmedDescription,
        valueType: VariableTypes.type(of: binding), isComparedWithZero: false,
        isUnusedProperty: isUnused(binding.pattern), setter: nil, isObservable: false,
        isPutBack: false, isAtFirstLaunch: false, scope: variable.start,
        scopeType: variable.enclosingType,
        place: context.place(binding.pattern),
        keyPlace: context.place(key.expression))
    }
    return nil
  }
}

// MARK: - Facts

/// A use of preferences, or of iCloud's key-value store.
///
/// The cache keeps it, so a change of its properties needs a new version of ``LintCache``.
struct PreferenceUse: Codable, Sendable {
  /// What has the key: `UserDefaults` and this package's `Preferences`, or iCloud's store.
  enum Store: String, Codable { case preferences, cloud }
  /// What the use does. A `wrapper` both reads and writes, and has a default.
  enum Access: String, Codable { case read, write, remove, wrapper, register, synchronize, observe }

  let store: Store
  let access: Access
  /// The name of the method, or of the wrapper.
  let method: String
  /// The receiver's source; `self` without one, and empty for a wrapped property.
  let receiver: String
  /// The key as the source writes it. For `register(defaults:)`, the source of the defaults.
  let key: KeyFact
  /// The source of the written value, or of a wrapped property's default.
  let value: String?
  /// The type of the value, as far as the file shows.
  let valueType: String?
  /// Whether the number that's read is compared with zero, as a check for an absent value.
  let isComparedWithZero: Bool
  /// Whether it's a view's wrapped property that its file never uses, such as one that was left behind when
  /// the value moved.
  let isUnusedProperty: Bool
  /// The property whose setter or observer contains it, unless other modules or Objective-C can change the
  /// property.
  let setter: String?
  /// Whether an `@objc dynamic` property of an extension reads it, which exists to be observed.
  let isObservable: Bool
  /// Whether an XCTest test puts back what it writes, in a `defer` or in `tearDown`.
  let isPutBack: Bool
  /// Whether it's in an `if` whose condition is about a first launch or onboarding.
  let isAtFirstLaunch: Bool
  /// Where the function around it begins. Its name isn't enough, because two accessors share one.
  let scope: Int
  /// The types around it, joined by full stops. Names of keys are looked up in them.
  let scopeType: String
  /// The call, or the name of a wrapped property.
  let place: Place
  /// The expression for the key, or the call if it has none. P09 replaces it.
  let keyPlace: Place
}
