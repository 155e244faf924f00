import SwiftSyntax

private let flaw = RuleID(id: "P30", name: "keychain-without-service", level: .warning)

extension Rule {
  static let keychainWithoutService = Rule(
    flaw,
    summary: "A query for generic passwords has no service.",
    why: """
      It matches the items of every library in the app, and of other apps of the group. A read finds another's secret, and \
      a deletion removes them all.
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
      "Accounts that begin with the app's bundle identifier.",
      "Other classes of items: keys, certificates, internet passwords.",
    ],
    inFile: { file in
      guard !file.keychainNames.contains("kSecAttrService") else { return [] }
      return file.walk.keychainNames.compactMap { name in
        guard name.baseName.text == "kSecClassGenericPassword", isInQuery(name) else { return nil }
        return Finding(
          flaw,
          "Without `kSecAttrService` the query matches the items of other code, too; name a service.",
          at: file.place(name))
      }
    })
}

/// Whether the account of the same query has the app's identifier in it, as a service would.
private func namesApp(around element: DictionaryElementSyntax) -> Bool {
  element.parent?.as(DictionaryElementListSyntax.self)?.contains { other in
    other.key.code.hasPrefix("kSecAttrAccount") && other.value.mentions("bundleIdentifier")
  } ?? false
}

/// Whether it's the class of a query, and not one of a list of classes.
private func isInQuery(_ name: DeclReferenceExprSyntax) -> Bool {
  for node in name.ancestors {
    if let element = node.as(DictionaryElementSyntax.self) {
      return element.key.code.hasPrefix("kSecClass") && !namesApp(around: element)
    }
    if node.is(ArrayElementSyntax.self) || node.is(CodeBlockItemSyntax.self) { break }
  }
  return name.ancestors.lazy.compactMap { $0.as(SequenceExprSyntax.self) }.first?.code.contains(
    "[kSecClass") ?? false
}
