/// The counters of a zone.
public struct ZoneState: Hashable, Sendable {
  /// The zone's last number and the token of its push.
  public var mark = Mark.start
  /// The number up to which tombstones were purged.
  public var purged: Int64 = 0
  /// The bytes of all live records.
  public var bytes = 0
  /// How many live records there are.
  public var records = 0
  /// All that writers have described.
  public var schema = Schema.empty
  /// The oldest schema that may write.
  public var minimumSchema = 0
  /// The latest time at which anything was pushed; time doesn't go back below it.
  public var now: Int64 = 0
  /// The zone's clock, above every stamp that was taken.
  public var clock = HybridClock()

  public init() {}
}
