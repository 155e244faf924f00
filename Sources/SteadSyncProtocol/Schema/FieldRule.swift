/// The rules of a field that client and server share. A field without a rule merges by ``MergeRule/last`` and refers to
/// nothing.
package struct FieldRule: Hashable, Sendable {
  package var merge: MergeRule
  /// Set for a reference, whose value is the identifier of a record or null.
  package var reference: DeleteRule?
  /// Whether the value names a blob: `{"sha256": …, "size": …}`.
  package var isBlob: Bool

  package init(merge: MergeRule = .last, reference: DeleteRule? = nil, isBlob: Bool = false) {
    self.merge = merge
    self.reference = reference
    self.isBlob = isBlob
  }

  /// A reference with a delete rule.
  package static func reference(_ rule: DeleteRule) -> FieldRule { FieldRule(reference: rule) }
  /// A blob.
  package static var blob: FieldRule { FieldRule(isBlob: true) }
}
