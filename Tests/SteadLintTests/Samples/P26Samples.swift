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
}
