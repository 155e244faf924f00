#if canImport(FoundationNetworking)
  public import Foundation
  public import FoundationNetworking
  import SteadFiles
  import Synchronization

  /// `URLCache` as on Apple's systems: stores responses for their requests, in memory and on disk.
  ///
  /// ```swift
  /// typealias URLCache = ResponseCache  // In your module: code for Apple's systems compiles unchanged.
  /// ```
  ///
  /// Off Apple's systems, Foundation's own finds a response for requests with another query or
  /// method, crashes when it drops one that was stored twice, and lacks
  /// `init(memoryCapacity:diskCapacity:directory:)`. Here, a request's key is its method and its
  /// URL without the fragment, and a response with a `Vary` is only found by requests whose fields
  /// chose it.
  ///
  /// It stores what it is called with and decides nothing: a stale response is found, too.
  /// URLSession uses no cache off Apple's systems, whatever its configuration has. To load with
  /// one, use ``HTTPCache`` and `session.data(for:cache:)`.
  ///
  /// Costs: a look-up in memory, and if that misses, one in a database. Limits: `memoryCapacity`
  /// and `diskCapacity`, in bytes, hold at every moment. Several processes may share a directory;
  /// what one of them removes may remain in another's memory. It never throws: without a writable
  /// directory, it holds in memory what it can, and `Stead.onProblem` is called once. This object
  /// no longer finds what a disk refuses to remove.
  ///
  /// Only the user can read the files. A `userInfo` that isn't a property list is only kept in
  /// memory.
  public final class ResponseCache: URLCache, SharedResponses, @unchecked Sendable {
    // Sendable: its superclass is, and it only adds constants of Sendable types.
    private static let defaultMemoryCapacity = 4 << 20
    private static let defaultDiskCapacity = 20 << 20

    private let memory: MemoryCache<String, StoredURLResponse>
    private let disk: Mutex<DiskCache?>
    private let directory: URL
    private let removals = Mutex(Removals())
    private let pendingRemovals = PendingRemovals()

    /// Makes a cache in its own directory.
    ///
    /// - Parameters:
    ///   - memoryCapacity: The maximum number of bytes of responses in memory.
    ///   - diskCapacity: The maximum number of bytes of responses on disk; with 0 the disk isn't
    ///     used.
    ///   - directory: Where the responses on disk are; nil for this program's place in the user's
    ///     cache directory.
    public convenience init(memoryCapacity: Int, diskCapacity: Int, directory: URL? = nil) {
      self.init(
        memoryCapacity: memoryCapacity, diskCapacity: diskCapacity,
        at: directory ?? Self.place.appending(path: "default", directoryHint: .isDirectory))
    }

    /// Makes a cache in its own directory.
    ///
    /// - Parameter path: An absolute path, or one below this program's place in the user's cache
    ///   directory; nil as for ``init(memoryCapacity:diskCapacity:directory:)``.
    public override convenience init(memoryCapacity: Int, diskCapacity: Int, diskPath path: String?)
    {
      let directory = path.map { path in
        path.hasPrefix("/")
          ? URL(filePath: path, directoryHint: .isDirectory)
          : Self.place.appending(path: path, directoryHint: .isDirectory)
      }
      self.init(memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, directory: directory)
    }

    private init(memoryCapacity: Int, diskCapacity: Int, at directory: URL) {
      self.directory = directory
      memory = MemoryCache(totalCostLimit: memoryCapacity)
      disk = Mutex(Self.disk(diskCapacity, directory))
      // The superclass creates the directory that it is given, and would use it for its own files:
      // it cannot create one below a device.
      super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: "/dev/null/none")
    }

    /// This program's place in the user's cache directory.
    private static var place: URL {
      let name = ProcessInfo.processInfo.processName
      let directories = try? AppDirectories(id: name)
      let cache = directories?.cache ?? FileManager.default.temporaryDirectory
      return cache.appending(path: "responses", directoryHint: .isDirectory)
    }

    private static func disk(_ capacity: Int, _ directory: URL) -> DiskCache? {
      capacity > 0 ? DiskCache(directory: directory, limits: .init(totalSizeLimit: capacity)) : nil
    }

    private var store: DiskCache? { disk.withLock { $0 } }

    // MARK: - Responses

    /// The response that was stored for a request; nil if there is none, or none that its fields
    /// choose.
    public override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
      guard let key = StoredURLResponse.key(request) else { return nil }
      if let stored = memory.value(for: key), removals.withLock({ !$0.include(stored.date) }) {
        return stored.matches(request) ? stored.response : nil
      }
      // Before the look-up on disk, to notice a change in between.
      let count = removals.withLock { $0.count }
      guard !pendingRemovals.mayContain(key), let entry = store?.entry(for: key),
        let data = entry.data,
        let stored = StoredURLResponse(head: entry.metadata, data: data, date: entry.storedAt)
      else { return nil }
      removals.withLock { removals in
        // Unless the key may have been removed or replaced since it was read from the disk.
        if removals.count == count { memory.setValue(stored, for: key, cost: stored.cost) }
      }
      return stored.matches(request) ? stored.response : nil
    }

    /// Stores a response for a request, replacing the one that was stored for it.
    ///
    /// Does nothing with the policy `.notAllowed`. With `.allowedInMemoryOnly` no copy remains on
    /// disk.
    public override func storeCachedResponse(
      _ cachedResponse: CachedURLResponse, for request: URLRequest
    ) {
      guard cachedResponse.storagePolicy != .notAllowed, let key = StoredURLResponse.key(request),
        let stored = StoredURLResponse(cachedResponse, for: request, date: Date())
      else { return }
      let head = cachedResponse.storagePolicy == .allowed ? stored.head : nil
      if let store = self.store {
        let isStored = head.map { head in
          let writer = store.writer(for: key, metadata: head)
          return pendingRemovals.clearIfNeeded({ store.removeEntries() })
            && writer.append(cachedResponse.data) && writer.commit()
        }
        // If it isn't on disk, an older response must not be found there once memory has evicted
        // this one.
        if isStored == true {
          pendingRemovals.remove(key)
        } else {
          _ = pendingRemovals.remove(key, from: store)
        }
      }
      change { _ in memory.setValue(stored, for: key, cost: stored.cost) }
    }

    /// Removes the response that is stored for a request.
    public override func removeCachedResponse(for request: URLRequest) {
      guard let key = StoredURLResponse.key(request) else { return }
      if let store { _ = pendingRemovals.remove(key, from: store) }
      change { _ in memory.removeValue(for: key) }
    }

    /// Removes all responses.
    public override func removeAllCachedResponses() {
      if store?.removeAll() == false { pendingRemovals.addAll() }
      change { _ in memory.removeAll() }
    }

    /// Removes the responses that were stored at a date or later.
    public override func removeCachedResponses(since date: Date) {
      if store?.removeValues(storedSince: date) == false { pendingRemovals.addAll() }
      change { removals in
        if !removals.add(date..<max(date, Date())) { memory.removeAll() }
      }
    }

    /// Changes memory, and keeps responses that were read from the disk before the change from
    /// getting there.
    private func change(_ body: (inout Removals) -> Void) {
      removals.withLock { removals in
        removals.count += 1
        body(&removals)
      }
    }

    // MARK: - Limits

    /// The maximum number of bytes of responses in memory; lowering it removes responses
    /// immediately.
    public override var memoryCapacity: Int {
      get { memory.totalCostLimit }
      set { memory.totalCostLimit = newValue }
    }

    /// The maximum number of bytes of responses on disk; lowering it removes responses immediately.
    public override var diskCapacity: Int {
      get { store?.limits.totalSizeLimit ?? 0 }
      set {
        let new = Self.disk(newValue, directory)
        let old = disk.withLock { disk in
          defer { disk = new }
          return disk
        }
        // A cache removes what exceeds its limits when it opens.
        if let new { _ = new.count } else { old?.removeAll() }
      }
    }

    /// The bytes of responses in memory, including their heads.
    public override var currentMemoryUsage: Int { memory.totalCost }

    /// The bytes of responses on disk, including their heads.
    public override var currentDiskUsage: Int { store?.totalSize ?? 0 }

    // MARK: - The shared cache

    private static let defaultCache = ResponseCache(
      memoryCapacity: defaultMemoryCapacity, diskCapacity: defaultDiskCapacity)
    private static let current = Mutex<URLCache?>(nil)

    /// The cache of the whole program: 4 MiB in memory and 20 MiB on disk, unless another one was
    /// set.
    public override class var shared: URLCache {
      get { current.withLock { $0 } ?? defaultCache }
      set {
        current.withLock { $0 = newValue }
        // For `configuration.urlCache = .shared`, which asks the superclass.
        super.shared = newValue
      }
    }

    /// The shared cache, unless one was set that is of another class.
    fileprivate static var sharedResponses: ResponseCache {
      current.withLock { $0 as? ResponseCache } ?? defaultCache
    }
  }

  /// Lets `.shared` be a ``ResponseCache`` wherever that type is expected, as in `let cache:
  /// URLCache = .shared`.
  ///
  /// A subclass can't give an inherited settable property another type.
  public protocol SharedResponses {}

  extension SharedResponses where Self == ResponseCache {
    /// The cache of the whole program.
    public static var shared: ResponseCache {
      get { ResponseCache.sharedResponses }
      set {
        let shared: URLCache = newValue
        ResponseCache.shared = shared
      }
    }
  }

  /// The intervals of time whose responses were removed. Applied to memory lazily, when a response
  /// is found there: a memory cache has no index by date.
  private struct Removals {
    /// The maximum number of intervals; with more, memory is cleared instead.
    private static let limit = 16

    /// The number of changes of memory, so that a look-up on disk can tell if one came in between.
    var count = 0
    private var intervals: [Range<Date>] = []

    func include(_ date: Date) -> Bool { intervals.contains { $0.contains(date) } }

    /// False if there are too many; they are forgotten then.
    mutating func add(_ new: Range<Date>) -> Bool {
      // A removal covers earlier ones that lie within it. After the clock was set back a later one
      // may end earlier.
      intervals.removeAll { new.lowerBound <= $0.lowerBound && $0.upperBound <= new.upperBound }
      intervals.append(new)
      guard intervals.count > Self.limit else { return true }
      intervals = []
      return false
    }
  }

  // MARK: - Stored responses

  /// A response of ``ResponseCache``, with its ``VaryKey``.
  ///
  /// On disk its head is JSON, stored with the body's bytes. A head of another version is not read.
  struct StoredURLResponse: Sendable {
    /// All but the body.
    private struct Head: Codable {
      static let version = 1

      var version = Head.version
      var url: URL
      /// nil for a response that isn't one of HTTP.
      var status: Int?
      var fields: [String: String] = [:]
      var mimeType: String?
      var length: Int64
      var encoding: String?
      /// A binary property list.
      var userInfo: Data?
      var chosenBy: [String: String?]
    }

    /// The approximate size of an object in memory besides its bytes.
    private static let overhead = 512

    let response: CachedURLResponse
    /// When it was stored.
    let date: Date
    private let varyKey: VaryKey

    /// Makes one from a response to be stored; nil if no request can find it, as with `Vary: *`.
    init?(_ response: CachedURLResponse, for request: URLRequest, date: Date) {
      let fields = (response.response as? HTTPURLResponse).map { HTTPCache.Response($0).fields }
      guard let varyKey = VaryKey(of: Self.request(request), for: fields ?? [:]) else {
        return nil
      }
      self.response = response
      self.date = date
      self.varyKey = varyKey
    }

    /// Reads one from the disk; nil if it isn't of this version.
    init?(head: Data, data: Data, date: Date) {
      guard let head = try? JSONDecoder().decode(Head.self, from: head),
        head.version == Head.version,
        let response = Self.response(head)
      else { return nil }
      let userInfo = head.userInfo.flatMap {
        try? PropertyListSerialization.propertyList(from: $0, format: nil) as? [String: Any]
      }
      self.response = CachedURLResponse(
        response: response, data: data, userInfo: userInfo, storagePolicy: .allowed)
      self.date = date
      varyKey = VaryKey(
        values: head.chosenBy, language: head.fields["Content-Language"]?.lowercasedASCII)
    }

    /// What a request's response is stored under; nil for a request without a URL.
    static func key(_ request: URLRequest) -> String? {
      guard let url = request.url else { return nil }
      let name = CacheKey(url)?.string ?? url.absoluteString.prefix { $0 != "#" }.description
      return "\(request.httpMethod ?? "GET") \(name)"
    }

    /// Whether the request matches the response's `Vary`.
    func matches(_ request: URLRequest) -> Bool { varyKey.matches(Self.request(request)) }

    /// Its approximate size in memory, in bytes.
    var cost: Int {
      let fields = (response.response as? HTTPURLResponse)?.allHeaderFields ?? [:]
      let size = fields.reduce(0) { $0 + "\($1.key)".utf8.count + "\($1.value)".utf8.count }
      return response.data.count + size + Self.overhead
    }

    /// The data stored with the body; nil if a part of it can't be stored.
    var head: Data? {
      guard let url = response.response.url else { return nil }
      let http = response.response as? HTTPURLResponse
      var head = Head(
        url: url, status: http?.statusCode, mimeType: response.response.mimeType,
        length: response.response.expectedContentLength,
        encoding: response.response.textEncodingName, chosenBy: varyKey.values)
      for (name, value) in http?.allHeaderFields ?? [:] { head.fields["\(name)"] = "\(value)" }
      if let userInfo = response.userInfo {
        guard PropertyListSerialization.propertyList(userInfo, isValidFor: .binary),
          let data = try? PropertyListSerialization.data(
            fromPropertyList: userInfo, format: .binary, options: 0)
        else { return nil }
        head.userInfo = data
      }
      return try? JSONEncoder().encode(head)
    }

    private static func response(_ head: Head) -> URLResponse? {
      if let status = head.status {
        return HTTPURLResponse(
          url: head.url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: head.fields)
      }
      return URLResponse(
        url: head.url, mimeType: head.mimeType, expectedContentLength: Int(head.length),
        textEncodingName: head.encoding)
    }

    private static func request(_ request: URLRequest) -> HTTPCache.Request {
      HTTPCache.Request(
        method: request.httpMethod ?? "GET", url: request.url ?? URL(filePath: "/"),
        fields: HTTPCache.Fields(
          (request.allHTTPHeaderFields ?? [:]).map { (name: $0.key, value: $0.value) }))
    }
  }
#endif
