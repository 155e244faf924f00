/// The rules as a Markdown page: Documentation/LintRules.md.
public enum RulePages {
  /// A list of the rules, and a section for each, in their order.
  public static var markdown: String {
    """
    # The linter's rules

    This page has each rule of `stead-lint`, with its reason, code that it finds, better code, and what it leaves alone. `stead-lint rules --markdown` writes it
    from the rules' own texts, and [Lint.md](Lint.md) says how to run them.

    | rule | level | fix | finds |
    |---|---|---|---|
    \(Rule.all.map(row).joined(separator: "\n"))

    Two warnings are about the run itself. \(label(.unexplainedSuppression)): a comment that disables a rule has no reason, and so disables nothing.
    \(label(.unreadFile)): a file can't be read, isn't UTF-8 or exceeds a limit, and isn't checked; or a part of it doesn't parse, and the rest is checked.

    \(Rule.all.map(section).joined(separator: "\n"))
    """
  }

  private static func label(_ id: RuleID) -> String { "\(id.id) \(id.name)" }

  private static func row(_ rule: Rule) -> String {
    let summary = rule.summary.split(separator: "\n").joined(separator: " ")
    return
      "| [\(rule.id) \(rule.name)](#\(rule.id.lowercased())-\(rule.name)) | \(rule.level.rawValue) "
      + "| \(rule.isFixable ? "some" : "") | \(summary) |"
  }

  private static func section(_ rule: Rule) -> String {
    """
    ## \(rule.id) \(rule.name)

    \(rule.summary) Level: \(rule.level.rawValue).\(rule.isFixable ? " Some findings have a fix." : "")

    **Why.** \(rule.why)

    ```swift
    \(rule.bad)
    ```

    **Better:**

    ```swift
    \(rule.good)
    ```

    **Not flagged**, or flagged as a note where it says so:

    \(rule.avoids.map { "- \($0)" }.joined(separator: "\n"))

    """
  }
}
