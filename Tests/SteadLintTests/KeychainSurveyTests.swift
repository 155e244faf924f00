import Foundation
import SteadLint
import Testing

/// Items of the keychain that code keeps with `SecItemAdd` and its like.
struct KeychainSurveyTests {
  private func items(_ source: String) throws -> [KeptItem] {
    try Linter(root: URL(filePath: "/")).survey(sources: ["App.swift": source]).items
  }

  private func item(_ source: String) throws -> KeptItem {
    let items = try items(source)
    #expect(items.count == 1, "\(items)")
    return try #require(items.first)
  }

  @Test func `a query in the call is read`() throws {
    let item = try item(
      """
      func add(_ data: Data) -> OSStatus {
        SecItemAdd([
          kSecClass: kSecClassGenericPassword, kSecAttrService: "com.example.app",
          kSecAttrAccount: "token", kSecValueData: data,
          kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock,
          kSecAttrSynchronizable: true,
        ] as CFDictionary, nil)
      }
      """)
    #expect(item.kind == .secret && item.name == "com.example.app/token" && item.isNameKnown)
    let keychain = try #require(item.keychain)
    #expect(keychain.itemClass == "generic password")
    #expect(keychain.service == "com.example.app" && keychain.account == "token")
    #expect(keychain.accessibility == "kSecAttrAccessibleAfterFirstUnlock")
    #expect(keychain.isSynced && item.isSynced)
    #expect(item.writeCount == 1 && item.readCount == 0)
  }

  /// As most apps have it: a query in parts, a constant for the service, the account from outside.
  @Test func `a query in parts is put together`() throws {
    let item = try item(
      """
      enum Names { static let service = "com.example.app" }
      struct Vault {
        private func query(for account: String) -> [String: Any] {
          [
            kSecClass as String: kSecClassInternetPassword, kSecAttrServer as String: Names.service,
            kSecAttrAccount as String: account as AnyObject,
          ]
        }
        func set(_ data: Data, for account: String) {
          var query = query(for: account)
          query[kSecValueData as String] = data
          query[kSecAttrAccessible as String] = kSecAttrAccessibleWhenUnlocked
          let status = SecItemAdd(query as CFDictionary, nil)
          if status == errSecDuplicateItem {
            check(SecItemUpdate(self.query(for: account) as CFDictionary, [kSecValueData: data] as CFDictionary))
          }
        }
        func get(_ account: String) -> Data? {
          var query = self.query(for: account)
          query[kSecReturnData as String] = true
          var result: AnyObject?
          return SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess ? result as? Data : nil
        }
        func remove(_ account: String) { SecItemDelete(query(for: account) as CFDictionary) }
      }
      """)
    #expect(item.name == "com.example.app/<account>" && !item.isNameKnown)
    let keychain = try #require(item.keychain)
    #expect(keychain.itemClass == "internet password" && !keychain.isSynced)
    #expect(keychain.accessibility == "kSecAttrAccessibleWhenUnlocked")
    #expect(item.writeCount == 2 && item.readCount == 1)
  }

  @Test func `queries of other functions are others`() throws {
    let items = try items(
      """
      func a(_ d: Data) -> OSStatus {
        var query: [CFString: Any] = [kSecClass: kSecClassKey]
        query[kSecAttrApplicationTag] = "com.example.key"
        return SecItemAdd(query as CFDictionary, nil)
      }
      func b() -> OSStatus {
        let query: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: "b"]
        return SecItemCopyMatching(query as CFDictionary, nil)
      }
      """)
    #expect(items.map(\.name) == ["com.example.key", "b"])
    #expect(items.map { $0.keychain?.itemClass } == ["key", "generic password"])
    #expect(items.map { $0.keychain?.accessibility } == [nil, nil])
  }

  @Test func `an attribute of an update counts`() throws {
    let item = try item(
      """
      func a(_ query: [CFString: Any]) -> OSStatus {
        SecItemUpdate(query as CFDictionary, [kSecAttrAccessControl: control] as CFDictionary)
      }
      """)
    #expect(item.name == "item" && item.keychain?.accessibility == "an access control")
  }

  @Test func `what is only deleted is not kept`() throws {
    #expect(
      try items("func a() { SecItemDelete([kSecClass: kSecClassKey] as CFDictionary) }").isEmpty)
    #expect(
      try items(
        "import XCTest\nfunc a() { SecItemAdd([kSecClass: kSecClassKey] as CFDictionary, nil) }"
      )
      .isEmpty)
  }

  /// A value that is encoded for a query is the item's, and none of its own.
  @Test func `an encoded value is the item`() throws {
    let item = try item(
      """
      struct Session: Codable { var id = "" }
      func keep(_ session: Session) throws -> OSStatus {
        let data = try JSONEncoder().encode(session)
        let query: [CFString: Any] = [
          kSecClass: kSecClassGenericPassword, kSecAttrService: "s", kSecAttrAccount: "a",
          kSecValueData: data,
        ]
        return SecItemAdd(query as CFDictionary, nil)
      }
      """)
    #expect(item.name == "s/a" && item.form == .encoded)
  }

  @Test func `rules about the query are about the item`() throws {
    let survey = try Linter(root: URL(filePath: "/")).survey(sources: [
      "App.swift": """
      func a(_ data: Data) -> OSStatus {
        let query: [CFString: Any] = [
          kSecClass: kSecClassGenericPassword,
          kSecAttrAccount: "a",
          kSecAttrAccessible: kSecAttrAccessibleAlways,
        ]
        return SecItemAdd(query as CFDictionary, nil)
      }
      """
    ])
    let item = try #require(survey.items.first)
    #expect(Set(survey.findings(about: item).map(\.ruleID)) == ["P27", "P29", "P30"])
  }
}
