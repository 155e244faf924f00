/// An effect of a merge that a user or a log may want to know.
package enum MergeNote: Hashable, Sendable {
  /// Fields were edited; each value may have lost to a later one.
  case edited(id: RecordID, fields: [String: Field])
  /// A mutation had no effect.
  case dropped(id: RecordID, reason: DropReason)
  /// An incarnation began.
  case began(id: RecordID, incarnation: Incarnation)
  /// Incarnations ended.
  case ended(id: RecordID, incarnations: [Incarnation])
  /// A record became an alias of another, since both had the same unique key.
  case merged(loser: RecordID, winner: RecordID, rule: String)
  /// A record got another value in a unique key, since an older one has it.
  case renamed(id: RecordID, field: String)
  /// A reference was rewritten or became null.
  case repaired(id: RecordID, field: String)

  /// Why a mutation had no effect.
  package enum DropReason: String, Hashable, Sendable {
    /// The record is unknown: it was purged, or its insert was refused.
    case unknown
    /// The incarnation has ended.
    case ended
  }
}
