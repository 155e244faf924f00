import SwiftSyntax

/// Finds where a list gets longer, and whether something makes it shorter again.
struct GrowthReader {
  let context: FileContext

  private static let growing: Set<String> = ["append", "insert"]
  private static let capping: Set<String> = [
    "prefix", "suffix", "removeLast", "removeFirst", "dropFirst", "dropLast", "popLast",
    "removeSubrange",
  ]
  private static let limits: Set<String> = [
    "max", "maximum", "limit", "limits", "cap", "capacity", "trim", "trimmed", "prune", "pruned",
    "evict",
  ]

  /// The first call that adds to a property in the type around its encoding; nil for one that has a limit.
  func growth(of argument: ExprSyntax) -> Place? {
    var name = argument.code
    if name.hasPrefix("self.") { name = String(name.dropFirst(5)) }
    guard !name.isEmpty, name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }),
      let group = argument.ancestors.lazy.compactMap({ $0.asProtocol(DeclGroupSyntax.self) }).first
    else { return nil }
    let members = group.memberBlock
    let calls = context.walk.calls.filter { call in
      guard call.start >= members.start, call.end <= members.end,
        let receiver = call.receiver?.code.filter({ $0 != "?" && $0 != "!" })
      else { return false }
      return receiver == name || receiver == "self." + name
    }
    guard let first = calls.first(where: { Self.growing.contains($0.name) && hasElement($0) }),
      !calls.contains(where: { Self.capping.contains($0.name) }), !isLimited(members, name)
    else { return nil }
    return context.place(first)
  }

  private func hasElement(_ call: FunctionCallExprSyntax) -> Bool {
    call.name == "append" ? call.arguments.count == 1 : call.argument("at") != nil
  }

  /// Whether the type compares the list's length, or speaks of a limit.
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
