extension RuleSamples {
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
