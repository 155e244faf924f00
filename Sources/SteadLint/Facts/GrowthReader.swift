import SwiftSyntax

/// Finds where a list grows, and whether something shortens it.
///
/// Rule P08 reports a list that is encoded as a whole and only grows. A word such as `limit`
/// anywhere in the type is enough to stay silent: how a limit is kept can't be told without running
/// the code.
///
/// The type is the innermost one around the call that encodes. An extension in another place isn't
/// looked at.
struct GrowthReader {
  let context: FileContext

  /// Methods that can add one element.
  private static let growing: Set<String> = ["append", "insert"]
  /// Methods by which code keeps a list at a length.
  private static let capping: Set<String> = [
    "prefix", "suffix", "removeLast", "removeFirst", "dropFirst", "dropLast", "popLast",
    "removeSubrange",
  ]
  /// Methods that look for elements or put them in an order.
  private static let searching: Set<String> = [
    "filter", "first", "firstIndex", "sorted", "sort", "lastIndex",
  ]
  /// Words in the names of limits, and of functions that keep one.
  private static let limits: Set<String> = [
    "max", "maximum", "limit", "limits", "cap", "capacity", "trim", "trimmed", "prune", "pruned",
    "evict",
  ]

  /// The first call that adds an element to an encoded property, in the type that encodes it; nil if it has a
  /// limit.
  ///
  /// The place is that of the `append` or `insert`, since a limit belongs there and not at the
  /// encoding.
  func growth(of argument: ExprSyntax) -> Place? {
    guard let (name, members) = property(argument) else { return nil }
    let calls = calls(on: name, in: members)
    guard let first = calls.first(where: { Self.growing.contains($0.name) && hasElement($0) }),
      // `remove` isn't among these methods, since deleting single entries keeps no list short. The
      // survey asks for it apart, by `isEdited`.
      !calls.contains(where: { Self.capping.contains($0.name) }), !isLimited(members, name)
    else { return nil }
    return context.place(first)
  }

  /// What the type that encodes a property does with it; nil for anything but a property.
  func use(of argument: ExprSyntax) -> ListUse? {
    guard let (name, members) = property(argument) else { return nil }
    // By names alone: what a call does to the list depends on its arguments.
    let names = Set(calls(on: name, in: members).map(\.name))
    return ListUse(
      limit: limit(of: name, in: members.code), isSearched: !names.isDisjoint(with: Self.searching),
      isEdited: !names.isDisjoint(with: ["remove", "removeAll"]))
  }

  /// The property that an argument names, and the members of the type around it; nil for any other expression.
  ///
  /// A local variable can't be told from a property here.
  private func property(_ argument: ExprSyntax) -> (name: String, members: MemberBlockSyntax)? {
    var name = argument.code
    if name.hasPrefix("self.") { name = String(name.dropFirst(5)) }
    guard !name.isEmpty, name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }),
      let group = argument.ancestors.lazy.compactMap({ $0.asProtocol(DeclGroupSyntax.self) }).first
    else { return nil }
    return (name, group.memberBlock)
  }

  /// The calls of methods of a property, with or without `self`.
  ///
  /// Optional chaining makes no difference: `items?.append(item)` is a call on `items`.
  private func calls(on name: String, in members: MemberBlockSyntax) -> [FunctionCallExprSyntax] {
    context.walk.calls.filter { call in
      guard call.start >= members.start, call.end <= members.end,
        let receiver = call.receiver?.code.filter({ $0 != "?" && $0 != "!" })
      else { return false }
      return receiver == name || receiver == "self." + name
    }
  }

  // MARK: - Limits

  /// The figure after `items.count >`, `items.prefix(` and the like, or the value of a constant there.
  ///
  /// The survey shows it, and advises by it whether the list is short enough for one key.
  private func limit(of name: String, in code: String) -> Int? {
    // `>=` before `>`, which would find the same place and leave the `=` before the figure.
    for head in [".count>=", ".count>", ".prefix(", ".suffix("] {
      guard let found = code.firstRange(of: name + head) else { continue }
      let rest = code[found.upperBound...]
      // `1_000` is one figure.
      if let figure = Int(rest.prefix { $0.isNumber || $0 == "_" }.filter { $0 != "_" }) {
        // `items.count > 0` checks for an empty list, not for a limit.
        if figure > 1 { return figure }
        continue
      }
      let constant = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
      // A call isn't a constant.
      guard !rest.dropFirst(constant.count).hasPrefix("(") else { continue }
      if let figure = value(of: String(constant).lastComponent) { return figure }
    }
    return nil
  }

  /// The number that a constant of the file has; nil unless it is a literal.
  ///
  /// The first constant with the name counts, in whichever type it is.
  private func value(of constant: String) -> Int? {
    for binding in context.walk.variables.flatMap(\.bindings)
    where binding.pattern.trimmedDescription == constant {
      return binding.initializer.flatMap { Int($0.value.code.filter { $0 != "_" }) }
    }
    return nil
  }

  /// Whether a call adds an element: an `append` of one, or an `insert` with an index. What
  /// `append(contentsOf:)` adds may be a list with a limit of its own.
  private func hasElement(_ call: FunctionCallExprSyntax) -> Bool {
    guard call.name == "append" else { return call.argument("at") != nil }
    return call.arguments.count == 1 && call.arguments.first?.label == nil
  }

  /// Whether the type compares the list's length, or has a name such as `limit`.
  ///
  /// Either is taken for a limit, wherever in the type it stands and whatever it does there.
  private func isLimited(_ members: MemberBlockSyntax, _ name: String) -> Bool {
    let comparison = name + ".count"
    let code = members.code
    if ["<", ">"].contains(where: { code.contains(comparison + $0) }) { return true }
    return members.tokens(viewMode: .sourceAccurate).contains { token in
      guard case .identifier(let text) = token.tokenKind else { return false }
      return NameWords(text).contains(anyOf: Self.limits)
    }
  }
}
