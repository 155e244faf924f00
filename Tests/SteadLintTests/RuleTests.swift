import Foundation
import SteadLint
import Testing

/// Each rule against its samples.
struct RuleTests {
  private func findings(in sample: String, of rule: String) throws -> LintReport {
    var linter = Linter(root: URL(filePath: "/"))
    let (earlier, now) = RuleSamples.versions(of: sample)
    if let earlier {
      linter.baseline = Baseline(try linter.run(sources: RuleSamples.files(of: earlier)))
    }
    return try linter.run(sources: RuleSamples.files(of: now)).filtered {
      $0.ruleID == rule || $0.ruleID.hasPrefix("L")
    }
  }

  private func marks(of report: LintReport) -> Set<String> {
    Set(
      report.findings.map {
        "\($0.place.path):\($0.place.line)" + ($0.level == .note ? " note" : "")
      })
  }

  @Test(arguments: RuleSamples.all)
  func `finds what is marked`(samples: RuleSamples) throws {
    #expect(samples.flagged.count >= 6)
    for sample in samples.flagged {
      let expected = RuleSamples.marks(of: RuleSamples.versions(of: sample).now)
      #expect(!expected.isEmpty, "\(sample)")
      #expect(try marks(of: findings(in: sample, of: samples.rule)) == expected, "\(sample)")
    }
  }

  @Test(arguments: RuleSamples.all)
  func `stays silent otherwise`(samples: RuleSamples) throws {
    #expect(samples.silent.count >= 6)
    for sample in samples.silent {
      let report = try findings(in: sample, of: samples.rule)
      #expect(report.findings.isEmpty, "\(sample)")
    }
  }

  @Test func `every rule has samples`() {
    #expect(RuleSamples.all.map(\.rule) == Rule.all.map(\.id))
  }

  /// What is applied parses, and the rule finds nothing more to fix.
  @Test(
    arguments: RuleSamples.all.filter { samples in
      Rule.all.contains { $0.id == samples.rule && $0.isFixable }
    })
  func `fixes mend what they are for`(samples: RuleSamples) throws {
    var count = 0
    for sample in samples.flagged {
      // Some fixes need a line for themselves.
      let sample = sample.replacing(" // !", with: "").replacing(" // ?", with: "")
      var files = RuleSamples.files(of: sample)
      let report = try findings(in: sample, of: samples.rule)
      for (path, content) in files {
        let (fixed, fixes) = report.fixed(content, path: path)
        files[path] = fixed
        count += fixes
      }
      let after = try Linter(root: URL(filePath: "/")).run(sources: files).filtered {
        ($0.ruleID == samples.rule && $0.fix != nil) || $0.ruleID == "L02"
      }
      #expect(after.findings.isEmpty, "\(sample)\n\(files)")
    }
    #expect(count > 0)
  }

  @Test func `a rule's own samples show what it says`() throws {
    for rule in Rule.all where !["P06", "P12", "P13", "P20", "P29"].contains(rule.id) {
      let code = rule.id == "P11" || rule.id == "P22" ? "import UIKit\n" + rule.bad : rule.bad
      let wrapped = rule.id == "P10" ? "struct View {\n" + code + "\n}" : code
      #expect(try !findings(in: wrapped, of: rule.id).findings.isEmpty, "\(rule.id)")
    }
  }
}
