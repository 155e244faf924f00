/// What came out of the tests of several suites.
package struct SuiteResults: Sendable {
  /// How many tests of one kind were passed.
  package struct Score: Sendable, Equatable {
    package var passed = 0
    package var total = 0
  }

  package let suites: [CacheSuite]
  package let outcomes: [String: TestRun.Outcome]
  /// Whether the tests are those for shared caches.
  private let isShared: Bool

  package init(suites: [CacheSuite], outcomes: [String: TestRun.Outcome], isShared: Bool = false) {
    self.suites = suites
    self.outcomes = outcomes
    self.isShared = isShared
  }

  private func tests(of suites: [CacheSuite]) -> [CacheTest] {
    suites.flatMap { $0.tests(isShared: isShared) }
  }

  /// Whether a test was passed, and all that it depends on. A dependency that is in none of the suites is left out.
  package func isPassed(_ id: String) -> Bool {
    guard outcomes[id] == .passed else { return false }
    let test = suites.lazy.flatMap(\.tests).first { $0.id == id }
    return (test?.dependencies ?? []).allSatisfy { isUnknown($0) || isPassed($0) }
  }

  private func isUnknown(_ id: String) -> Bool {
    !tests(of: suites).contains { $0.id == id }
  }

  /// - Parameters:
  ///   - kind: Which tests count.
  ///   - suite: Only one of the suites; nil for all.
  ///   - includesBrowsersOwn: Whether tests count that only browsers are given. Published totals leave them out,
  ///     so that browsers and proxies can be compared.
  package func score(
    _ kind: CacheTest.Kind, in suite: CacheSuite? = nil, includesBrowsersOwn: Bool = true
  ) -> Score {
    var score = Score()
    for test in tests(of: suite.map { [$0] } ?? suites) where test.kind == kind {
      if test.isForBrowsersOnly, !includesBrowsersOwn { continue }
      score.total += 1
      if isPassed(test.id) { score.passed += 1 }
    }
    return score
  }

  /// The tests of a kind that were not passed, with the reason.
  package func failures(_ kind: CacheTest.Kind) -> [(id: String, reason: String)] {
    tests(of: suites).filter { $0.kind == kind && !isPassed($0.id) }.map { test in
      switch outcomes[test.id] {
      case .failed(let reason): (test.id, reason)
      case .setupFailed(let reason): (test.id, "Setup: \(reason)")
      case .passed:
        (
          test.id,
          "It depends on \(test.dependencies.filter { !isPassed($0) }.joined(separator: ", "))."
        )
      case nil: (test.id, "It was not run.")
      }
    }
  }
}

extension SuiteResults {
  /// A line for each suite, the totals, and each test that was not passed.
  package var table: String {
    var lines = [Self.line("suite", "required", "optimal", "checks answered yes")]
    for suite in suites where !tests(of: [suite]).isEmpty {
      lines.append(
        Self.line(
          suite.id, Self.text(score(.required, in: suite)), Self.text(score(.optimal, in: suite)),
          Self.text(score(.check, in: suite))))
    }
    lines.append(
      Self.line(
        "all", Self.text(score(.required)), Self.text(score(.optimal)), Self.text(score(.check))))
    lines.append(
      Self.line(
        "without browsers' own",
        Self.text(score(.required, includesBrowsersOwn: false)),
        Self.text(score(.optimal, includesBrowsersOwn: false)),
        Self.text(score(.check, includesBrowsersOwn: false))))
    for (title, kind) in [("required", CacheTest.Kind.required), ("optimal", .optimal)] {
      for failure in failures(kind) {
        lines.append("not passed, \(title): \(failure.id): \(failure.reason)")
      }
    }
    return lines.joined(separator: "\n")
  }

  private static func text(_ score: Score) -> String {
    score.total == 0 ? "-" : "\(score.passed)/\(score.total)"
  }

  private static func line(_ columns: String...) -> String {
    zip(columns, [24, 10, 10, 0])
      .map { $0 + String(repeating: " ", count: max(0, $1 - $0.count)) }
      .joined(separator: " ")
  }
}
