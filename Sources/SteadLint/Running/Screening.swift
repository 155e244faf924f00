/// Removes findings that comments suppress or a baseline has, and sorts the rest.
struct Screening {
  private let suppressions: [String: [Suppression]]
  private let baseline: Baseline?

  init(records: [FileRecord], baseline: Baseline?) {
    suppressions = Dictionary(grouping: records.flatMap(\.facts.suppressions), by: \.place.path)
    self.baseline = baseline
  }

  func screen(_ findings: [Finding]) -> (kept: [Finding], suppressed: Int, known: Int) {
    let unexplained = suppressions.values.joined().filter { $0.reason.isEmpty }.map { suppression in
      Finding(
        .unexplainedSuppression,
        "A comment that disables a rule needs the rule's identifier and a reason: `// stead:disable P01 because …`.",
        at: suppression.place)
    }
    let open = findings.filter { !isSuppressed($0) }
    var known = baseline?.counts ?? [:]
    var kept: [Finding] = []
    for finding in Set(open).union(unexplained).sorted(by: precedes) {
      if let count = known[finding.fingerprint], count > 0 {
        known[finding.fingerprint] = count - 1
      } else {
        kept.append(finding)
      }
    }
    let all = Set(open).union(unexplained).count
    return (kept, Set(findings).count - Set(open).count, all - kept.count)
  }

  /// A comment without a reason disables nothing.
  private func isSuppressed(_ finding: Finding) -> Bool {
    (suppressions[finding.place.path] ?? []).contains { suppression in
      suppression.line == finding.place.line && !suppression.reason.isEmpty
        && suppression.rules.contains { $0 == finding.ruleID || $0 == finding.ruleName }
    }
  }

  private func precedes(_ one: Finding, _ other: Finding) -> Bool {
    if one.place.path != other.place.path || one.place.offset != other.place.offset {
      return one.place.precedes(other.place)
    }
    return (one.ruleID, one.message) < (other.ruleID, other.message)
  }
}
