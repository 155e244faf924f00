/// A mistake that a rule found at a place in a file.
public struct Finding: Codable, Hashable, Sendable {
  /// The rule's identifier, such as `P04`.
  public let ruleID: String
  /// The rule's name, such as `swallowed-decode-overwrites`.
  public let ruleName: String
  public let level: Level
  /// What is wrong, and what to write instead, in a sentence.
  public let message: String
  public let place: Place
  /// The edits that correct it; nil if a person has to decide.
  public let fix: Fix?

  init(_ rule: RuleID, _ message: String, at place: Place, level: Level? = nil, fix: Fix? = nil) {
    ruleID = rule.id
    ruleName = rule.name
    self.level = level ?? rule.level
    self.message = message
    self.place = place
    self.fix = fix
  }

  private init(_ finding: Finding, at place: Place) {
    ruleID = finding.ruleID
    ruleName = finding.ruleName
    level = finding.level
    message = finding.message
    fix = finding.fix
    self.place = place
  }

  func prefixed(with prefix: String) -> Finding {
    Finding(self, at: place.prefixed(with: prefix))
  }

  /// Identifies a finding in a baseline. It stays the same when lines above the finding are added or removed.
  var fingerprint: String {
    var digest = Digest()
    for part in [ruleID, place.path, place.sourceLine.trimmed, message] {
      digest.add(part)
    }
    return digest.description
  }
}
