extension HTTPCache {
  /// What an HTTP cache may take up.
  public struct Limits: Sendable, Hashable {
    /// The most bytes of responses in memory.
    public var memorySize: Int
    /// The most bytes of responses on disk.
    public var diskSize: Int
    /// The most bytes of one response's body; a longer one is handed on and not stored.
    public var bodySize: Int
    /// The most bytes of one body that are gathered in memory. A longer one goes to disk while it is handed on,
    /// or isn't stored if the cache has no disk.
    public var bufferSize: Int

    /// Makes limits: 16 MiB in memory, 200 MiB on disk, 50 MiB for a body, of which 1 MiB is gathered in memory.
    public init(
      memorySize: Int = 16 << 20, diskSize: Int = 200 << 20, bodySize: Int = 50 << 20,
      bufferSize: Int = 1 << 20
    ) {
      self.memorySize = memorySize
      self.diskSize = diskSize
      self.bodySize = bodySize
      self.bufferSize = bufferSize
    }

    /// The most responses of one URL that are stored, chosen by `Vary` or by ranges; the oldest goes first.
    public static let variantsPerURL = 16
    /// The most bytes of a response's fields; a response with more isn't stored.
    public static let headSize = 256 << 10
    /// The longest time for which a response is fresh that says nothing of it: a week.
    public static let heuristicLifetime = Duration.seconds(7 * 86_400)
    /// How long requests wait for an equal one whose body is too large for memory, once its reader rests.
    public static let patience = Duration.seconds(2)

    /// The limits of the cache on disk.
    var ofDisk: DiskCache.Limits {
      var limits = DiskCache.Limits(totalSize: diskSize)
      // A change must find them: what it could not remove would be there again once the clock is right. They are stale.
      limits.findsEntriesStoredLater = true
      return limits
    }
  }
}
