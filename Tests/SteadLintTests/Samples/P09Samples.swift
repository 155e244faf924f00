extension RuleSamples {
  static let p09 = RuleSamples(
    rule: "P09",
    flagged: [
      #"""
      func a() { UserDefaults.standard.set(1, forKey: "size") } // ?
      func b() -> Int { UserDefaults.standard.integer(forKey: "size") }
      """#,
      #"""
      func a() { UserDefaults.standard.set(true, forKey: "didOnboard") }
      func b() -> Bool { UserDefaults.standard.bool(forKey: "didOnbord") } // !
      """#,
      #"""
      enum DefaultsKeys {
        static let theme = "theme"
      }
      func a() { UserDefaults.standard.set("dark", forKey: "theme") } // ?
      """#,
      #"""
      struct A { @AppStorage("fontSize") var size = 12 } // ?
      // file: B.swift
      struct B { @AppStorage("fontSize") var size = 12 }
      """#,
      #"""
      extension Settings { enum Key {} }
      extension Settings.Key { static let count = "entryCount" }
      // file: Use.swift
      func use() -> Int { defaults.integer(forKey: "entryCount") } // ?
      """#,
      #"""
      func a() { defaults.set(3, forKey: "retries") }
      func b() -> Int { defaults.integer(forKey: "retriess") } // !
      """#,
    ],
    silent: [
      #"func a() { UserDefaults.standard.set(1, forKey: "size") }"#,
      #"""
      enum Keys { static let size = "size" }
      func a() { UserDefaults.standard.set(1, forKey: Keys.size) }
      func b() -> Int { UserDefaults.standard.integer(forKey: Keys.size) }
      """#,
      #"""
      func a() { UserDefaults.standard.set(1, forKey: "volume1") }
      func b() -> Int { UserDefaults.standard.integer(forKey: "volume2") }
      """#,
      #"""
      func a() { keychain.set("a", forKey: "size") }
      func b() { keychain.set("b", forKey: "size") }
      """#,
      #"""
      func a() { UserDefaults.standard.set(1, forKey: "width") }
      func b() -> Int { UserDefaults.standard.integer(forKey: "height") }
      """#,
      #"func a() { UserDefaults.standard.set(1, forKey: "n"); print(UserDefaults.standard.integer(forKey: "n")) }"#,
    ])
}
