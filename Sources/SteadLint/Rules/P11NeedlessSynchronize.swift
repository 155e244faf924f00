import SwiftSyntax

private let flaw = RuleID(id: "P11", name: "needless-synchronize", level: .warning)

extension Rule {
  static let needlessSynchronize = Rule(
    flaw, isFixable: true,
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
      guard isApples(file.walk.imports) else { return [] }
      let variables = VariableTypes(file.walk)
      return file.walk.calls.compactMap { call in
        guard call.name == "synchronize", call.arguments.isEmpty, let receiver = call.receiver,
          isPreferences(receiver, variables)
        else { return nil }
        return Finding(
          flaw,
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
private func missing(in index: ProjectIndex) -> [Finding] {
  let imports = index.files.reduce(into: Set<String>()) { $0.formUnion($1.imports) }
  guard !imports.isDisjoint(with: linuxModules), !isApples(imports),
    !imports.contains("SteadPreferences"),
    !index.preferences.contains(where: { $0.access == .synchronize })
  else { return [] }
  let writes = index.preferences.filter {
    $0.access == .write && $0.store == .preferences && index.isShipped($0.place)
  }
  return Dictionary(grouping: writes, by: \.place.path).values.compactMap { uses in
    uses.min { $0.place.precedes($1.place) }.map { use in
      Finding(
        flaw,
        "Foundation on Linux writes this only in `synchronize()`, which nothing calls; use `Preferences`.",
        at: use.place)
    }
  }
}

/// Whether the imports include a framework that only Apple's systems have.
private func isApples(_ imports: Set<String>) -> Bool {
  !imports.isDisjoint(with: [
    "AppKit", "Cocoa", "SwiftUI", "UIKit", "WatchKit", "WidgetKit", "Combine", "CoreData",
    "CoreLocation", "StoreKit",
    "UserNotifications", "AVFoundation", "Photos", "WebKit", "CloudKit", "HealthKit", "IOKit",
    "Carbon", "ServiceManagement",
  ])
}

/// Whether it's an instance of `UserDefaults`, by its declared type or else by its name.
private func isPreferences(_ receiver: ExprSyntax, _ variables: VariableTypes) -> Bool {
  let code = receiver.code
  if code.hasPrefix("UserDefaults.") || code.hasPrefix("UserDefaults(") { return true }
  let name = code.filter { $0 != "?" && $0 != "!" }.lastComponent
  if let type = variables.type(of: name, at: receiver) { return type.elementType == "UserDefaults" }
  return NameWords(name).words.last == "defaults"
    || unwrapped(name, in: receiver.scope).map { isPreferences($0, variables) } == true
}

/// The expression that `if let` or `guard let` binds to a name.
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
private func fix(_ call: FunctionCallExprSyntax, in file: FileContext) -> Fix? {
  var node = Syntax(call)
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
  guard place.sourceLine.trimmed == item.trimmedDescription else { return nil }
  let start = place.offset - (place.column - 1)
  return Fix(
    "Remove the call",
    [.init(offset: start, length: place.sourceLine.utf8.count + 1, replacement: "")])
}
