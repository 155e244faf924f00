extension HTTPCache {
  /// What an HTTP cache has done since it was made.
  public struct Statistics: Sendable, Hashable {
    /// How often a stored response, fresh or stale, was used unconfirmed: without asking the server, or in the place of a
    /// server's failure.
    public var hits = 0
    /// How many of the ``hits`` were stale.
    public var staleHits = 0
    /// How often the server confirmed a stored response.
    public var revalidations = 0
    /// How often the server sent a response because no stored one could be used.
    public var misses = 0
    /// How often a request was passed on without a look-up in the cache.
    public var bypasses = 0
    /// The bytes of bodies that came from the cache and not from the server.
    public var bytesSaved = 0

    /// Makes statistics of a cache that has done nothing yet.
    public init() {}

    mutating func count(_ reply: Reply) {
      bytesSaved += reply.savedSize
      switch reply.outcome.source {
      case .hit: hits += 1
      case .stale:
        hits += 1
        staleHits += 1
      case .revalidated: revalidations += 1
      case .bypass: bypasses += 1
      default: misses += 1
      }
    }
  }
}
