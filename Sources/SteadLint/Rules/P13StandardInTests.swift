private let flaw = RuleID(id: "P13", name: "standard-in-tests", level: .warning)

extension Rule {
  static let standardInTests = Rule(
    flaw, scope: .tests,
    summary: "A test writes to `UserDefaults.standard`.",
    why: """
      All tests of a run share it, and it outlives the run. Whether a test passes then depends on what ran before \
      it, and on what the developer has set.
      """,
    bad: #"UserDefaults.standard.set(true, forKey: "didOnboard")"#,
    good: """
      let defaults = UserDefaults(suiteName: UUID().uuidString)!
      defaults.set(true, forKey: "didOnboard")
      """,
    avoids: [
      "Suites, and instances that are passed to the test.",
      "Reading, and code outside of tests.",
      "Further writes in the same file: the first one stands for all.",
      "XCTest tests that put the value back in a `defer` or in `tearDown`, if all tests in the file do so: a note.",
    ],
    inProject: { index in
      let uses = index.preferences.filter { use in
        let receiver = use.receiver
        return (use.access == .write || use.access == .remove)
          && (receiver == "UserDefaults.standard" || receiver == "Foundation.UserDefaults.standard")
      }
      return Dictionary(grouping: uses, by: \.place.path).values.compactMap { uses in
        let first = uses.filter { !$0.isPutBack }.min { $0.place.precedes($1.place) }
        return (first ?? uses.min { $0.place.precedes($1.place) }).map { use in
          let others = uses.count > 1 ? " (\(uses.count - 1) more in this file)" : ""
          return Finding(
            flaw,
            "This writes to `UserDefaults.standard`, which all tests share\(others); make a suite for each test.",
            at: use.place, level: use.isPutBack ? .note : nil)
        }
      }
    })
}
