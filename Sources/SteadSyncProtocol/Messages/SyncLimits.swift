/// The limits of everything in the protocol.
package struct SyncLimits: Hashable, Sendable {
  /// The mutations of a push. A larger transaction cannot be sent.
  package var pushMutations = 400
  /// The bytes of a push's values.
  package var pushBytes = 1_000_000
  /// The bytes of a record's values, without blobs.
  package var recordBytes = 1_000_000
  /// The bytes of a zone's live records. A server with a quota for each owner sets it before each push: what the owner
  /// has left, plus what the zone has.
  package var zoneBytes = 1_000_000_000
  /// The live records of a zone.
  package var zoneRecords = Int.max
  /// The bytes of a blob.
  package var blobBytes = 50_000_000
  /// The records of a page.
  package var pageRecords = 1000
  /// The bytes of a page's values; a page has at least one record.
  package var pageBytes = 1_000_000
  /// How far ahead of the server a stamp may be, in milliseconds.
  package var future: Int64 = 60_000
  /// How long a blob that no record names is kept, in milliseconds.
  package var blobGrace: Int64 = 86_400_000
  /// How long tombstones are kept, in milliseconds.
  package var tombstoneAge: Int64 = 180 * 86_400_000

  package init() {}
}

extension SyncLimits {
  /// These limits, with a zone's limits lowered to another's where those are smaller.
  func lowered(to other: SyncLimits) -> SyncLimits {
    var limits = self
    limits.recordBytes = min(recordBytes, other.recordBytes)
    limits.zoneBytes = min(zoneBytes, other.zoneBytes)
    limits.zoneRecords = min(zoneRecords, other.zoneRecords)
    return limits
  }
}
