extension HTTPCache {
  /// The limits of an HTTP cache.
  public struct Limits: Sendable, Hashable {
    /// The maximum number of bytes of responses in memory.
    public var memorySizeLimit: Int
    /// The maximum number of bytes of responses on disk.
    public var diskSizeLimit: Int
    /// The maximum number of bytes of one response's body; a longer one is passed on and not stored.
    public var bodySizeLimit: Int
    /// The maximum number of bytes of one body that are gathered in memory. A longer one goes to disk while it is
    /// passed on, or isn't stored if the cache has no disk.
    public var bufferSizeLimit: Int

    /// Makes limits: 16 MiB in memory, 200 MiB on disk, 50 MiB for a body, of which 1 MiB is gathered in memory.
    public init(
      memorySizeLimit: Int = 16 << 20, diskSizeLimit: Int = 200 << 20,
      bodySizeLimit: Int = 50 << 20,
      bufferSizeLimit: Int = 1 << 20
    ) {
      self.memorySizeLimit = memorySizeLimit
      self.diskSizeLimit = diskSizeLimit
      self.bodySizeLimit = bodySizeLimit
      self.bufferSizeLimit = bufferSizeLimit
    }

    /// The maximum number of stored responses of one URL, chosen by `Vary` or by ranges; the oldest goes first.
    public static let variantCountLimit = 16
    /// The maximum number of bytes of a response's fields; a response with more isn't stored.
    public static let headSizeLimit = 256 << 10
    /// The maximum freshness of a response that doesn't state its own: a week.
    public static let heuristicLifetimeLimit = Duration.seconds(7 * 86_400)
    /// How long requests wait for an equal one whose body doesn't come on, since its server sends nothing or its reader
    /// pauses.
    public static let patience = Duration.seconds(2)
    /// How long requests wait for an equal one whose body comes on, but has no known length.
    public static let longestPatience = Duration.seconds(10)
    /// How long requests wait for an equal one whose body comes on and has a known length.
    public static let longestPatienceForLength = Duration.seconds(60)
    /// How long the body of an answer in the background is loaded that comes on, and that nobody waits for.
    public static let longestRevalidation = Duration.seconds(600)

    /// The limits of the cache on disk.
    var ofDisk: DiskCache.Limits {
      var limits = DiskCache.Limits(totalSizeLimit: diskSizeLimit)
      // A change must find them: otherwise, what it could not remove would return once the clock is right. They are
      // stale.
      limits.findsEntriesStoredLater = true
      return limits
    }
  }
}
