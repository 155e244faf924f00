extension HTTPCache {
  /// What the program has set about the use of stored responses, beyond what their fields say.
  struct Settings: Sendable, Hashable {
    /// As the cache's configuration has it.
    var isShared = false
    var isOffline = false
    var staleOnFailure: Duration?
    var defaultLifetime: Duration?
  }

  /// Whether the server is never asked: any stored response is used, however old, and a missing one
  /// throws ``HTTPCacheError/Code/offline``. False by default.
  public var isOffline: Bool {
    get { settings.withLock { $0.isOffline } }
    set { settings.withLock { $0.isOffline = newValue } }
  }

  /// For how long after it became stale a response is used when the server can't be reached, or
  /// fails with a status of 500, 502, 503 or 504. Nil, the default, for not at all.
  ///
  /// A `stale-if-error` of the response or of the request goes before. A response with
  /// `must-revalidate` or `no-cache` is not used, nor is any for a request with `no-cache`, or in
  /// the modes ``Mode/reload`` and ``Mode/bypass``. The reply's source is ``Outcome/Source/stale``.
  ///
  /// If the server can't be reached, the reply comes when the client has thrown its error, for
  /// example after the client's timeout.
  public var staleOnFailure: Duration? {
    get { settings.withLock { $0.staleOnFailure } }
    set { settings.withLock { $0.staleOnFailure = newValue } }
  }

  /// How long a response is fresh that doesn't say so itself, counted from the server's `Date`;
  /// nil, the default, for a tenth of the time since its `Last-Modified`, and a week at most.
  ///
  /// It counts for responses without `max-age` and `Expires` that have `public`, or a status that
  /// RFC 9110 lets caches estimate (200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414 and 501),
  /// stored before it was set or afterwards. A response with `no-cache` is confirmed before each
  /// use all the same.
  public var defaultLifetime: Duration? {
    get { settings.withLock { $0.defaultLifetime } }
    set { settings.withLock { $0.defaultLifetime = newValue } }
  }

  // MARK: - Configuration

  /// What a cache is for its whole life: whose it is, and which requests are for the same resource.
  ///
  /// Give a cache another directory when its configuration changes: what was stored under the other
  /// one may be found, or take room until it goes.
  public struct Configuration: Sendable, Hashable {
    /// Whether the cache is a shared one (RFC 9111, 1.2.2), as of a proxy or a gateway, and answers
    /// many users. False by default.
    ///
    /// A shared cache obeys `s-maxage`, `proxy-revalidate` and `private`. It stores a response to a
    /// request with `Authorization` only if the response has `public`, `must-revalidate` or
    /// `s-maxage` (RFC 9111, 3.5), and then for all users; so it does one with `Set-Cookie` only if
    /// it has `public` or `s-maxage`, which the RFC leaves to caches. Responses that a private
    /// cache has stored in the same directory are not found.
    public var isShared: Bool
    /// The names of query parameters that don't count: requests whose URLs differ in nothing else
    /// get one another's responses. None by default.
    ///
    /// For URLs that are signed anew each time, such as `X-Amz-Signature`, `X-Amz-Date` and
    /// `X-Amz-Credential`, or that carry marks such as `utm_source`. Names are compared after
    /// percent-decoding, and by case. The server is sent the URL as it is.
    ///
    /// A signature that doesn't count is no permission: who has the rest of the URL gets the stored
    /// response, even with a signature that the server would refuse. So don't use this for signed
    /// URLs in a shared cache, or where users of one process have different rights.
    public var ignoredParameters: Set<String>

    /// Makes a configuration: of a private cache, for which all parameters count, unless told
    /// otherwise.
    public init(isShared: Bool = false, ignoredParameters: Set<String> = []) {
      self.isShared = isShared
      self.ignoredParameters = ignoredParameters
    }
  }

  // MARK: - Limits

  /// The limits of an HTTP cache.
  public struct Limits: Sendable, Hashable {
    /// The maximum number of bytes of responses in memory.
    public var memorySizeLimit: Int
    /// The maximum number of bytes of responses on disk.
    public var diskSizeLimit: Int
    /// The maximum number of bytes of one response's body; a longer one is passed on and not
    /// stored.
    public var bodySizeLimit: Int
    /// The maximum number of bytes of one body that are gathered in memory. A longer one goes to
    /// disk while it is passed on, or isn't stored if the cache has no disk.
    public var bufferSizeLimit: Int

    /// Makes limits: 16 MiB in memory, 200 MiB on disk, 50 MiB for a body, of which 1 MiB is
    /// gathered in memory.
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

    /// The maximum number of stored responses of one URL, chosen by `Vary` or by ranges; the oldest
    /// goes first.
    public static let variantCountLimit = 16
    /// The maximum number of bytes of a response's fields; a response with more isn't stored.
    public static let headSizeLimit = 256 << 10
    /// The maximum freshness of a response that doesn't state its own: a week.
    public static let heuristicLifetimeLimit = Duration.seconds(7 * 86_400)
    /// How long requests wait for an equal one whose body doesn't come on, since its server sends
    /// nothing or its reader pauses.
    public static let stallLimit = Duration.seconds(2)
    /// How long requests wait for an equal one whose body comes on, but has no known length.
    public static let waitLimit = Duration.seconds(10)
    /// How long requests wait for an equal one whose body comes on and has a known length.
    public static let waitLimitOfKnownLength = Duration.seconds(60)
    /// How long the body of an answer in the background is loaded that comes on, and that nobody
    /// waits for.
    public static let longestRevalidation = Duration.seconds(600)

    /// The limits of the cache on disk.
    var ofDisk: DiskCache.Limits {
      var limits = DiskCache.Limits(totalSizeLimit: diskSizeLimit)
      // A change must find them: otherwise, what it could not remove would return once the clock is
      // right. They are stale.
      limits.findsEntriesStoredLater = true
      return limits
    }
  }

  // MARK: - Modes

  /// How one request uses the cache, besides what its fields demand.
  public struct Mode: Hashable, Sendable, CustomStringConvertible {
    private enum Name { case standard, reload, revalidate, preferStored, onlyStored, bypass }
    private let name: Name
    private init(_ name: Name) { self.name = name }

    /// The mode's name, for logs and metrics.
    public var description: String { "\(name)" }

    /// As RFC 9111 defines.
    public static let standard = Mode(.standard)
    /// No stored response is used. The new response is stored.
    public static let reload = Mode(.reload)
    /// The server is asked whether the stored response is still valid, even if it is fresh.
    public static let revalidate = Mode(.revalidate)
    /// A stored response is used however old it is; the server is only asked if there is none.
    public static let preferStored = Mode(.preferStored)
    /// A stored response is used however old it is; an error is thrown if there is none, and for a
    /// request that no stored response may answer, such as a POST.
    public static let onlyStored = Mode(.onlyStored)
    /// No stored response is used, and nothing is stored.
    public static let bypass = Mode(.bypass)
  }
}
