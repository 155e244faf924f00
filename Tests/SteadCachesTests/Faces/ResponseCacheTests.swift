#if canImport(FoundationNetworking)
  import Foundation
  import FoundationNetworking
  import SteadSQLite
  import SteadTestSupport
  import Testing

  @testable import SteadCaches

  @Suite struct ResponseCacheTests {
    private static let capacity = 1 << 20
    private let directory: TemporaryDirectory
    private let cache: ResponseCache

    init() throws {
      MemoryPressure.shared.ignoreSystem()
      directory = try TemporaryDirectory()
      cache = Self.cache(directory)
    }

    // MARK: What Foundation gets wrong off Apple's systems

    // Foundation's key leaves the query out: the second response was found for the first request.
    @Test(arguments: [true, false])
    func `keeps queries apart`(inMemory: Bool) throws {
      for query in ["?a=1", "?a=2", "", "?a=1&b"] { try store(query, at: "/x\(query)") }
      let cache = inMemory ? cache : Self.cache(directory)
      for query in ["?a=1", "?a=2", "", "?a=1&b"] {
        #expect(try found("/x\(query)", in: cache) == query)
      }
      #expect(try found("/x?a=3", in: cache) == nil)
    }

    // Foundation's key leaves the method out.
    @Test func `keeps methods apart`() throws {
      try store("get", at: "/x")
      var request = try request("/x")
      request.httpMethod = "POST"
      #expect(cache.cachedResponse(for: request) == nil)
    }

    // Foundation lists a response twice that is stored again, and crashes when it lets go of what it lists.
    @Test func `lets go of a response that was stored twice`() throws {
      try store("1", at: "/x")
      let (memory, disk) = (cache.currentMemoryUsage, cache.currentDiskUsage)
      for number in 2..<10 { try store("\(number)", at: "/x") }
      #expect(cache.currentMemoryUsage == memory)
      #expect(cache.currentDiskUsage == disk)
      try store("other", at: "/y")
      cache.memoryCapacity = 0
      #expect(cache.currentMemoryUsage == 0)
      #expect(try found("/x") == "9")
    }

    // Foundation hands out a response to requests whose fields choose another one.
    @Test(arguments: [true, false])
    func `finds a response by the fields that chose it`(inMemory: Bool) throws {
      try store("german", at: "/x", fields: ["Vary": "Accept"], asked: ["Accept": "text/plain"])
      let cache = inMemory ? cache : Self.cache(directory)
      #expect(try found("/x", asked: ["Accept": "text/plain"], in: cache) == "german")
      #expect(try found("/x", asked: ["Accept": "text/html"], in: cache) == nil)
      #expect(try found("/x", in: cache) == nil)
    }

    @Test func `does not give one account's response to another`() throws {
      try store("anna's", at: "/x", asked: ["Authorization": "anna"])
      #expect(try found("/x", asked: ["Authorization": "bert"]) == nil)
      #expect(try found("/x") == nil)
      #expect(try found("/x", asked: ["Authorization": "anna"]) == "anna's")
    }

    // MARK: What is kept

    @Test func `keeps all of a response on disk`() throws {
      let info: [String: Any] = ["number": 7, "list": ["a", "b"]]
      let response = try response(
        "/x", status: 404, fields: ["Content-Type": "text/html; charset=utf-8", "X-A": "1, 2"])
      cache.storeCachedResponse(
        CachedURLResponse(
          response: response, data: Data([0, 255]), userInfo: info, storagePolicy: .allowed),
        for: try request("/x"))
      let stored = try #require(Self.cache(directory).cachedResponse(for: try request("/x")))
      #expect(stored.data == Data([0, 255]))
      #expect(stored.storagePolicy == .allowed)
      #expect(stored.userInfo?["number"] as? Int == 7)
      #expect(stored.userInfo?["list"] as? [String] == ["a", "b"])
      let head = try #require(stored.response as? HTTPURLResponse)
      #expect(head.url == response.url)
      #expect(head.statusCode == 404)
      #expect(
        head.allHeaderFields as? [String: String] == response.allHeaderFields as? [String: String])
      #expect(head.mimeType == "text/html")
      #expect(head.textEncodingName == "utf-8")
    }

    @Test func `keeps a response that is not of HTTP`() throws {
      let url = try #require(URL(string: "custom:thing#part"))
      let response = URLResponse(
        url: url, mimeType: "a/b", expectedContentLength: 3, textEncodingName: "utf-8")
      cache.storeCachedResponse(
        CachedURLResponse(response: response, data: Data([1, 2, 3])), for: URLRequest(url: url))
      let same = try #require(URL(string: "custom:thing"))
      let stored = Self.cache(directory).cachedResponse(for: URLRequest(url: same))
      #expect(stored?.data == Data([1, 2, 3]))
      #expect(stored?.response.mimeType == "a/b")
      #expect(stored?.response.expectedContentLength == 3)
      #expect(stored?.response.textEncodingName == "utf-8")
    }

    @Test func `keeps in memory alone what asks for it`() throws {
      try store("old", at: "/x")
      try store("new", at: "/x", policy: .allowedInMemoryOnly)
      #expect(try found("/x") == "new")
      #expect(try found("/x", in: Self.cache(directory)) == nil)
      #expect(cache.currentDiskUsage == 0)
    }

    @Test func `keeps in memory alone what is no property list`() throws {
      let response = CachedURLResponse(
        response: try response("/x"), data: Data([1]), userInfo: ["value": Self.self],
        storagePolicy: .allowed)
      cache.storeCachedResponse(response, for: try request("/x"))
      #expect(cache.cachedResponse(for: try request("/x"))?.userInfo?["value"] != nil)
      #expect(Self.cache(directory).cachedResponse(for: try request("/x")) == nil)
    }

    @Test func `stores nothing that may not be stored`() throws {
      try store("x", at: "/x", policy: .notAllowed)
      #expect(try found("/x") == nil)
      try store("y", at: "/y", fields: ["Vary": "*"])
      #expect(try found("/y") == nil)
    }

    // MARK: Removing

    @Test(arguments: [true, false])
    func `removes what was stored since a date`(inMemory: Bool) throws {
      let policy: URLCache.StoragePolicy = inMemory ? .allowedInMemoryOnly : .allowed
      try store("old", at: "/old", policy: policy)
      let date = try nextMillisecond()
      try store("new", at: "/new", policy: policy)
      cache.removeCachedResponses(since: date)
      let cache = inMemory ? cache : Self.cache(directory)
      #expect(try found("/old", in: cache) == "old")
      #expect(try found("/new", in: cache) == nil)
      _ = try nextMillisecond()
      try store("newer", at: "/new", policy: policy)
      #expect(try found("/new") == "newer")
    }

    // The memory remembers a limited number of removals; beyond it, it is emptied.
    @Test func `removes by many dates`() throws {
      for number in 0..<40 {
        let date = try nextMillisecond()
        try store("\(number)", at: "/\(number)", policy: .allowedInMemoryOnly)
        cache.removeCachedResponses(since: date)
        #expect(try found("/\(number)") == nil)
      }
    }

    @Test func `removes one or all`() throws {
      for name in ["a", "b", "c"] { try store(name, at: "/\(name)") }
      cache.removeCachedResponse(for: try request("/a"))
      #expect(try found("/a") == nil)
      #expect(try found("/b") == "b")
      cache.removeAllCachedResponses()
      for cache in [cache, Self.cache(directory)] { #expect(try found("/b", in: cache) == nil) }
      #expect(cache.currentMemoryUsage == 0)
      #expect(cache.currentDiskUsage == 0)
    }

    // MARK: Limits

    @Test func `stays within its capacities`() throws {
      let cache = ResponseCache(
        memoryCapacity: 20_000, diskCapacity: 40_000, directory: directory.url)
      let body = String(repeating: "x", count: 5_000)
      for number in 0..<30 {
        try store(body, at: "/\(number)", in: cache)
        #expect(cache.currentMemoryUsage <= 20_000)
        #expect(cache.currentDiskUsage <= 40_000)
      }
      #expect(cache.currentMemoryUsage > 10_000)
      #expect(cache.currentDiskUsage > 30_000)
      cache.memoryCapacity = 6_000
      cache.diskCapacity = 12_000
      #expect(cache.currentMemoryUsage <= 6_000)
      #expect(cache.currentDiskUsage <= 12_000)
      #expect(try found("/29", in: cache) == body)
      cache.diskCapacity = 0
      #expect(cache.diskCapacity == 0)
      #expect(cache.currentDiskUsage == 0)
    }

    @Test func `holds in memory what it cannot write`() throws {
      let file = directory.file("file")
      try Data().write(to: file)
      let cache = ResponseCache(
        memoryCapacity: Self.capacity, diskCapacity: Self.capacity,
        directory: file.appending(path: "none"))
      try store("x", at: "/x", in: cache)
      #expect(try found("/x", in: cache) == "x")
      cache.removeAllCachedResponses()
      #expect(try found("/x", in: cache) == nil)
    }

    @Test func `touches nothing without a disk capacity`() throws {
      let place = directory.url.appending(path: "none")
      let cache = ResponseCache(memoryCapacity: Self.capacity, diskCapacity: 0, directory: place)
      try store("x", at: "/x", in: cache)
      #expect(try found("/x", in: cache) == "x")
      #expect(!FileManager.default.fileExists(atPath: place.filePath))
    }

    @Test func `is used by many threads`() throws {
      try inThreads(8) { thread in
        for number in 0..<50 {
          let path = "/\(number % 7)"
          switch (thread + number) % 5 {
          case 0: cache.removeCachedResponse(for: try request(path))
          case 1: cache.removeCachedResponses(since: Date())
          case 2, 3: try store(path, at: path)
          default:
            let found = try found(path)
            if found != nil, found != path { throw URLError(.cannotDecodeContentData) }
          }
        }
      }
    }

    // MARK: Requests and responses

    @Test func `what the disk did not remove is not found again`() throws {
      for path in ["/a", "/b"] { try store("old", at: path) }
      let file = directory.url.appending(path: "DiskCache.sqlite")
      let holder = try SQLiteConnection(SQLiteOptions(.file(file.filePath)))
      try holder.run("BEGIN IMMEDIATE")
      cache.removeCachedResponse(for: try request("/a"))
      #expect(try found("/a", in: cache) == nil)
      try store("new", at: "/a")
      cache.removeAllCachedResponses()
      #expect(try found("/a", in: cache) == nil)
      #expect(try found("/b", in: cache) == nil)
      try holder.run("ROLLBACK")
      #expect(try found("/b", in: cache) == nil)
      // The next response that is stored empties the disk.
      try store("new", at: "/a")
      cache.memoryCapacity = 0
      #expect(try found("/a", in: cache) == "new")
      #expect(try found("/b", in: cache) == nil)
    }

    private static func cache(_ directory: TemporaryDirectory) -> ResponseCache {
      ResponseCache(memoryCapacity: capacity, diskCapacity: capacity, directory: directory.url)
    }

    /// A date after all that was stored, since dates on disk have milliseconds.
    private func nextMillisecond() throws -> Date {
      let date = Date().addingTimeInterval(0.002)
      while Date() < date {}
      return date.addingTimeInterval(-0.001)
    }

    private func request(_ path: String, _ fields: [String: String] = [:]) throws -> URLRequest {
      var request = URLRequest(url: try #require(URL(string: "http://a.test\(path)")))
      request.allHTTPHeaderFields = fields
      return request
    }

    private func response(
      _ path: String, status: Int = 200, fields: [String: String] = [:]
    ) throws -> HTTPURLResponse {
      let url = try #require(URL(string: "http://a.test\(path)"))
      return try #require(
        HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: fields))
    }

    private func store(
      _ text: String, at path: String, fields: [String: String] = [:],
      asked: [String: String] = [:], policy: URLCache.StoragePolicy = .allowed,
      in other: ResponseCache? = nil
    ) throws {
      (other ?? cache).storeCachedResponse(
        CachedURLResponse(
          response: try response(path, fields: fields), data: Data(text.utf8),
          storagePolicy: policy),
        for: try request(path, asked))
    }

    private func found(
      _ path: String, asked: [String: String] = [:], in other: ResponseCache? = nil
    ) throws -> String? {
      let response = (other ?? cache).cachedResponse(for: try request(path, asked))
      return response.map { String(decoding: $0.data, as: UTF8.self) }
    }
  }
#endif
