extension HTTPCache {
  /// What a program has said about the cache's use of responses, beyond what their fields say.
  struct Settings: Sendable, Hashable {
    /// As the cache's configuration has it.
    var isShared = false
    var isOffline = false
    var staleOnFailure: Duration?
    var defaultLifetime: Duration?
  }

  /// Whether the server is never asked: any stored response is used, however old, and a missing one throws
  /// ``HTTPCacheError/Code/offline``. False by default.
  public var isOffline: Bool {
    get { settings.withLock { $0.isOffline } }
    set { settings.withLock { $0.isOffline = newValue } }
  }

  /// For how long after it became stale a response is used when the server can't be reached, or fails with a status of
  /// 500, 502, 503 or 504. Nil, the default, for not at all.
  ///
  /// A `stale-if-error` of the response or of the request goes before. A response with `must-revalidate` or `no-cache`
  /// is not used, nor is any for a request with `no-cache`, or in the modes ``Mode/reload`` and ``Mode/bypass``. The
  /// reply's source is ``Outcome/Source/stale``. Another change of the network, such as a timeout, takes as long as the
  /// client takes to throw its error.
  public var staleOnFailure: Duration? {
    get { settings.withLock { $0.staleOnFailure } }
    set { settings.withLock { $0.staleOnFailure = newValue } }
  }

  /// How long a response is fresh that doesn't say so itself, counted from the server's `Date`; nil, the default, for a
  /// tenth of the time since its `Last-Modified`, and a week at most.
  ///
  /// It counts for responses without `max-age` and `Expires` that have `public`, or a status that RFC 9110 lets caches
  /// estimate (200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414 and 501), stored before it was set or afterwards. A
  /// response with `no-cache` is confirmed before each use all the same.
  public var defaultLifetime: Duration? {
    get { settings.withLock { $0.defaultLifetime } }
    set { settings.withLock { $0.defaultLifetime = newValue } }
  }
}
