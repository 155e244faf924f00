import Foundation

/// The format of a report.
public enum ReportFormat: String, CaseIterable, Sendable {
  /// Like a compiler's: the place, the level, the message, the source line and a caret.
  case text
  /// An object with a list of findings; see Documentation/Lint.md.
  case json
  /// SARIF 2.1.0, which code hosts and editors read.
  case sarif
  /// Commands that annotate lines of a pull request on GitHub.
  case github
}

extension LintReport {
  /// The report as a string; the empty string for plain text without findings. The same report gives the same string.
  ///
  /// - Throws: An `EncodingError`, which no report of a run causes.
  public func formatted(as format: ReportFormat) throws -> String {
    switch format {
    case .text: findings.map(\.text).joined()
    case .json: try encoded(JSONReport(self))
    case .sarif: try encoded(SARIFLog(self))
    case .github: findings.map(\.annotation).joined()
    }
  }

  /// A value as JSON with sorted members, so that equal reports give equal strings.
  private func encoded(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    // Without the escapes, since paths are full of slashes and people read the output, too.
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self) + "\n"
  }
}

extension Finding {
  /// The finding as a compiler's diagnostic, so that editors and build logs link it to its place.
  fileprivate var text: String {
    let head =
      "\(place.path):\(place.line):\(place.column): \(level.rawValue): \(message) [\(ruleID) \(ruleName)]\n"
    // A file that can't be read has no line to quote.
    guard !place.sourceLine.isEmpty else { return head }
    return head + place.sourceLine + "\n" + indent + "^" + String(repeating: "~", count: quoted - 1)
      + "\n"
  }

  /// Spaces as wide as the text before the place. Tabs stay tabs.
  ///
  /// So the caret is under the place, however wide a terminal shows a tab.
  private var indent: String {
    // The column counts bytes. The line may be cut before it, and the prefix is shorter then.
    let before = Array(place.sourceLine.utf8.prefix(place.column - 1))
    return String(String(decoding: before, as: UTF8.self).map { $0 == "\t" ? "\t" : " " })
  }

  /// How many characters are underlined.
  ///
  /// At least one, as for a place after the part of a long line that is kept.
  private var quoted: Int {
    let bytes = place.sourceLine.utf8.dropFirst(place.column - 1).prefix(place.width)
    return max(1, String(decoding: Array(bytes), as: UTF8.self).count)
  }

  /// The finding as a workflow command, by which GitHub annotates a line.
  ///
  /// GitHub has no level `note`; its name for that is `notice`.
  fileprivate var annotation: String {
    let command = level == .note ? "notice" : level.rawValue
    return
      "::\(command) file=\(escaped(place.path, also: [":", ","])),line=\(place.line),col=\(place.column),"
      + "title=\(ruleID) \(ruleName)::\(escaped(message, also: []))\n"
  }

  /// Escapes a text for a workflow command: messages end at a line break, properties also at a colon or comma. `%` is
  /// first, since it begins the escapes themselves.
  private func escaped(_ text: String, also characters: [String]) -> String {
    var text = text
    for character in ["%", "\r", "\n"] + characters {
      guard let scalar = character.unicodeScalars.first else { continue }
      let code = String(scalar.value, radix: 16, uppercase: true)
      text = text.replacingOccurrences(
        // An escape has two digits: `%0A` for a line feed.
        of: character, with: "%" + (code.count == 1 ? "0" : "") + code)
    }
    return text
  }
}

// MARK: - JSON

/// A report as JSON. Later versions may have more members; `version` changes if a member changes its meaning.
struct JSONReport: Encodable {
  let version = 1
  let findings: [Item]
  /// How many Swift files the run read.
  let files: Int
  /// How many findings comments suppress.
  let suppressed: Int
  /// How many findings the baseline already has.
  let known: Int

  /// A finding, flat: its place isn't an object of its own.
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

  /// The findings of a report, in its order, and its counts.
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
