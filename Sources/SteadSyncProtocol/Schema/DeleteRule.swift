/// What happens to a record whose reference leads to a deleted one.
package enum DeleteRule: String, Hashable, Sendable, CaseIterable {
  /// It is also deleted.
  case cascade
  /// The reference becomes null.
  case nullify
  /// The deletion is refused while the record lives. If the deletion came first, the reference becomes null.
  case deny
}
