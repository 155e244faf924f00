extension RuleSamples {
  static let p12 = RuleSamples(
    rule: "P12",
    flagged: [
      #"""
      struct V { @AppStorage("playsSounds") var plays = true }
      func play() { if UserDefaults.standard.bool(forKey: "playsSounds") { go() } } // !
      """#,
      #"""
      struct V { @AppStorage("size") var size = 12 }
      // file: Other.swift
      let size = UserDefaults.standard.integer(forKey: "size") // !
      """#,
      #"""
      enum Keys { static let volume = "volume" }
      struct V { @AppStorage(Keys.volume) var volume = 0.8 }
      func v() -> Double { UserDefaults.standard.double(forKey: Keys.volume) } // !
      """#,
      #"""
      struct V { @AppStorage("on", store: .shared) var on: Bool = true }
      func f(defaults: UserDefaults) -> Bool { !defaults.bool(forKey: "on") } // !
      """#,
      #"""
      struct V { @AppStorage("on") var on = true }
      func f() -> Bool { UserDefaults.standard.bool(forKey: "on") } // !
      func g() { UserDefaults.standard.register(defaults: ["off": true]) }
      """#,
      #"""
      struct V { @AppStorage("limit") var limit: Int = 1_000 }
      final class W { let defaults = UserDefaults.standard
        func limit() -> Int { defaults.integer(forKey: "limit") } // !
      }
      """#,
      #"""
      struct V { @AppStorage("on") var on = true }
      func turnOn() { UserDefaults.standard.set(true, forKey: "on") }
      func f() -> Bool { UserDefaults.standard.bool(forKey: "on") } // !
      """#,
      #"""
      struct V { @AppStorage("on") var on = true }
      func f() -> Bool { UserDefaults.standard.bool(forKey: "on") } // !
      // file: AppTests/Tests.swift
      import XCTest
      func testA() { UserDefaults.standard.register(defaults: ["on": true]) }
      """#,
      #"""
      struct V { @AppStorage("on") var on = true }
      func start() {
        guard !UserDefaults.standard.bool(forKey: "launched") else { return }
        UserDefaults.standard.set(false, forKey: "on")
        UserDefaults.standard.set(true, forKey: "launched")
      }
      func f() -> Bool { UserDefaults.standard.bool(forKey: "on") } // !
      """#,
      #"""
      struct V { @AppStorage("on") var on = true }
      func f() -> Bool {
        UserDefaults.standard.value(forKey: "off") == nil && UserDefaults.standard.bool(forKey: "on") // !
      }
      """#,
      #"""
      struct V { @AppStorage("on") var on = true }
      extension UserDefaults {
        @objc dynamic var isOn: Bool { bool(forKey: "on") } // ?
        var isOnNow: Bool { bool(forKey: "on") } // !
      }
      """#,
      #"""
      enum Keys { static let on = "on" }
      struct V { @AppStorage("on") var on = true }
      func f() -> Bool {
        let key = Keys.on
        return UserDefaults.standard.bool(forKey: key) // !
      }
      """#,
    ],
    silent: [
      #"""
      struct V { @AppStorage("limit") var limit = 1000 }
      func purge() { let limit = UserDefaults.standard.integer(forKey: "limit"); use(limit > 0 ? limit : 1000) }
      """#,
      #"struct V { @AppStorage("on") var on = false }; let on = UserDefaults.standard.bool(forKey: "on")"#,
      #"""
      struct V { @AppStorage("on") var on = true }
      func f() { UserDefaults.standard.register(defaults: ["on": true]); use(UserDefaults.standard.bool(forKey: "on")) }
      """#,
      #"""
      struct V { @AppStorage("on") var on = true }
      func f() -> Bool { UserDefaults.standard.object(forKey: "on") == nil || UserDefaults.standard.bool(forKey: "on") }
      """#,
      #"let on = UserDefaults.standard.bool(forKey: "on")"#,
      #"struct V { @AppStorage("one") var on = true }; let on = UserDefaults.standard.bool(forKey: "other")"#,
      #"""
      struct V { @AppStorage("on") var on = true }
      func f() { UserDefaults.standard.register(defaults: allDefaults) }
      func g() -> Bool { UserDefaults.standard.bool(forKey: "on") }
      """#,
      #"""
      struct V { @AppStorage("on") var on = true }
      func seed() {
        let defaults = UserDefaults.standard
        if defaults.object(forKey: "on") == nil { defaults.set(true, forKey: "on") }
      }
      func f() -> Bool { UserDefaults.standard.bool(forKey: "on") }
      """#,
      #"struct V { @AppStorage("n") var n = 0 }; let n = UserDefaults.standard.integer(forKey: "n")"#,
      #"""
      struct V { @AppStorage("on") var on = true }
      func start() {
        guard !UserDefaults.standard.bool(forKey: "launched") else { return }
        UserDefaults.standard.set(true, forKey: "on")
        UserDefaults.standard.set(true, forKey: "launched")
      }
      func f() -> Bool { UserDefaults.standard.bool(forKey: "on") }
      """#,
      #"""
      struct V { @AppStorage("on") var on = true }
      func start() {
        if UserDefaults.standard.value(forKey: "on") == nil { UserDefaults.standard.set(true, forKey: "on") }
      }
      func f() -> Bool { UserDefaults.standard.bool(forKey: "on") }
      """#,
      #"""
      struct V { @AppStorage("width") var width = 240 }
      func width() -> Double {
        frame(min: 100, ideal: UserDefaults.standard.double(forKey: "width") > 0 ? UserDefaults.standard.double(forKey: "width") : 240)
      }
      """#,
      #"""
      func f() -> Bool { UserDefaults.standard.bool(forKey: "on") }
      // file: App Watch/V.swift
      struct V { @AppStorage("on") var on = true }
      """#,
      #"""
      struct V { @AppStorage("on") var on = true }
      // file: AppWidgets/Entry.swift
      func f() -> Bool { UserDefaults.standard.bool(forKey: "on") }
      """#,
    ])
}
