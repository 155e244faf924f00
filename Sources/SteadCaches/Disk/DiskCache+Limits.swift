extension DiskCache {
  /// How much a cache holds, and for how long.
  ///
  /// Limits belong to the object, not to the files: if several programs use one directory with different limits, each
  /// set enforces those of the program that makes it.
  public struct Limits: Sendable, Hashable {
    /// The bytes of all entries: keys, tags, metadata and values; 100 MiB.
    ///
    /// Never exceeded: entries that must go are removed in the transaction that adds the new one. The files take more,
    /// as Documentation/DiskCacheFile.md says.
    public var totalSize = 100 << 20
    /// The maximum number of entries; 1,000,000.
    public var count = 1_000_000
    /// The bytes of one entry; a larger one is not stored. Nil means ``totalSize``.
    public var entrySize: Int?
    /// How long an entry that is set without a time to live is valid; nil means as long as there is space.
    public var timeToLive: Duration?
    /// Whether to find entries that were stored later than now, by a clock that was wrong or set back since: for
    /// callers that judge the age of what they store themselves.
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

    /// The maximum size of an entry in bytes.
    var largestEntry: Int { max(0, min(entrySize ?? totalSize, totalSize)) }
  }
}
