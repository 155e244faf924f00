extension RuleSamples {
  static let p27 = RuleSamples(
    rule: "P27",
    flagged: [
      "query[kSecAttrAccessible] = kSecAttrAccessibleAlways // !",
      "let q: [CFString: Any] = [kSecAttrAccessible: kSecAttrAccessibleAlways] // !",
      "query[kSecAttrAccessible as String] = kSecAttrAccessibleAlwaysThisDeviceOnly // !",
      "let q = [kSecAttrAccessible as String: kSecAttrAccessibleAlways as String] // !",
      "func a() { self.query[String(kSecAttrAccessible)] = kSecAttrAccessibleAlways as String } // !",
      """
      let q: [CFString: Any] = [
        kSecClass: kSecClassKey,
        kSecAttrAccessible: kSecAttrAccessibleAlwaysThisDeviceOnly, // !
      ]
      """,
    ],
    silent: [
      "query[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlock",
      "func f() -> CFString { switch self { case .always: return kSecAttrAccessibleAlways } }",
      "let isOpen = value == kSecAttrAccessibleAlways",
      "let all = [kSecAttrAccessibleAlways, kSecAttrAccessibleWhenUnlocked]",
      "let names: [CFString: String] = [kSecAttrAccessibleAlways: \"always\"]",
      "func f() { print(kSecAttrAccessibleAlwaysThisDeviceOnly) }",
    ])
}
