public import Foundation
public import SteadFiles
import Synchronization

/// A private cache of HTTP responses, by RFC 9111.
///
/// ```swift
/// let cache = HTTPCache(named: "responses", in: try AppDirectories(id: "com.example.app"))
/// let reply = try await cache.response(to: HTTPCache.Request(url: url)) { request in
///   try await client.send(request)  // Any client: gives the head and the body.
/// }
/// ```
///
/// It is private: it belongs to one user, and stores responses with `Cache-Control: private`, with cookies and to
/// requests with `Authorization`. A response to one value of `Authorization` is never used for another one.
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
  let store: ResponseStore
  let now: @Sendable () -> Date
  /// Waits for some time.
  let sleep: @Sendable (Duration) async throws -> Void
  let flights = SingleFlight<Flight, Landing>()
  let landings = Mutex<[Flight: Landing]>([:])
  /// The revalidations that run in the background, by the names of the stored responses' bodies.
  let revalidations = Mutex<[String: Task<Void, Never>]>([:])
  let counts = Mutex(Statistics())
  let settings = Mutex(Settings())

  /// Requests that share one fetch: equal ones between which nothing of their URL was removed.
  struct Flight: Hashable, Sendable {
    let question: Request
    let key: CacheKey
    let mode: Mode
    let epoch: Int
  }

  /// The flight of a request that is sent now.
  func flight(of question: Request, under key: CacheKey, _ mode: Mode) -> Flight {
    Flight(question: question, key: key, mode: mode, epoch: store.rights.epoch(of: key))
  }

  /// Makes an empty cache that is only in memory.
  public convenience init(limits: Limits = Limits()) {
    self.init(disk: nil, limits: limits)
  }

  /// Makes a cache in memory and on disk, in a directory below an app's cache directory.
  ///
  /// - Parameters:
  ///   - name: One path component, such as `responses`.
  ///   - directories: The app's directories.
  public convenience init(
    named name: String, in directories: AppDirectories, limits: Limits = Limits()
  ) {
    self.init(
      disk: DiskCache(named: name, in: directories, limits: limits.ofDisk), limits: limits)
  }

  /// Makes a cache in memory and on disk, in its own directory, which is created if it is missing.
  ///
  /// Several processes may use it. The directory must belong to this user, be writable by no other user, and not be a
  /// symbolic link; otherwise, responses are kept in memory.
  public convenience init(directory: URL, limits: Limits = Limits()) {
    self.init(disk: DiskCache(directory: directory, limits: limits.ofDisk), limits: limits)
  }

  /// Makes a cache with a given time, which is only in memory if there is no directory. It drops nothing when memory is
  /// short, so that its contents only depend on its calls.
  ///
  /// - Parameter sleep: Waits for some time.
  package convenience init(
    directory: URL?, limits: Limits = Limits(), now: @escaping @Sendable () -> Date,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    let disk = directory.map {
      DiskCache(path: try? $0.checkedPath, directory: $0, limits: limits.ofDisk, now: now)
    }
    self.init(disk: disk, limits: limits, now: now, sleep: sleep)
  }

  private init(
    disk: DiskCache?, limits: Limits, now: (@Sendable () -> Date)? = nil,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    self.limits = limits
    self.sleep = sleep
    let clock = now ?? { Date() }
    self.now = clock
    store = ResponseStore(
      disk: disk, limits: limits, respondsToMemoryPressure: now == nil, now: clock)
  }

  /// What the cache has done since it was made.
  public var statistics: Statistics { counts.withLock { $0 } }

  /// The approximate number of bytes that the stored responses take in memory.
  public var memorySize: Int { store.memory.totalCost }
  /// The number of bytes of the responses on disk.
  public var diskSize: Int { store.disk?.totalSize ?? 0 }
}
