extension RuleSamples {
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
}
