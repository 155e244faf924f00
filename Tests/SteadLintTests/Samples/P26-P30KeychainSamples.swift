extension RuleSamples {
  static let p26 = RuleSamples(
    rule: "P26",
    flagged: [
      """
      func add(_ data: Data) -> OSStatus {
        let query: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: "a", kSecValueData: data]
        return SecItemAdd(query as CFDictionary, nil) // ?
      }
      """,
      """
      func add() -> OSStatus {
        var query = [String: Any]()
        query[kSecClass as String] = kSecClassGenericPassword
        return SecItemAdd(query as CFDictionary, nil) // ?
      }
      """,
      """
      enum Keychain {
        static func base() -> [CFString: Any] { [kSecClass: kSecClassKey] }
        static func add() -> OSStatus { SecItemAdd(base() as CFDictionary, nil) } // ?
      }
      """,
      """
      func a() throws { try check(SecItemAdd([kSecClass: kSecClassInternetPassword] as CFDictionary, nil)) } // ?
      """,
      """
      let query = [kSecClass: kSecClassGenericPassword] as CFDictionary
      func a() -> OSStatus { SecItemAdd(query, nil) } // ?
      func b() -> OSStatus { SecItemDelete(query) }
      """,
      """
      func a() -> OSStatus {
        let attributes: NSDictionary = [kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "a"]
        let status = SecItemAdd(attributes, nil) // ?
        return status
      }
      """,
      """
      import AppKit
      func a() throws { try check(SecItemAdd([kSecClass: kSecClassKey] as CFDictionary, nil)) } // ?
      """,
      """
      import AppKit
      func a() throws {
        let query: [CFString: Any] = [kSecClass: kSecClassKey, kSecUseDataProtectionKeychain: true]
        try check(SecItemAdd(query as CFDictionary, nil)) // ?
      }
      """,
      """
      import AppKit
      func a() throws { try check(SecItemAdd([kSecClass: kSecClassKey] as CFDictionary, nil)) } // ?
      // file: Phone.swift
      import UIKit
      """,
      """
      func add(_ certificate: SecCertificate, _ key: SecKey) -> OSStatus {
        let one: [CFString: Any] = [kSecClass: kSecClassCertificate, kSecValueRef: certificate]
        guard SecItemAdd(one as CFDictionary, nil) == errSecSuccess else { return errSecParam }
        let other: [CFString: Any] = [kSecClass: kSecClassKey, kSecValueRef: key]
        return SecItemAdd(other as CFDictionary, nil) // ?
      }
      """,
    ],
    silent: [
      #"""
      func add(access: AccessOptions?) {
        let accessible = access?.value ?? AccessOptions.standard.value
        let query: [String: Any] = [kSecClass as String: kSecClassGenericPassword, Constants.accessible: accessible]
        status = SecItemAdd(query as CFDictionary, nil)
      }
      """#,
      """
      func a() -> OSStatus {
        SecItemAdd([kSecClass: kSecClassKey, kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock] as CFDictionary, nil)
      }
      """,
      "func a() -> OSStatus { SecItemAdd([kSecClass: kSecClassKey, kSecAttrAccessControl: c] as CFDictionary, nil) }",
      "func a() -> OSStatus { SecItemDelete([kSecClass: kSecClassKey] as CFDictionary) }",
      "func a(_ query: CFDictionary) -> OSStatus { SecItemAdd(query, nil) }",
      """
      func add(_ certificate: SecCertificate) -> OSStatus {
        let query: [String: Any] = [kSecClass as String: kSecClassCertificate, kSecValueRef as String: certificate]
        return SecItemAdd(query as CFDictionary, nil)
      }
      """,
      "func a() -> OSStatus { SecItemCopyMatching([kSecClass: kSecClassKey] as CFDictionary, nil) }",
      """
      var query: [CFString: Any] = [kSecClass: kSecClassKey]
      func a() -> OSStatus {
        query[kSecAttrAccessible] = accessibility
        return SecItemAdd(query as CFDictionary, nil)
      }
      """,
    ])

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

  static let p28 = RuleSamples(
    rule: "P28",
    flagged: [
      "func a() { SecItemDelete(q); SecItemAdd(q, nil) } // !",
      "func a() { _ = SecItemAdd(q, nil) } // !",
      "func a() { SecItemUpdate(q, r) } // !",
      "func a() { if x { SecItemUpdate(q, r); done() } } // !",
      "func a() {\n  SecItemAdd(q as CFDictionary, nil) // !\n  print(1)\n}",
      "class A { init() { prepare(); SecItemAdd(q, nil) } } // !",
    ],
    silent: [
      "func a() { SecItemDelete(q) }",
      "func a() -> OSStatus { SecItemAdd(q, nil) }",
      "func a() { let status = SecItemAdd(q, nil); check(status) }",
      "func a() -> Bool { SecItemAdd(q, nil) == errSecSuccess }",
      "func a() -> OSStatus { print(1); return SecItemUpdate(q, r) }",
      "func a() { guard SecItemAdd(q, nil) == errSecSuccess else { return } }",
      "let add = { SecItemAdd(q, nil) }",
    ])

  static let p29 = RuleSamples(
    rule: "P29",
    flagged: [
      "func a() -> OSStatus { SecItemAdd(q, nil) } // !",
      "func a() throws { guard SecItemAdd(q, nil) == errSecSuccess else { throw E() } } // !",
      "func a() {\n  let s = SecItemAdd(q, nil) // !\n  print(s)\n}\nfunc b() { SecItemCopyMatching(q, nil) }",
      "struct K { func set() -> Bool { SecItemAdd(q, nil) == noErr } } // !",
      "func a() { _ = SecItemAdd(q as CFDictionary, nil) } // !",
      "func a() {\n  SecItemAdd(q, nil) // !\n  SecItemAdd(r, nil) // !\n}",
    ],
    silent: [
      "func a() { SecItemDelete(q); SecItemAdd(q, nil) }",
      "func a() { let s = SecItemAdd(q, nil); if s == errSecDuplicateItem { replace() } }",
      "func a() { if SecItemUpdate(q, r) != 0 { SecItemAdd(q, nil) } }",
      "func a() { SecItemCopyMatching(q, nil) }",
      "func a() { switch SecItemAdd(q, nil) { case errSecDuplicateItem: break; default: break } }",
      "func remove() { SecItemDelete(q) }; func add() { SecItemAdd(q, nil) }",
    ])

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
