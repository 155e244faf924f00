import SwiftSyntax

private let flaw = RuleID(id: "P27", name: "keychain-always-accessible", level: .error)

extension Rule {
  static let keychainAlwaysAccessible = Rule(
    flaw,
    summary:
      "A keychain item can be read while the device is locked, even before its first unlock.",
    why: """
      The item isn't protected by the passcode: anyone with the device can read it. Apple has deprecated these values.
      """,
    bad: "query[kSecAttrAccessible] = kSecAttrAccessibleAlways",
    good: "query[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlock",
    avoids: [
      "Code that names the value without setting it: in a `switch` over all values, or to compare."
    ],
    inFile: { file in
      file.walk.keychainNames.compactMap { name in
        guard
          ["kSecAttrAccessibleAlways", "kSecAttrAccessibleAlwaysThisDeviceOnly"].contains(
            name.baseName.text),
          isSet(name)
        else { return nil }
        return Finding(
          flaw,
          "The passcode doesn't protect this item; use `kSecAttrAccessibleAfterFirstUnlock` or a stricter value.",
          at: file.place(name))
      }
    })
}

/// Whether a value goes into a query: as a dictionary's value, or assigned to an entry of one.
private func isSet(_ name: DeclReferenceExprSyntax) -> Bool {
  for node in name.ancestors {
    if let element = node.as(DictionaryElementSyntax.self) {
      return element.value.start <= name.start
    }
    // `value as String` is a sequence, too, inside the one that assigns.
    if let sequence = node.as(SequenceExprSyntax.self), sequence.start != name.start {
      return sequence.code.contains("]=") && !sequence.code.contains("==")
    }
    if node.is(CodeBlockItemSyntax.self) || node.is(SwitchCaseSyntax.self) { return false }
  }
  return false
}
