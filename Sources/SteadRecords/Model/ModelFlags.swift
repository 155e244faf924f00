import Observation

/// The bits of a model's state.
@usableFromInline enum _ModelFlags {
  /// Reads and writes tell Observation.
  @usableFromInline static let observed: UInt32 = 1
  /// No row has been read yet.
  @usableFromInline static let fault: UInt32 = 1 << 1
  /// Another context or process changed the row, so that it is read again with the next access.
  @usableFromInline static let stale: UInt32 = 1 << 2
  /// Only some columns were read; `ModelExtra.loaded` says which.
  @usableFromInline static let partial: UInt32 = 1 << 3
  /// The object only records which property is read.
  @usableFromInline static let probe: UInt32 = 1 << 4
  /// A save gave the row to another object, `ModelExtra.successor`.
  @usableFromInline static let redirected: UInt32 = 1 << 5
  /// To be inserted by the next save.
  @usableFromInline static let inserted: UInt32 = 1 << 6
  /// To be updated by the next save.
  @usableFromInline static let changed: UInt32 = 1 << 7
  /// To be deleted by the next save.
  @usableFromInline static let deleted: UInt32 = 1 << 8
  /// The row is gone; the object keeps its last values.
  @usableFromInline static let missing: UInt32 = 1 << 9
  /// The object has first links, which are applied before it is used.
  @usableFromInline static let linked: UInt32 = 1 << 10

  /// Which properties are read is noted: of objects before a custom stage of a migration plan.
  @usableFromInline static let traced: UInt32 = 1 << 11

  /// What must be done before the object's values can be read.
  @usableFromInline static let unready: UInt32 =
    fault | stale | partial | probe | redirected | linked
  /// What a read cannot ignore, apart from Observation.
  @usableFromInline static let slowRead: UInt32 = unready | traced
  @usableFromInline static let watched: UInt32 = slowRead | observed
  /// Any pending change.
  @usableFromInline static let pending: UInt32 = inserted | changed | deleted
}
