/// Fields whose combined values no two live records of a type may share. Null is equal to nothing.
public struct UniqueRule: Hashable, Sendable {
  /// What happens to the later of two records with the same key.
  public enum Policy: Hashable, Sendable {
    /// It is merged into the older one and becomes its alias.
    case merge
    /// Both stay: the last string of the key gets this suffix with a number, as in "Notes (2)" for " (%)", where the
    /// percent sign stands for the number.
    case keepBoth(suffix: String)
  }

  /// The constraint's name, which never changes.
  public var name: String
  /// Wire names; at least one.
  public var fields: [String]
  public var policy: Policy

  public init(_ name: String, fields: [String], policy: Policy = .merge) {
    self.name = name
    self.fields = fields
    self.policy = policy
  }

  /// A string with the suffix of ``Policy/keepBoth(suffix:)``.
  static func renamed(_ text: String, suffix: String, number: Int) -> String {
    guard let sign = suffix.firstIndex(of: "%") else { return text + suffix + String(number) }
    return text + suffix[..<sign] + String(number) + suffix[suffix.index(after: sign)...]
  }
}
