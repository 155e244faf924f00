import Foundation
import LocalServer
import SteadTestSupport
import Testing

@testable import SteadCaches

private let hasCurl = ["/usr/bin/curl", "/bin/curl"].contains {
  FileManager.default.isExecutableFile(atPath: $0)
}

/// Responses with fields after the body, which end a process that loads them by URLSession on Linux.
@Suite(.hangLimit, .enabled(if: hasCurl)) struct TrailerTests {
  private func server(_ control: String, interim: Bool = false) throws -> LocalServer {
    try LocalServer { request in
      var reply = LocalServer.Reply(
        fields: [
          ("Cache-Control", control), ("Transfer-Encoding", "chunked"), ("Trailer", "X-Sum"),
          ("X-Asked", request["X-Asked"] ?? "none"),
        ],
        body: .data(Data("5\r\nhello\r\n0\r\nX-Sum: 5\r\nCache-Control: no-store\r\n\r\n".utf8)))
      if interim { reply.interim = [LocalServer.Interim(status: 103, fields: [("Link", "a")])] }
      return reply
    }
  }

  // Such a response trapped within Foundation, and the page only had words about another client.
  @Test(arguments: [false, true])
  func `another client's response with trailers is stored without them`(
    hasInterim: Bool
  ) async throws {
    let server = try server("max-age=100", interim: hasInterim)
    let cache = HTTPCache()
    for _ in 0..<2 { #expect(try await load(server.url("/"), cache: cache) == Data("hello".utf8)) }
    #expect(server.requestCount == 1)
    let stored = try #require(cache.storedResponse(to: HTTPCache.Request(url: server.url("/"))))
    #expect(stored.response.fields["X-Sum"] == nil)
    #expect(stored.response.fields["Cache-Control"] == "max-age=100")
  }

  @Test func `fields are sent, and failures thrown`() async throws {
    let server = try server("no-store")
    let request = HTTPCache.Request(url: try server.url("/"), fields: ["X-Asked": "by me"])
    let reply = try await HTTPCache().response(to: request, fetch: CurlTransport.fetch)
    #expect(reply.response.fields["X-Asked"] == "by me")
    let url = try server.url("/")
    server.stop()
    await #expect(throws: CurlTransport.Failure.self) {
      try await load(url, cache: HTTPCache())
    }
  }

  // A POST was sent without its body, and said nothing of it.
  @Test func `a request with a body is refused`() async throws {
    let server = try server("no-store")
    for method in ["POST", "PUT", "GET"] {
      let request = HTTPCache.Request(method: method, url: try server.url("/"), hasBody: true)
      await #expect(throws: CurlTransport.Failure.self) {
        try await HTTPCache().response(to: request, fetch: CurlTransport.fetch)
      }
    }
    #expect(server.requestCount == 0)
  }

  // The process and a thread of a request that was cancelled stayed until the server answered.
  @Test func `a request ends with its task`() async throws {
    let (asked, end) = (Event(), DispatchSemaphore(value: 0))
    let server = try LocalServer { _ in
      asked.happen()
      end.wait()
      return LocalServer.Reply()
    }
    defer { for _ in 0..<2 { end.signal() } }
    let url = try server.url("/")
    let task = Task { try await load(url, cache: HTTPCache()) }
    await asked.wait()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    let again = Task { try await CurlTransport.fetch(HTTPCache.Request(url: url)).0.status }
    again.cancel()
    await #expect(throws: CancellationError.self) { try await again.value }
  }

  @Test func `the page has this client`() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
    let page = try String(
      contentsOf: root.appending(path: "Documentation/Caches.md"), encoding: .utf8)
    let file = URL(filePath: #filePath).deletingLastPathComponent().file("CurlTransport.swift")
    let code = try String(contentsOf: file, encoding: .utf8)
    #expect(page.contains("```swift\n" + code + "```"))
  }
}
