import Foundation
import SteadLint
import Testing

/// The forms of a report.
struct ReportFormatTests {
  private func report(_ source: String, path: String = "A b.swift") throws -> LintReport {
    try Linter(root: URL(filePath: "/")).run(sources: [path: source])
  }

  @Test func `text is as compilers write`() throws {
    let source = "\tfunc a() { try? modelContext.save() }; import UIKit"
    let text = try report(source).formatted(as: .text)
    #expect(
      text == """
        A b.swift:1:13: warning: A failed save goes unnoticed and the change is lost; catch the error and \
        tell the user. [P22 swallowed-save]
        \tfunc a() { try? modelContext.save() }; import UIKit
        \t           ^~~~~~~~~~~~~~~~~~~~~~~~

        """)
  }

  @Test func `annotations escape what ends them`() throws {
    let text = try report(
      "func a() { try? modelContext.save() }; import UIKit", path: "a,b:c%.swift"
    ).formatted(as: .github)
    #expect(
      text.hasPrefix(
        "::warning file=a%2Cb%3Ac%25.swift,line=1,col=12,title=P22 swallowed-save::A failed"))
    #expect(text.hasSuffix("\n") && text.filter { $0 == "\n" }.count == 1)
  }

  @Test func `JSON has places and fixes`() throws {
    let json = try report("@Model class A { var photo: Data? }").formatted(as: .json)
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    let finding = try #require((object["findings"] as? [[String: Any]])?.first)
    #expect(finding["rule"] as? String == "P14")
    #expect(finding["line"] as? Int == 1)
    #expect(finding["column"] as? Int == 22)
    #expect(
      (finding["fix"] as? [String: Any])?["title"] as? String == "Store it outside of the row")
  }

  // MARK: SARIF

  /// What the schema of SARIF 2.1.0 asks of the members that a log uses.
  @Test func `SARIF is as its schema asks`() throws {
    let source =
      "@Model class Ä { var photo: Data? }\nfunc ö() { \"😀\"; try? modelContext.save() }\nstruct {"
    let text = try report(source).formatted(as: .sarif)
    let log = try #require(
      try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    #expect(log["version"] as? String == "2.1.0")
    #expect((log["$schema"] as? String)?.hasPrefix("https://") == true)
    let run = try #require((log["runs"] as? [[String: Any]])?.first)
    #expect(run["columnKind"] as? String == "unicodeCodePoints")
    let driver = try #require((run["tool"] as? [String: Any])?["driver"] as? [String: Any])
    #expect(driver["name"] as? String == "stead lint")
    let rules = try #require(driver["rules"] as? [[String: Any]])
    #expect(Set(rules.compactMap { $0["id"] as? String }).count == rules.count)
    let results = try #require(run["results"] as? [[String: Any]])
    #expect(Set(results.compactMap { $0["ruleId"] as? String }) == ["P14", "P22", "L02"])
    for result in results { try check(result, rules: rules) }
  }

  private func check(_ result: [String: Any], rules: [[String: Any]]) throws {
    let index = try #require(result["ruleIndex"] as? Int)
    #expect(rules[index]["id"] as? String == result["ruleId"] as? String)
    #expect(["note", "warning", "error"].contains(result["level"] as? String))
    #expect((result["message"] as? [String: Any])?["text"] is String)
    let places = try #require(result["locations"] as? [[String: Any]])
    let place = try #require(places.first?["physicalLocation"] as? [String: Any])
    let artifact = try #require(place["artifactLocation"] as? [String: Any])
    #expect(artifact["uri"] as? String == "A%20b.swift")
    let region = try #require(place["region"] as? [String: Any])
    let (start, end) = (
      try #require(region["startColumn"] as? Int), try #require(region["endColumn"] as? Int)
    )
    #expect(try #require(region["startLine"] as? Int) >= 1 && start >= 1 && end > start)
    // Columns are code points: two bytes of ö and four of an emoji are one each.
    if result["ruleId"] as? String == "P22" { #expect(start == 17) }
    for fix in result["fixes"] as? [[String: Any]] ?? [] {
      let change = try #require((fix["artifactChanges"] as? [[String: Any]])?.first)
      let replacement = try #require((change["replacements"] as? [[String: Any]])?.first)
      let deleted = try #require(replacement["deletedRegion"] as? [String: Any])
      #expect(try #require(deleted["byteOffset"] as? Int) >= 0)
      #expect(deleted["byteLength"] as? Int == 0)
    }
  }
}
