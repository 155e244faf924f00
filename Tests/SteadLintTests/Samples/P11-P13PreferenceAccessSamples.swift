extension RuleSamples {
  static let p11 = RuleSamples(
    rule: "P11",
    flagged: [
      """
      import UIKit
      func a() {
        UserDefaults.standard.set(1, forKey: "a")
        UserDefaults.standard.synchronize() // !
      }
      """,
      """
      import SwiftUI
      func a(defaults: UserDefaults) {
        print(1)
        defaults.synchronize() // !
        print(2)
      }
      """,
      """
      import AppKit
      func a() { _ = UserDefaults.standard.synchronize() } // !
      """,
      """
      import UIKit
      func a() {
        UserDefaults(suiteName: "group")?.synchronize() // !
      }
      """,
      """
      import WidgetKit
      func a() {
        sharedDefaults?.set(2, forKey: "b")
        sharedDefaults?.synchronize() // !
      }
      """,
      """
      import Cocoa
      class A {
        let userDefaults = UserDefaults.standard
        func b() {
          self.userDefaults.synchronize() // !
        }
      }
      """,
      """
      import FoundationNetworking
      func a() { UserDefaults.standard.set(1, forKey: "a") } // !
      """,
      """
      // file: A.swift
      import Vapor
      // file: B.swift
      func a() {
        UserDefaults.standard.set(1, forKey: "a") // !
        UserDefaults.standard.set(2, forKey: "b")
      }
      """,
      #"""
      import UIKit
      class Store {
        var kept: UserDefaults?
        func save() {
          guard let d = kept else { return }
          d.synchronize() // !
          done()
        }
      }
      """#,
      #"""
      import UIKit
      class Store {
        var kept: UserDefaults?
        func save() {
          kept?.synchronize() // !
          done()
        }
      }
      """#,
    ],
    silent: [
      """
      import FoundationNetworking
      func a() { UserDefaults.standard.set(1, forKey: "a"); UserDefaults.standard.synchronize() }
      """,
      "import Glibc\n// file: B.swift\nimport UIKit\nfunc a() { UserDefaults.standard.set(1, forKey: \"a\") }",
      "import Glibc\nimport SteadPreferences\nfunc a() { UserDefaults.standard.set(1, forKey: \"a\") }",
      "import UIKit\nNSUbiquitousKeyValueStore.default.synchronize()",
      "import Foundation\nUserDefaults.standard.synchronize()",
      "import UIKit\nsession.synchronize()",
      "import UIKit\nUserDefaults.standard.synchronize(now: true)",
      "import UIKit\nfunc synchronize() {}",
      "import UIKit\nUserDefaults.standard.set(1, forKey: \"a\")",
      #"""
      import UIKit
      class Store {
        var defaults: NSUbiquitousKeyValueStore?
        func save() { defaults?.synchronize() }
      }
      """#,
    ])

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
      #"""
      struct Start: View {
        @AppStorage("weekday") var weekday = 1
        @AppStorage("size") var size = 12
        func reset(isLast: Bool) {
          if isLast { UserDefaults.standard.set(1, forKey: "weekday") }
          if firstLaunch { UserDefaults.standard.set(13, forKey: "size") }
          if launchAtLogin { UserDefaults.standard.set(1, forKey: "weekday") }
          if let first = sizes.first { UserDefaults.standard.set(12, forKey: "size") }
        }
        func day() -> Int { UserDefaults.standard.integer(forKey: "weekday") } // !
        func nextDay() -> Int { UserDefaults.standard.integer(forKey: "weekday") + 1 } // !
        func points() -> Int { UserDefaults.standard.integer(forKey: "size") } // !
      }
      """#,
    ],
    silent: [
      #"""
      struct Start: View {
        @AppStorage("firstLaunch") var firstLaunch = true
        @AppStorage("firstWeekday") var firstWeekday = 1
        func begin() {
          if firstLaunch {
            firstLaunch = false
            UserDefaults.standard.set(1, forKey: "firstWeekday")
          }
        }
        func day() -> Int { UserDefaults.standard.integer(forKey: "firstWeekday") }
      }
      """#,
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

  static let p13 = RuleSamples(
    rule: "P13",
    flagged: [
      "import XCTest\nfunc testA() { UserDefaults.standard.set(1, forKey: \"a\") } // !",
      "import Testing\n@Test func a() { UserDefaults.standard.removeObject(forKey: \"a\") } // !",
      "// file: AppTests/Helper.swift\nfunc reset() { UserDefaults.standard.set(false, forKey: \"a\") } // !",
      "// file: Specs/A.swift\nimport Quick\nfunc s() { UserDefaults.standard.setValue(1, forKey: \"a\") } // !",
      """
      // file: Package.swift
      let package = Package(name: "A", targets: [.testTarget(name: "Checks")])
      // file: Tests/Checks/A.swift
      func check() { UserDefaults.standard.set(1, forKey: "a") } // !
      """,
      """
      // file: Package.swift
      let package = Package(name: "A", targets: [.testTarget(name: "Checks", path: "Checks")])
      // file: Checks/A.swift
      func check() { Foundation.UserDefaults.standard.set(1, forKey: "a") } // !
      """,
      """
      import XCTest
      func testA() {
        defer { UserDefaults.standard.removeObject(forKey: "a") }
        UserDefaults.standard.set(1, forKey: "a")
        check()
      }
      func testB() { UserDefaults.standard.set(1, forKey: "b") } // !
      """,
      """
      import XCTest
      final class ATests: XCTestCase {
        override func setUp() { UserDefaults.standard.set(1, forKey: "a") } // ?
        override func tearDown() { UserDefaults.standard.removeObject(forKey: "a") }
      }
      """,
      """
      import XCTest
      final class ATests: XCTestCase {
        override func setUp() { UserDefaults.standard.set(1, forKey: "a") } // ?
        override func tearDown() { UserDefaults.standard.a = before }
      }
      """,
      """
      import Testing
      @Test func a() {
        UserDefaults.standard.set("en", forKey: "language") // !
        defer { UserDefaults.standard.removeObject(forKey: "language") }
      }
      """,
    ],
    silent: [
      "func a() { UserDefaults.standard.set(1, forKey: \"a\") }",
      "import XCTest\nfunc testA() { XCTAssertEqual(UserDefaults.standard.integer(forKey: \"a\"), 0) }",
      "import XCTest\nfunc testA() { defaults.set(1, forKey: \"a\") }",
      "import Testing\n@Test func a() { UserDefaults(suiteName: \"a\")!.set(1, forKey: \"a\") }",
      "import Testing\n@Test func a() { NSUbiquitousKeyValueStore.default.set(1, forKey: \"a\") }",
      "// file: Latests/A.swift\nfunc a() { UserDefaults.standard.set(1, forKey: \"a\") }",
    ])
}
