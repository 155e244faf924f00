extension HTTPCache {
  /// What the cache did to answer a request.
  public struct Outcome: Sendable, Hashable {
    /// Where a response came from, to compare with.
    public struct Source: Hashable, Sendable, CustomStringConvertible {
      private let name: String
      private init(_ name: String) { self.name = name }

      /// A stored response that was fresh.
      public static let hit = Source("hit")
      /// A stored response that was stale, and allowed nevertheless.
      public static let stale = Source("stale")
      /// A stored response that the server confirmed with a 304.
      public static let revalidated = Source("revalidated")
      /// The server, since no stored response could be used.
      public static let miss = Source("miss")
      /// The server, since the request's method or the caller rules out a stored response.
      public static let bypass = Source("bypass")
      /// The cache itself: a 504 for a request with `only-if-cached`.
      public static let unavailable = Source("unavailable")

      /// The source's name.
      public var description: String { name }
    }

    /// Where the response came from.
    public var source: Source
    /// How old the response was when it was returned, in seconds; nil for one that the server just sent.
    public var age: Int?
    /// For how many seconds the response remains fresh; negative once it is stale, nil if it is not stored.
    public var freshness: Int?
    /// The status of the server's answer, if it was asked.
    public var forwardStatus: Int?
    /// Whether the server's answer is stored, or will be once its body is complete, as far as its head and the limits
    /// say: one whose length isn't known may turn out too long, and a disk may be full by then.
    public var isStored = false
    /// Whether another request's answer was shared.
    public var isShared = false
    /// Whether the server was asked in vain, and a stored response took the place of its answer.
    var hasFailed = false

    /// Makes an outcome.
    public init(source: Source, age: Int? = nil) {
      self.source = source
      self.age = age
    }

    /// The equivalent value of a `Cache-Status` field (RFC 9211).
    ///
    /// - Parameter cache: The cache's name, a token such as `stead`.
    public func cacheStatus(named cache: String = "stead") -> String {
      var value = cache
      let forward = forwardReason
      if let forward {
        value += "; fwd=\(forward)"
        if let forwardStatus { value += "; fwd-status=\(forwardStatus)" }
      } else if source != .unavailable {
        value += "; hit"
      }
      if let freshness { value += "; ttl=\(freshness)" }
      if forward != nil, isStored { value += "; stored" }
      if forward != nil, isShared { value += "; collapsed" }
      return value
    }

    /// Why the request, or the one whose answer it shared, went to the server (RFC 9211, 2.2); nil if none did.
    private var forwardReason: String? {
      switch source {
      case .unavailable: nil
      case .stale where hasFailed: "stale"
      case .hit where isShared, .stale where isShared: "miss"
      case .hit: nil
      case .stale: forwardStatus == nil ? nil : "stale"
      case .revalidated: "stale"
      case .bypass: "bypass"
      default: age == nil ? "miss" : "stale"
      }
    }
  }
}
