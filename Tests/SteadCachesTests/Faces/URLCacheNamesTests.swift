import Foundation
import SteadTestSupport
import Testing

@testable import SteadCaches

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

private typealias URLCache = ResponseCache

/// Code as it is written for Apple's systems, with a typealias above it.
@Suite(.serialized) struct URLCacheNamesTests {
  init() { MemoryPressure.shared.ignoreSystem() }

  @Test func `compiles and stores`() throws {
    let directory = try TemporaryDirectory()
    let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 1 << 20, directory: directory.url)
    let url = try #require(URL(string: "https://example.com/a?b=1"))
    let request = URLRequest(url: url, cachePolicy: .returnCacheDataElseLoad, timeoutInterval: 5)
    let response = try #require(
      HTTPURLResponse(
        url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: ["ETag": "\"1\""]))
    let cached = CachedURLResponse(
      response: response, data: Data("body".utf8), userInfo: nil, storagePolicy: .allowed)
    cache.storeCachedResponse(cached, for: request)
    #expect(cache.cachedResponse(for: request)?.data == Data("body".utf8))
    #expect(cache.currentMemoryUsage > 0)
    #expect(cache.currentDiskUsage > 0)
    #expect(cache.memoryCapacity == 1 << 20)
    #expect(cache.diskCapacity == 1 << 20)
    cache.removeCachedResponse(for: request)
    #expect(cache.cachedResponse(for: request) == nil)
    cache.storeCachedResponse(cached, for: request)
    cache.removeCachedResponses(since: .distantPast)
    #expect(cache.cachedResponse(for: request) == nil)
    cache.storeCachedResponse(cached, for: request)
    cache.removeAllCachedResponses()
    #expect(cache.cachedResponse(for: request) == nil)
  }

  @Test func `shares a cache`() throws {
    let directory = try TemporaryDirectory()
    let old = URLCache.shared
    defer { URLCache.shared = old }
    let own = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, directory: directory.url)
    URLCache.shared = own
    let shared: URLCache = .shared
    #expect(shared === own)
    func usesTheDefault(_ cache: URLCache = .shared) -> URLCache { cache }
    #expect(usesTheDefault() === own)
    let configuration = URLSessionConfiguration.default
    configuration.urlCache = URLCache(memoryCapacity: 1, diskCapacity: 0, diskPath: nil)
    configuration.urlCache = .shared
    #expect(configuration.urlCache === own)
    configuration.requestCachePolicy = .returnCacheDataElseLoad
    let policy: URLCache.StoragePolicy = .allowed
    #expect(policy == .allowed)
  }

  @Test func `answers for a task`() async throws {
    let directory = try TemporaryDirectory()
    let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, directory: directory.url)
    let url = try #require(URL(string: "https://example.com/task"))
    let task = URLSession(configuration: .patient).dataTask(with: URLRequest(url: url))
    let response = URLResponse(
      url: url, mimeType: nil, expectedContentLength: 1, textEncodingName: nil)
    cache.storeCachedResponse(CachedURLResponse(response: response, data: Data([1])), for: task)
    let found = await withCheckedContinuation { continuation in
      cache.getCachedResponse(for: task) { continuation.resume(returning: $0) }
    }
    #expect(found?.data == Data([1]))
    cache.removeCachedResponse(for: task)
    #expect(cache.cachedResponse(for: URLRequest(url: url)) == nil)
  }
}
