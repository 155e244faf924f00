import Foundation
import LocalServer
import SteadTestSupport
import Testing

@testable import SteadCaches

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite struct SessionFieldsTests {
  private let cache = HTTPCache()

  init() { MemoryPressure.shared.ignoreSystem() }

  // A response that varies by a field that the session adds is another user's after a login.
  @Test func `chooses by cookies that the session adds`() async throws {
    let server = try LocalServer { request in
      LocalServer.Reply(
        request["Cookie"] ?? "none",
        fields: [("Cache-Control", "max-age=1000"), ("Vary", "Cookie")])
    }
    let configuration = URLSessionConfiguration.patient
    let cookies = try #require(configuration.httpCookieStorage)
    let session = URLSession(configuration: configuration)
    #expect(try await session.data(for: try server.request(), cache: cache).0 == Data("none".utf8))
    cookies.setCookie(
      try #require(
        HTTPCookie(properties: [
          .name: "user", .value: "anna", .path: "/", .domain: "127.0.0.1",
        ])))
    for _ in 0..<2 {
      let (data, _) = try await session.data(for: try server.request(), cache: cache)
      #expect(data == Data("user=anna".utf8))
    }
    #expect(server.requestCount == 2)
  }

  @Test func `chooses by fields of the configuration`() async throws {
    let server = try LocalServer { request in
      LocalServer.Reply(
        request["X-Kind"] ?? "none",
        fields: [("Cache-Control", "max-age=1000"), ("Vary", "X-Kind")])
    }
    for kind in ["a", "b", "a"] {
      let configuration = URLSessionConfiguration.patient
      configuration.httpAdditionalHeaders = ["X-Kind": kind]
      let session = URLSession(configuration: configuration)
      let (data, _) = try await session.data(for: try server.request(), cache: cache)
      #expect(data == Data(kind.utf8))
    }
    #expect(server.requestCount == 2)
  }

  @Test func `sends the request's fields once`() async throws {
    let seen = Seen()
    let server = try LocalServer { request in
      seen.add(request)
      return LocalServer.Reply("")
    }
    let configuration = URLSessionConfiguration.patient
    configuration.httpAdditionalHeaders = ["X-Both": "session", "X-Session": "1"]
    var request = try server.request()
    request.setValue("request", forHTTPHeaderField: "X-Both")
    _ = try await URLSession(configuration: configuration).data(for: request, cache: cache)
    #expect(seen.last?["X-Both"] == "request")
    #expect(seen.last?["X-Session"] == "1")
  }

  @Test func `sends the cookies that the cache saw`() async throws {
    let seen = Seen()
    let server = try LocalServer { request in
      seen.add(request)
      return LocalServer.Reply("", fields: [("Set-Cookie", "user=anna; Path=/")])
    }
    let session = URLSession(configuration: .patient)
    _ = try await session.data(for: try server.request(), cache: cache)
    #expect(seen.last?["Cookie"] == nil)
    _ = try await session.data(for: try server.request(), cache: cache)
    #expect(seen.last?["Cookie"] == "user=anna")
    var request = try server.request()
    request.httpShouldHandleCookies = false
    _ = try await session.data(for: request, cache: cache)
    #expect(seen.last?["Cookie"] == nil)
  }

  // Off Apple's systems a session hands out its own configuration, not a copy.
  @Test func `leaves the session's configuration as it is`() async throws {
    let server = try LocalServer { _ in LocalServer.Reply("") }
    let configuration = URLSessionConfiguration.patient
    configuration.urlCache = ResponseCache(memoryCapacity: 1, diskCapacity: 0)
    configuration.httpAdditionalHeaders = ["X-Kind": "a"]
    let session = URLSession(configuration: configuration)
    _ = try await session.data(for: try server.request(), cache: cache)
    #expect(session.configuration.urlCache != nil)
    #expect(session.configuration.httpShouldSetCookies)
    #expect(session.configuration.httpAdditionalHeaders?.count == 1)
  }

  // URLSession decodes a body and leaves the fields of the encoded one: with its length, what was stored would look
  // broken off.
  @Test func `stores what URLSession decoded`() async throws {
    let packed = try #require(Data(base64Encoded: Self.packed))
    let server = try LocalServer { _ in
      LocalServer.Reply(
        fields: [
          ("Cache-Control", "max-age=1000"), ("Content-Encoding", "gzip"),
          ("Content-Type", "text/plain"),
        ], body: .data(packed))
    }
    let session = URLSession(configuration: .patient)
    for _ in 0..<2 {
      let (data, response) = try await session.data(for: try server.request(), cache: cache)
      #expect(data == Data(String(repeating: "hello ", count: 40).utf8))
      let fields = try #require(response as? HTTPURLResponse)
      #expect(fields.value(forHTTPHeaderField: "Content-Encoding") == nil)
      #expect(fields.value(forHTTPHeaderField: "Content-Length").map { $0 == "240" } ?? true)
    }
    #expect(server.requestCount == 1)
  }

  // A range counts bytes of the encoded body, under whose strong tag a part of the decoded one was handed on.
  @Test(arguments: [false, true])
  func `cuts no ranges from what URLSession decoded`(isReadFromDisk: Bool) async throws {
    let directory = try TemporaryDirectory(inMemory: true)
    let place = directory.url.appending(path: "http", directoryHint: .isDirectory)
    let packed = try #require(Data(base64Encoded: Self.packed))
    let server = try LocalServer { request in
      let fresh = ("Cache-Control", "max-age=1000")
      guard request["Range"] == nil else {
        return LocalServer.Reply(
          status: 206, reason: "Partial Content",
          fields: [fresh, ("ETag", "\"plain\""), ("Content-Range", "bytes 1-4/240")],
          body: .data(Data("ello".utf8)))
      }
      return LocalServer.Reply(
        fields: [fresh, ("ETag", "\"packed\""), ("Content-Encoding", "gzip")], body: .data(packed))
    }
    let session = URLSession(configuration: .patient)
    var cache = HTTPCache(directory: place)
    _ = try await session.data(for: try server.request(), cache: cache)
    if isReadFromDisk { cache = HTTPCache(directory: place) }
    let (whole, _) = try await session.data(for: try server.request(), cache: cache)
    #expect(whole.count == 240)
    #expect(server.requestCount == 1)
    var request = try server.request()
    request.setValue("bytes=1-4", forHTTPHeaderField: "Range")
    let (data, response) = try await session.data(for: request, cache: cache)
    #expect(data == Data("ello".utf8))
    let head = try #require(response as? HTTPURLResponse)
    #expect(head.value(forHTTPHeaderField: "ETag") == "\"plain\"")
    #expect(server.requestCount == 2)
  }

  /// "hello " forty times, by gzip.
  private static let packed = "H4sIAAAAAAACA8tIzcnJV8gYMSQAnlCUffAAAAA="
}
