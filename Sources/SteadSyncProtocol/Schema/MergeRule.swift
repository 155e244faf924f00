/// How two values of one field are merged. Each rule is commutative, associative and idempotent, so neither the order
/// of arrival nor a repetition matters.
package enum MergeRule: String, Hashable, Sendable, CaseIterable {
  /// The value with the greater stamp.
  case last
  /// The greater value.
  case max
  /// The smaller value; null counts as none.
  case min
  /// All elements of both arrays. Elements are never removed.
  case union
  /// Totals per device, ``SyncCounter``.
  case counter

  /// The merged field. Costs time in proportion to both values.
  ///
  /// Values that aren't of the rule's kind merge by ``last``.
  package func merged(_ one: Field, _ other: Field) -> Field {
    let later = laterField(one, other)
    switch self {
    case .last: return later
    case .max: return Field(Swift.max(one.value, other.value), later.stamp)
    case .min:
      if one.value == .null || other.value == .null {
        return Field(Swift.max(one.value, other.value), later.stamp)
      }
      return Field(Swift.min(one.value, other.value), later.stamp)
    case .union:
      guard let first = one.value.array, let second = other.value.array else { return later }
      return Field(.array(Self.union(first, second)), later.stamp)
    case .counter:
      guard let value = SyncCounter.merged(one.value, other.value) else { return later }
      return Field(value, later.stamp)
    }
  }

  /// All elements, ascending, each once by its bytes: equal strings of other bytes are two elements everywhere.
  private static func union(_ one: [SyncValue], _ other: [SyncValue]) -> [SyncValue] {
    var elements: [SyncValue] = []
    for element in (one + other).sorted() {
      if let last = elements.last, !(last < element) { continue }
      elements.append(element)
    }
    return elements
  }

  /// Equal stamps come from two repairs of one value, before and after a server was restored; then the greater
  /// value, so that all agree.
  private func laterField(_ one: Field, _ other: Field) -> Field {
    if one.stamp != other.stamp { return one.stamp < other.stamp ? other : one }
    return one.value < other.value ? other : one
  }
}
