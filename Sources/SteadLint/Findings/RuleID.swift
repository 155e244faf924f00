/// What a finding says of the rule that made it.
struct RuleID: Hashable, Sendable {
  let id: String
  let name: String
  let level: Level

  /// A comment that disables a rule and gives no reason.
  static let unexplainedSuppression = RuleID(
    id: "L01", name: "suppression-without-reason", level: .warning)
  /// A file that isn't Swift as this parser knows it, or that exceeds a limit.
  static let unreadFile = RuleID(id: "L02", name: "file-not-read", level: .warning)
}
