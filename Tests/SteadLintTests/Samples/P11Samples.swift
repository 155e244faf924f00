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
}
