extension DiskCache {
  /// How much a cache holds, and for how long.
  ///
  /// Limits belong to the object, not to the files: when several programs use one directory with other limits,
  /// each set keeps those of the program that makes it.
  public struct Limits: Sendable, Hashable {
    /// The bytes of all entries: keys, tags, metadata and values; 100 MiB.
    ///
    /// Never exceeded: what has to go is removed in the transaction that adds the new entry. The files take more,
    /// as Documentation/DiskCacheFile.md says.
    public var totalSize = 100 << 20
    /// The most entries; 1,000,000.
    public var count = 1_000_000
    /// The bytes of one entry; a larger one is not stored. Nil is ``totalSize``.
    public var entrySize: Int?
    /// How long an entry is valid that is set without a time of its own; nil is for as long as there is room.
    public var timeToLive: Duration?
    /// Whether entries are found that were stored later than now, by a clock that was wrong or set back since: for those
    /// who judge the age of what they store themselves.
    var findsEntriesStoredLater = false

    /// Limits with the values that suit most apps.
    public init(
      totalSize: Int = 100 << 20, count: Int = 1_000_000, entrySize: Int? = nil,
      timeToLive: Duration? = nil
    ) {
      self.totalSize = totalSize
      self.count = count
      self.entrySize = entrySize
      self.timeToLive = timeToLive
    }

    /// The most bytes that an entry may have.
    var largestEntry: Int { max(0, min(entrySize ?? totalSize, totalSize)) }
  }
}
