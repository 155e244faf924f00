extension DiskCache {
  /// How much a cache holds, for how long, and when values are loaded again.
  ///
  /// Limits belong to the object, not to the files: if several programs use one directory with different limits, each
  /// set enforces those of the program that makes it.
  public struct Limits: Sendable, Hashable {
    /// The bytes of all entries: keys, tags, metadata and values; 100 MiB.
    ///
    /// Never exceeded: entries that must go are removed in the transaction that adds the new one. The files take more,
    /// as Documentation/DiskCacheFile.md says.
    public var totalSizeLimit = 100 << 20
    /// The maximum number of entries; 1,000,000.
    public var countLimit = 1_000_000
    /// The bytes of one entry; a larger one is not stored. Nil means ``totalSizeLimit``.
    public var entrySizeLimit: Int?
    /// How long an entry that is set without a time to live is valid; nil means as long as there is space.
    public var timeToLive: Duration?
    /// How long an entry is valid after it was last set or found (`expireAfterAccess` of other caches); nil means that
    /// use makes no difference. It also expires after ``timeToLive``, however much it is used.
    ///
    /// It applies to entries that are set without a time to live of their own. A use is written down if the last one
    /// that was is an eighth of this time ago, so an entry may expire so much earlier, and also if the file could not be
    /// written at once. All objects over a directory need the same value.
    public var timeToIdle: Duration?
    /// After which time a request that could load a value has it loaded again in the background, while it gets the old
    /// one (`refreshAfterWrite` of other caches); nil means never. For the calls with `orLoad`.
    ///
    /// If the load throws, the error is dropped and the old value stays; a request after another eighth of this time
    /// tries again. One load runs for all requests of this object; other processes may load, too.
    public var refreshAfter: Duration?
    /// Whether to find entries that were stored later than now, by a clock that was wrong or set back since: for
    /// callers that judge the age of what they store themselves.
    var findsEntriesStoredLater = false

    /// Limits with the values that suit most apps.
    public init(
      totalSizeLimit: Int = 100 << 20, countLimit: Int = 1_000_000, entrySizeLimit: Int? = nil,
      timeToLive: Duration? = nil, timeToIdle: Duration? = nil, refreshAfter: Duration? = nil
    ) {
      self.totalSizeLimit = totalSizeLimit
      self.countLimit = countLimit
      self.entrySizeLimit = entrySizeLimit
      self.timeToLive = timeToLive
      self.timeToIdle = timeToIdle
      self.refreshAfter = refreshAfter
    }

    /// The maximum size of an entry in bytes.
    var largestEntry: Int { max(0, min(entrySizeLimit ?? totalSizeLimit, totalSizeLimit)) }
  }
}
