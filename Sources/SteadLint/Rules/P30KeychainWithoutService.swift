import SwiftSyntax

private let flaw = RuleID(id: "P30", name: "keychain-without-service", level: .warning)

extension Rule {
  static let keychainWithoutService = Rule(
    flaw,
    summary: "A query for generic passwords has no service.",
    why: """
      It matches the items of every library in the app, and of other apps of the group. A read finds the secret of \
      other code, and a deletion removes all of them.
      """,
    bad: """
      let query: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrAccount: account]
      """,
    good: """
      let query: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword, kSecAttrService: "com.example.app", kSecAttrAccount: account,
      ]
      """,
    avoids: [
      "Files that set a service anywhere, since queries are made in parts.",
      "Accounts that begin with the app's bundle identifier or with a name like `com.example.app`, even through a constant or a parameter.",
      "Other classes of items: keys, certificates, internet passwords.",
    ],
    inFile: { file in
      guard !file.keychainNames.contains("kSecAttrService") else { return [] }
      return file.walk.keychainNames.compactMap { name in
        guard name.baseName.text == "kSecClassGenericPassword", isInQuery(name, file.walk)
        else { return nil }
        return Finding(
          flaw,
          "Without `kSecAttrService` the query matches the items of other code, too; name a service.",
          at: file.place(name))
      }
    })
}

/// Whether the account of the same query contains the app's identifier, as a service would.
private func namesApp(around element: DictionaryElementSyntax, _ walk: SyntaxWalk) -> Bool {
  element.parent?.as(DictionaryElementListSyntax.self)?.contains { other in
    guard other.key.code.hasPrefix("kSecAttrAccount") else { return false }
    if other.value.mentions("bundleIdentifier") { return true }
    let values = values(of: other.value, walk, isParameter: true)
    return !values.isEmpty && values.allSatisfy { isReverseName($0.code) }
  } ?? false
}

/// The values that an account can have in the file: a literal, a constant's value, or the arguments that calls pass for
/// a parameter.
private func values(
  of account: ExprSyntax, _ walk: SyntaxWalk, isParameter: Bool
) -> [ExprSyntax] {
  if account.is(StringLiteralExprSyntax.self) { return [account] }
  let name = account.code.lastComponent
  let constants = walk.variables.flatMap(\.bindings).filter {
    $0.pattern.trimmedDescription == name
  }.compactMap { $0.initializer?.value }
  if !constants.isEmpty || !isParameter { return constants }
  guard let function = account.scope.as(FunctionDeclSyntax.self),
    let parameter = function.signature.parameterClause.parameters.first(where: {
      ($0.secondName ?? $0.firstName).text == name
    })
  else { return [] }
  return walk.calls.filter { $0.name == function.name.text }.flatMap { call -> [ExprSyntax] in
    guard let given = call.argument(parameter.firstName.text) else { return [] }
    return values(of: given, walk, isParameter: false)
  }
}

/// Whether a literal is a name like `com.example.app.token`, which no other program uses.
private func isReverseName(_ literal: String) -> Bool {
  let parts = literal.trimmingPrefix("\"").split(separator: ".")
  return literal.hasPrefix("\"") && parts.count > 2 && (2...4).contains(parts[0].count)
    && parts[0].allSatisfy { $0.isLetter && $0.isLowercase }
}

/// Whether it's the class of a query, not one of a list of classes.
private func isInQuery(_ name: DeclReferenceExprSyntax, _ walk: SyntaxWalk) -> Bool {
  for node in name.ancestors {
    if let element = node.as(DictionaryElementSyntax.self) {
      return element.key.code.hasPrefix("kSecClass") && !namesApp(around: element, walk)
    }
    if node.is(ArrayElementSyntax.self) || node.is(CodeBlockItemSyntax.self) { break }
  }
  return name.ancestors.lazy.compactMap { $0.as(SequenceExprSyntax.self) }.first?.code.contains(
    "[kSecClass") ?? false
}
