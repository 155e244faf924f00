/// The counters of a zone.
public struct ZoneState: Hashable, Sendable {
  /// The zone's last number and the token of its push.
  public var mark = Mark.start
  /// The number up to which tombstones were purged.
  public var purged: Int64 = 0
  /// The bytes of all live records.
  public var bytes = 0
  /// The number of live records.
  public var records = 0
  /// Everything that writers' schemas have described.
  public var schema = Schema.empty
  /// The oldest schema that may write.
  public var minimumSchema = 0
  /// The latest time of a push; time doesn't go back below it.
  public var now: Int64 = 0
  /// The zone's clock, above every stamp that was accepted.
  public var clock = HybridClock()

  public init() {}
}
