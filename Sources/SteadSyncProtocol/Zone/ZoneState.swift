/// The counters of a zone.
package struct ZoneState: Hashable, Sendable {
  /// The zone's last number and the token of its push.
  package var mark = Mark.start
  /// The number up to which tombstones were purged.
  package var purged: Int64 = 0
  /// The bytes of all live records.
  package var bytes = 0
  /// The number of live records.
  package var records = 0
  /// Everything that writers' schemas have described.
  package var schema = Schema.empty
  /// The oldest schema that may write.
  package var minimumSchema = 0
  /// The latest time of a push; time doesn't go back below it.
  package var now: Int64 = 0
  /// The zone's clock, above every stamp that was accepted.
  package var clock = HybridClock()

  package init() {}
}
