extension RuleSamples {
  static let p30 = RuleSamples(
    rule: "P30",
    flagged: [
      "let q: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrAccount: a] // !",
      "let q = [kSecClass as String: kSecClassGenericPassword] // !",
      "query[kSecClass] = kSecClassGenericPassword // !",
      "func f() { query[kSecClass as String] = kSecClassGenericPassword } // !",
      "SecItemDelete([kSecClass: kSecClassGenericPassword] as CFDictionary) // !",
      "let q: [CFString: Any] = [\n  kSecClass: kSecClassGenericPassword, // !\n  kSecReturnData: true,\n]",
      """
      let account = "token"
      func read() { SecItemDelete([kSecClass: kSecClassGenericPassword, kSecAttrAccount: account] as CFDictionary) } // !
      """,
      """
      func read(_ account: String) -> [CFString: Any] { [kSecClass: kSecClassGenericPassword, kSecAttrAccount: account] } // !
      let a = read("com.example.app.token")
      let b = read("token")
      """,
    ],
    silent: [
      "let q: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: s]",
      "let q: [CFString: Any] = [kSecClass: kSecClassKey]",
      "for c in [kSecClassGenericPassword, kSecClassKey] { wipe(c) }",
      "let q = [kSecClass: kSecClassGenericPassword]; func f() { query[kSecAttrService] = name }",
      "let isPassword = item == kSecClassGenericPassword",
      "query[kSecClass] = kSecClassInternetPassword",
      """
      enum Keys { static let token = "com.example.app.token" }
      let q: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrAccount: Keys.token]
      """,
      """
      let token = "com.example.app.token"
      func read(account: String) -> [CFString: Any] { [kSecClass: kSecClassGenericPassword, kSecAttrAccount: account] }
      let a = read(account: token)
      """,
      """
      let q = [kSecClass: kSecClassGenericPassword, kSecAttrAccount: "\\(Bundle.main.bundleIdentifier!).token"]
      """,
    ])
}
