/// The identifier, the name and the level of a rule.
struct RuleID: Hashable, Sendable {
  let id: String
  let name: String
  let level: Level

  /// A comment that disables a rule without a reason.
  static let unexplainedSuppression = RuleID(
    id: "L01", name: "suppression-without-reason", level: .warning)
  /// A file that can't be read or doesn't parse, or that exceeds a limit.
  static let unreadFile = RuleID(id: "L02", name: "file-not-read", level: .warning)
}
