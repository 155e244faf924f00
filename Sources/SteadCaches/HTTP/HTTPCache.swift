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
/// A private cache belongs to one user, and stores responses with `Cache-Control: private`, with cookies and to
/// requests with `Authorization`. A response to one value of `Authorization` is never used for another one. See ``Configuration`` for
/// a shared cache, and for URLs that are signed anew for each request.
///
/// A fresh response from memory takes some microseconds. Simultaneous equal requests make one fetch, if its response
/// may be used for all of them. The cache never throws for its own failures: what it can't store or read is fetched
/// again.
public final class HTTPCache: Sendable {
  /// Sends a request to the server, and returns the head of the final response and its body.
  ///
  /// The request may have fields that the caller's did not have, such as `If-None-Match`, so send the one that is
  /// passed. A decoded body, for example from gzip, must be returned without `Content-Encoding` and `Content-Length`.
  public typealias Fetch = @Sendable (Request) async throws -> (Response, Body)

  /// The limits that the cache was made with.
  public let limits: Limits
  /// Whose cache it is, and which requests are for the same resource.
  public let configuration: Configuration
  let store: ResponseStore
  let now: @Sendable () -> Date
  /// Waits for some time.
  let sleep: @Sendable (Duration) async throws -> Void
  let flights = SingleFlight<Flight, Landing>()
  let landings = Mutex<[Flight: Landing]>([:])
  /// The revalidations that run in the background, by the names of the stored responses' bodies.
  let revalidations = Mutex<[String: Revalidation]>([:])
  let counts = Mutex(Statistics())
  let settings: Mutex<Settings>

  /// Requests that share one fetch: equal ones between which nothing of their URL was removed.
  ///
  /// The client's own conditions count: a request without them must not get the 304 of one that has them, although the
  /// server may be asked the same for both.
  struct Flight: Hashable, Sendable {
    /// As the client sent it.
    let request: Request
    let key: CacheKey
    let mode: Mode
    let epoch: Int

    // URLs that have one key are those of one resource, however they are spelled or signed.
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

    static func == (one: Flight, other: Flight) -> Bool { one.identity == other.identity }
    func hash(into hasher: inout Hasher) { hasher.combine(identity) }
  }

  /// The flight of a request that is sent now.
  func flight(of request: Request, under key: CacheKey, _ mode: Mode) -> Flight {
    Flight(request: request, key: key, mode: mode, epoch: store.rights.epoch(of: key))
  }

  /// Makes an empty cache that is only in memory.
  public convenience init(
    limits: Limits = Limits(), configuration: Configuration = Configuration()
  ) {
    self.init(disk: nil, limits: limits, configuration)
  }

  /// Makes a cache in memory and on disk, in a directory below an app's cache directory.
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
  /// Several processes may use it. The directory must belong to this user, be writable by no other user, and not be a
  /// symbolic link; otherwise, responses are kept in memory.
  public convenience init(
    directory: URL, limits: Limits = Limits(), configuration: Configuration = Configuration()
  ) {
    self.init(
      disk: DiskCache(directory: directory, limits: limits.ofDisk), limits: limits, configuration)
  }

  /// Makes a cache with a given time, which is only in memory if there is no directory. It drops nothing when memory is
  /// short, so that its contents only depend on its calls.
  ///
  /// - Parameter sleep: Waits for some time. Unless it is given none passes, however long a busy machine takes.
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
