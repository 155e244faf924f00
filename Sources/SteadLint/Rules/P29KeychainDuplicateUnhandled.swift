private let flaw = RuleID(id: "P29", name: "keychain-duplicate-unhandled", level: .warning)

extension Rule {
  static let keychainDuplicateUnhandled = Rule(
    flaw,
    summary: "An item is added to the keychain, and nothing handles an item that already exists.",
    why: """
      `SecItemAdd` refuses an item that already exists, even after the app was deleted and installed again. The new \
      secret then isn't kept, and the old one comes back.
      """,
    bad: "let status = SecItemAdd(query as CFDictionary, nil)",
    good: """
      var status = SecItemAdd(query as CFDictionary, nil)
      if status == errSecDuplicateItem {
        status = SecItemUpdate(search as CFDictionary, [kSecValueData: data] as CFDictionary)
      }
      """,
    avoids: [
      "Files that update or delete items, or name `errSecDuplicateItem`."
    ],
    inFile: { file in
      let names = Set(file.walk.calls.map(\.name))
      guard names.contains("SecItemAdd"),
        names.isDisjoint(with: ["SecItemUpdate", "SecItemDelete"]),
        !file.mentionsDuplicate
      else { return [] }
      return file.walk.calls.filter { $0.name == "SecItemAdd" }.map { call in
        Finding(
          flaw,
          "An item that already exists isn't replaced; update it if the status is `errSecDuplicateItem`.",
          at: file.place(call))
      }
    })
}

extension FileContext {
  /// Whether the code mentions the status of an item that already exists.
  fileprivate var mentionsDuplicate: Bool {
    walk.calls.first?.root.mentions("errSecDuplicateItem") ?? false
  }
}
