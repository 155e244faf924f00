extension RuleSamples {
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
}
