import SteadLint

/// The rules as a terminal shows them.
enum RuleText {
  static var list: String {
    Rule.all.map { rule in
      let level = rule.level.rawValue.padding(to: 7)
      return "\(rule.id)  \(level)  \(rule.isFixable ? "fix" : "   ")  \(rule.name)\n"
    }.joined()
  }

  static func page(of rule: Rule) -> String {
    """
    \(rule.id) \(rule.name) (\(rule.level.rawValue)\(rule.isFixable ? ", some findings have a fix" : ""))

    \(rule.summary)

    \(rule.why)

    Flagged:

    \(indented(rule.bad))

    Better:

    \(indented(rule.good))

    Not flagged:

    \(rule.avoids.map { "  - \($0)" }.joined(separator: "\n"))

    """
  }

  private static func indented(_ code: String) -> String {
    code.split(separator: "\n", omittingEmptySubsequences: false).map {
      $0.isEmpty ? "" : "    \($0)"
    }
    .joined(separator: "\n")
  }
}

extension String {
  fileprivate func padding(to length: Int) -> String {
    self + String(repeating: " ", count: max(0, length - count))
  }
}
