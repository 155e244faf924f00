public import Foundation
public import SteadFiles
import Synchronization

/// A cache of HTTP responses, by RFC 9111: a private one, unless its configuration says otherwise.
///
/// ```swift
/// let cache = HTTPCache(named: "responses", in: try AppDirectories(id: "com.example.app"))
/// let reply = try await cache.response(to: HTTPCache.Request(url: url)) { request in
///   try await client.send(request)  // Any client: gives the head and the body.
/// }
/// ```
///
/// A private cache belongs to one user, and stores responses with `Cache-Control: private`, with
/// cookies and to requests with `Authorization`. A response to one value of `Authorization` is
/// never used for another one. See ``Configuration`` for a shared cache, and for URLs that are
/// signed anew for each request.
///
/// A fresh response from memory takes some microseconds. Simultaneous equal requests make one
/// fetch, if its response may be used for all of them. The cache never throws for its own failures:
/// what it can't store or read is fetched again.
///
/// It isn't for content that must survive: a response is evicted when a limit needs its room, and
/// lost with a damaged file. It parses no HTTP and opens no connection; with URLSession use
/// `session.data(for:cache:)`.
///
/// A request goes this way: ``CacheKey`` -> ``ResponseStore/responses(for:)`` -> ``CacheDecision``
/// -> a stored body, or a fetch -> ``StoreDecision`` -> ``ResponseStore``. The two decisions are
/// values without side effects.
public final class HTTPCache: Sendable {
  /// Sends a request to the server, and returns the head of the final response and its body.
  ///
  /// The request may have fields that the caller's did not have, such as `If-None-Match`, so send
  /// the one that is passed. A decoded body, for example from gzip, must be returned without
  /// `Content-Encoding` and `Content-Length`.
  public typealias Fetch = @Sendable (Request) async throws -> (Response, Body)

  /// The limits that the cache was made with.
  public let limits: Limits
  /// Whether the cache is a shared one, and which requests are for the same resource.
  public let configuration: Configuration
  let store: ResponseStore
  let now: @Sendable () -> Date
  /// Suspends for a duration; tests replace it.
  let sleep: @Sendable (Duration) async throws -> Void
  /// The fetches whose response has not come yet.
  let fetches = SingleFlight<FetchKey, FetchResult>()
  /// The fetches whose body is being received and that equal requests may wait for.
  let joinable = Mutex<[FetchKey: FetchResult]>([:])
  /// The revalidations that run in the background, by the names of the stored responses' bodies.
  let revalidations = Mutex<[String: Revalidation]>([:])
  let counts = Mutex(Statistics())
  let settings: Mutex<Settings>

  /// What requests that share one fetch have in common.
  ///
  /// The client's own conditions count: a request without them must not get the 304 of one that has
  /// them, although the same request may be sent to the server for both. So does the epoch: a
  /// request after a removal must not get a response from before it.
  struct FetchKey: Hashable, Sendable {
    /// As the client sent it.
    let request: Request
    let key: CacheKey
    let mode: Mode
    let epoch: Int

    // By the key and not by the URL: URLs with one key are of one resource, however they are
    // spelled or signed.
    private var identity: Identity {
      Identity(
        method: request.method, fields: request.fields, hasBody: request.hasBody, key: key,
        mode: mode, epoch: epoch)
    }

    private struct Identity: Hashable {
      let method: String
      let fields: Fields
      let hasBody: Bool
      let key: CacheKey
      let mode: Mode
      let epoch: Int
    }

    static func == (one: FetchKey, other: FetchKey) -> Bool { one.identity == other.identity }
    func hash(into hasher: inout Hasher) { hasher.combine(identity) }
  }

  /// The key of a request that is sent now.
  func fetchKey(of request: Request, under key: CacheKey, _ mode: Mode) -> FetchKey {
    FetchKey(request: request, key: key, mode: mode, epoch: store.epochs.epoch(of: key))
  }

  /// Makes an empty cache in memory, which ends with the object.
  public convenience init(
    limits: Limits = Limits(), configuration: Configuration = Configuration()
  ) {
    self.init(disk: nil, limits: limits, configuration)
  }

  /// Makes a cache in memory and on disk, in a directory below an app's cache directory.
  ///
  /// Opens no file: that happens with the first request. A name or a directory that can't be used
  /// is reported once to `Stead.onProblem`, and responses are then kept in memory.
  ///
  /// - Parameters:
  ///   - name: One path component, such as `responses`.
  ///   - directories: The app's directories.
  public convenience init(
    named name: String, in directories: AppDirectories, limits: Limits = Limits(),
    configuration: Configuration = Configuration()
  ) {
    self.init(
      disk: DiskCache(named: name, in: directories, limits: limits.ofDisk), limits: limits,
      configuration)
  }

  /// Makes a cache in memory and on disk, in its own directory, which is created if it is missing.
  ///
  /// Several processes may use it. The directory must belong to this user, be writable by no other
  /// user, and not be a symbolic link; otherwise, responses are kept in memory.
  public convenience init(
    directory: URL, limits: Limits = Limits(), configuration: Configuration = Configuration()
  ) {
    self.init(
      disk: DiskCache(directory: directory, limits: limits.ofDisk), limits: limits, configuration)
  }

  /// Makes a cache for tests, with a clock, and without a response to memory pressure, so that its
  /// contents only depend on its calls.
  ///
  /// - Parameters:
  ///   - directory: Nil for a cache in memory alone.
  ///   - sleep: Suspends for a duration. By default it never returns, so that no timeout expires on
  ///     a busy machine.
  package convenience init(
    directory: URL?, limits: Limits = Limits(), configuration: Configuration = Configuration(),
    now: @escaping @Sendable () -> Date,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { _ in
      // Longer than any test; it ends with its task.
      try await Task.sleep(for: .seconds(86_400))
    }
  ) {
    let disk = directory.map {
      DiskCache(path: try? $0.checkedPath, directory: $0, limits: limits.ofDisk, now: now)
    }
    self.init(disk: disk, limits: limits, configuration, now: now, sleep: sleep)
  }

  private init(
    disk: DiskCache?, limits: Limits, _ configuration: Configuration,
    now: (@Sendable () -> Date)? = nil,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    self.limits = limits
    self.configuration = configuration
    settings = Mutex(Settings(isShared: configuration.isShared))
    self.sleep = sleep
    let clock = now ?? { Date() }
    self.now = clock
    store = ResponseStore(
      disk: disk, limits: limits, isShared: configuration.isShared,
      respondsToMemoryPressure: now == nil, now: clock)
  }

  /// What the responses of a URL are stored under; nil if it isn't one of `http` or `https`.
  func key(_ url: URL) -> CacheKey? { CacheKey(url, ignoring: configuration.ignoredParameters) }

  /// What the cache has done since it was made.
  public var statistics: Statistics { counts.withLock { $0 } }

  /// The approximate number of bytes that the stored responses take in memory.
  public var memorySize: Int { store.memory.totalCost }
  /// The number of bytes of the responses on disk.
  public var diskSize: Int { store.disk?.totalSize ?? 0 }
}

// MARK: - Removing

extension HTTPCache {
  /// Removes all responses of a URL, all its variants, and those that are being fetched.
  ///
  /// ```swift
  /// cache.removeResponses(for: profileURL)  // After a change that the server doesn't know of yet.
  /// ```
  ///
  /// A fetch that is running goes on for its callers, and its response isn't stored. Costs a
  /// transaction of the disk. If the disk can't be written, this object no longer finds the
  /// responses, but other processes do.
  public func removeResponses(for url: URL) {
    if let key = self.key(url) { store.remove(key) }
  }

  /// Removes all responses whose URLs begin with a URL, and those that are being fetched.
  ///
  /// Both are compared without fragments, with scheme and host in lower case: `https://a.example/b`
  /// is the beginning of `https://a.example/b?c` and of `https://a.example/bc`, so end a directory
  /// with a slash. Reads every response.
  public func removeResponses(withPrefix url: URL) {
    if let key = self.key(url) { store.remove(prefix: key) }
  }

  /// The URLs that have responses, in no particular order. Reads every response.
  public var storedURLs: [URL] { store.keys.compactMap { URL(string: $0.string) } }

  /// Removes all responses of a host, on all its ports.
  ///
  /// Other hosts' responses stay. If the cache has a disk, they leave memory and stay on disk.
  ///
  /// If the disk can't be written, the same happens as in ``removeAll()``.
  public func removeResponses(fromHost host: String) {
    store.remove(host: host)
  }

  /// Removes all responses that were stored at a date or later. A confirmation by the server
  /// doesn't count as storing.
  ///
  /// Older ones stay. If the cache has a disk, they leave memory and stay on disk.
  ///
  /// If the disk can't be written, the same happens as in ``removeAll()``.
  public func removeResponses(storedSince date: Date) {
    store.remove(storedSince: date)
  }

  /// Removes all responses, for example when a user logs out, and those that are being fetched,
  /// also by revalidations in the background (`stale-while-revalidate`).
  ///
  /// If the disk can't be written, because it is full or a stopped process holds its lock, this
  /// object works in memory until it has emptied the disk, which it tries whenever it stores a
  /// response. The files hold the responses until then, and other objects and processes find them.
  public func removeAll() {
    store.removeAll()
  }

  // MARK: - Statistics

  /// What an HTTP cache has done since it was made.
  public struct Statistics: Sendable, Hashable {
    /// How often a stored response, fresh or stale, was used unconfirmed: without asking the
    /// server, or in the place of a server's failure.
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

// MARK: - Errors

/// Why an HTTP cache has no response to return, or a response has no body.
///
/// A cache throws nothing else of its own: failures of its disk are reported to `Stead.onProblem`,
/// and errors of the closure that fetches are passed on unchanged.
public struct HTTPCacheError: Error, Sendable {
  /// The kind of failure, to compare with.
  public struct Code: Hashable, Sendable {
    private enum Name { case offline, notStored, bodyAlreadyRead }
    private let name: Name
    private init(_ name: Name) { self.name = name }

    /// The cache is in offline mode and has no response for the request.
    public static let offline = Code(.offline)
    /// The mode `onlyStored` was requested, and no response is stored for the request.
    public static let notStored = Code(.notStored)
    /// A body that comes from the server was read a second time, when its bytes were gone.
    public static let bodyAlreadyRead = Code(.bodyAlreadyRead)
  }

  /// The kind of failure, to compare with.
  public var code: Code
  /// What went wrong, and the remedy.
  public var message: String

  init(_ code: Code, for request: HTTPCache.Request) {
    let address = CacheKey(request.url)?.origin ?? request.url.scheme ?? ""
    let remedy =
      code == .offline
      ? "set isOffline to false" : "use another cachePolicy, or the mode preferStored,"
    self.init(
      code, "No response of \(address) is stored for the request; \(remedy) to fetch it.")
  }

  private init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  static let bodyAlreadyRead = HTTPCacheError(
    .bodyAlreadyRead,
    "The body was already read, and the server sends it once; keep the bytes of the first reading.")
}

extension HTTPCacheError: CustomStringConvertible, LocalizedError {
  /// The message.
  public var description: String { message }
  /// The message.
  public var errorDescription: String? { message }
}
