/// Fields whose combined values no two live records of a type may share. Null is equal to nothing.
package struct UniqueRule: Hashable, Sendable {
  /// What happens to the later of two records with the same key.
  package enum Policy: Hashable, Sendable {
    /// It is merged into the older one and becomes its alias.
    case merge
    /// Both stay: the last string of the key gets this suffix with a number, as in "Notes (2)" for " (%)", where the
    /// percent sign stands for the number.
    case keepBoth(suffix: String)
  }

  /// The constraint's name, which never changes.
  package var name: String
  /// Wire names; at least one.
  package var fields: [String]
  package var policy: Policy

  package init(_ name: String, fields: [String], policy: Policy = .merge) {
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
