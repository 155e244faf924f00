import Foundation
import SteadLint
import Testing

/// The pages and the tour are as the rules are.
struct DocumentationTests {
  private static let package = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().resolvingSymlinksInPath()
  // A package that shares these tests through a link has no pages beside them.
  private static let root = URL(filePath: #filePath).resolvingSymlinksInPath()
    .deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  private static let tour = root.appending(path: "Examples/LintTour")

  /// `swift run stead-lint rules --markdown > Documentation/LintRules.md` writes it.
  @Test func `the page of rules is current`() throws {
    let page = Self.root.appending(path: "Documentation/LintRules.md")
    #expect(try String(contentsOf: page, encoding: .utf8) == RulePages.markdown)
  }

  private func tourReport() throws -> LintReport {
    var linter = Linter(root: Self.tour)
    linter.baseline = try Baseline(contentsOf: Self.tour.appending(path: "version1.json"))
    return try linter.run()
  }

  @Test func `the tour shows every rule in its file`() throws {
    let report = try tourReport()
    #expect(!report.findings.contains { $0.ruleID.hasPrefix("L") })
    let found = Dictionary(grouping: report.findings, by: \.ruleID)
    for rule in Rule.all {
      #expect((found[rule.id] ?? []).contains { $0.place.path.contains(rule.id) }, "\(rule.id)")
    }
  }

  @Test func `fixes of the tour leave nothing to fix`() throws {
    let report = try tourReport()
    var linter = Linter(root: Self.tour)
    for path in Set(report.findings.filter { $0.fix != nil }.map(\.place.path)) {
      let source = try String(contentsOf: Self.tour.appending(path: path), encoding: .utf8)
      linter.replacements[path] = report.fixed(source, path: path).source
    }
    #expect(linter.replacements.count >= 6)
    let after = try linter.run()
    #expect(!after.findings.contains { $0.fix != nil || $0.ruleID.hasPrefix("L") })
  }
}
