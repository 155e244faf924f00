import SwiftSyntax

private let flaw = RuleID(id: "P28", name: "keychain-status-ignored", level: .warning)

extension Rule {
  static let keychainStatusIgnored = Rule(
    flaw,
    summary: "The status of `SecItemAdd` or `SecItemUpdate` is ignored.",
    why: """
      Both return the reason if nothing was written: the device is locked, the item exists, an entitlement is \
      missing. Code that ignores the status assumes that the secret was saved, and finds none at the next launch.
      """,
    bad: "SecItemAdd(query as CFDictionary, nil)",
    good: """
      let status = SecItemAdd(query as CFDictionary, nil)
      guard status == errSecSuccess else { throw KeychainError(status) }
      """,
    avoids: [
      "`SecItemDelete`, which is often called for what may be absent.",
      "A status that is returned, compared or passed on.",
    ],
    inFile: { file in
      file.walk.calls.compactMap { call in
        guard ["SecItemAdd", "SecItemUpdate"].contains(call.name), isIgnored(call) else {
          return nil
        }
        return Finding(
          flaw,
          "A failure of `\(call.name)` goes unnoticed; compare its status with `errSecSuccess`.",
          at: file.place(call))
      }
    })
}

private func isIgnored(_ call: FunctionCallExprSyntax) -> Bool {
  guard let parent = call.parent else { return false }
  if parent.is(CodeBlockItemSyntax.self) { return !isResult(parent, of: call) }
  let sequence = parent.as(SequenceExprSyntax.self) ?? parent.parent?.as(SequenceExprSyntax.self)
  return sequence?.code.hasPrefix("_=") == true
}

/// Whether the call is the only expression of a function or closure, and so may be its result.
private func isResult(_ item: Syntax, of call: FunctionCallExprSyntax) -> Bool {
  guard let list = item.parent?.as(CodeBlockItemListSyntax.self), list.count == 1 else {
    return false
  }
  for node in list.ancestors.dropFirst() {
    if let function = node.as(FunctionDeclSyntax.self) {
      return function.signature.returnClause != nil
    }
    if node.is(ClosureExprSyntax.self) { return true }
    if node.is(AccessorBlockSyntax.self) || node.is(IfExprSyntax.self)
      || node.is(SwitchCaseSyntax.self)
    {
      return true
    }
  }
  return false
}
