/// A report as JSON. Later versions may have more members.
struct JSONReport: Encodable {
  let version = 1
  let findings: [Item]
  let files: Int
  let suppressed: Int
  let known: Int

  struct Item: Encodable {
    let rule: String
    let name: String
    let level: Level
    let message: String
    let path: String
    let line: Int
    let column: Int
    let fix: Fix?
  }

  init(_ report: LintReport) {
    findings = report.findings.map { finding in
      Item(
        rule: finding.ruleID, name: finding.ruleName, level: finding.level,
        message: finding.message,
        path: finding.place.path, line: finding.place.line, column: finding.place.column,
        fix: finding.fix)
    }
    files = report.fileCount
    suppressed = report.suppressedCount
    known = report.knownCount
  }
}
