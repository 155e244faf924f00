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

// MARK: - SARIF

/// A report as a log of the Static Analysis Results Interchange Format, version 2.1.0.
///
/// The structures have the names and members of the specification. `Scripts/check-sarif` validates a log by
/// its schema.
///
/// Columns count code points, as `columnKind` says: a region with bytes or UTF-16 would be shown in the wrong place
/// after an emoji. A fix has a byte offset, which the specification counts from the file's beginning.
struct SARIFLog: Encodable {
  let schema = "https://json.schemastore.org/sarif-2.1.0.json"
  let version = "2.1.0"
  let runs: [Run]

  enum CodingKeys: String, CodingKey {
    case schema = "$schema"
    case version
    case runs
  }

  /// The object `run`: what one run of the linter found.
  struct Run: Encodable {
    let tool: Tool
    let columnKind = "unicodeCodePoints"
    let results: [Result]
  }

  /// The object `tool`. A log requires it around the driver.
  struct Tool: Encodable {
    let driver: Driver
  }

  /// The object `toolComponent`: the linter and its rules.
  struct Driver: Encodable {
    let name = "stead lint"
    let rules: [Descriptor]
  }

  /// The object `reportingDescriptor`: a rule, to which results refer by index.
  struct Descriptor: Encodable {
    let id: String
    let name: String
    let shortDescription: Message
    // Nil for L01 and L02, which have no page.
    let fullDescription: Message?
    let help: Message?
    let defaultConfiguration: Configuration
  }

  /// The object `reportingConfiguration`: the level that a rule has if a result has none.
  struct Configuration: Encodable {
    let level: Level
  }

  /// The object `message` with plain text.
  struct Message: Encodable {
    let text: String
  }

  /// The object `result`: a finding.
  struct Result: Encodable {
    let ruleId: String
    let ruleIndex: Int
    let level: Level
    let message: Message
    let locations: [Location]
    /// Identifies a result across runs whose lines have moved (SARIF 2.1.0, section 3.27.17).
    let partialFingerprints: [String: String]
    let fixes: [Repair]?
  }

  /// The object `location`.
  struct Location: Encodable {
    let physicalLocation: PhysicalLocation
  }

  /// The object `physicalLocation`: a file and a region of it.
  struct PhysicalLocation: Encodable {
    let artifactLocation: Artifact
    let region: Region
  }

  /// The object `artifactLocation`.
  ///
  /// The base is a name that the consumer resolves: it knows where its checkout is, and the log has
  /// to be valid there.
  struct Artifact: Encodable {
    let uri: String
    let uriBaseId = "%SRCROOT%"
  }

  /// The object `region`, with its source line as the snippet.
  struct Region: Encodable {
    let startLine: Int
    let startColumn: Int
    let endColumn: Int
    let snippet: Message
  }

  /// The object `fix`.
  struct Repair: Encodable {
    let description: Message
    let artifactChanges: [Change]
  }

  /// The object `artifactChange`: the edits of one file.
  struct Change: Encodable {
    let artifactLocation: Artifact
    let replacements: [Replacement]
  }

  /// The object `replacement`: deletes a region and inserts a string there.
  struct Replacement: Encodable {
    let deletedRegion: Bytes
    let insertedContent: Message
  }

  /// A region by bytes. It has the same offsets as ``Fix/Edit``.
  struct Bytes: Encodable {
    let byteOffset: Int
    let byteLength: Int
  }

  /// Makes a log of a report. It lists all rules, also those without a result, so that a code host
  /// can show their texts.
  init(_ report: LintReport) {
    let rules = Self.descriptors
    // A result names its rule by the index in the list, too, as code hosts require.
    let positions = Dictionary(uniqueKeysWithValues: rules.enumerated().map { ($1.id, $0) })
    runs = [
      Run(
        tool: Tool(driver: Driver(rules: rules)),
        // -1 is the specification's value for no index.
        results: report.findings.map { Self.result($0, index: positions[$0.ruleID] ?? -1) })
    ]
  }

  /// The rules, and the two findings about the run itself.
  private static var descriptors: [Descriptor] {
    let own = [RuleID.unexplainedSuppression, .unreadFile].map { rule in
      Descriptor(
        id: rule.id, name: rule.name, shortDescription: Message(text: rule.name),
        fullDescription: nil, help: nil,
        defaultConfiguration: Configuration(level: rule.level))
    }
    return Rule.all.map { rule in
      Descriptor(
        id: rule.id, name: rule.name, shortDescription: Message(text: rule.summary),
        fullDescription: Message(text: rule.why),
        help: Message(text: "Write instead:\n\(rule.good)"),
        defaultConfiguration: Configuration(level: rule.level))
    } + own
  }

  private static func result(_ finding: Finding, index: Int) -> Result {
    let place = finding.place
    let artifact = Artifact(uri: uri(place.path))
    let start = column(place.column - 1, in: place.sourceLine)
    // SARIF's end column is exclusive, so one that equals the start would mark nothing.
    let end = max(start + 1, column(place.column - 1 + place.width, in: place.sourceLine))
    let fixes = finding.fix.map { fix in
      let replacements = fix.edits.map { edit in
        Replacement(
          deletedRegion: Bytes(byteOffset: edit.offset, byteLength: edit.length),
          insertedContent: Message(text: edit.replacement))
      }
      return [
        Repair(
          description: Message(text: fix.title),
          artifactChanges: [Change(artifactLocation: artifact, replacements: replacements)])
      ]
    }
    return Result(
      ruleId: finding.ruleID, ruleIndex: index, level: finding.level,
      message: Message(text: finding.message),
      locations: [
        Location(
          physicalLocation: PhysicalLocation(
            artifactLocation: artifact,
            region: Region(
              startLine: place.line, startColumn: start, endColumn: end,
              snippet: Message(text: place.sourceLine))))
      ],
      // Another way to make fingerprints needs another version here, or code hosts would compare
      // the two.
      partialFingerprints: ["steadLint/v1": finding.fingerprint], fixes: fixes)
  }

  /// A column in code points, of a place in bytes. A cut within a character counts as one more code point.
  private static func column(_ bytes: Int, in line: String) -> Int {
    String(decoding: Array(line.utf8.prefix(bytes)), as: UTF8.self).unicodeScalars.count + 1
  }

  /// A relative URI reference (RFC 3986), with percent escapes for bytes that a path can't have.
  ///
  /// Bytes of UTF-8 are escaped one by one, so any path gives a valid reference.
  private static func uri(_ path: String) -> String {
    let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/+@".utf8)
    return path.utf8.map { byte in
      if plain.contains(byte) { return String(UnicodeScalar(byte)) }
      let digits = String(byte, radix: 16, uppercase: true)
      return "%" + (digits.count == 1 ? "0" : "") + digits
    }.joined()
  }
}
