import Foundation
import LocalServer
import SteadTestSupport
import Testing

@testable import SteadCaches

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Responses with a status below 200, which another one follows.
@Suite(.hangLimit) struct SessionInterimTests {
  private let session = URLSession(configuration: .patient)
  private let cache = HTTPCache()

  init() { MemoryPressure.shared.ignoreSystem() }

  // The head of a 103 came out as the response, with the final body, and nothing was stored.
  @Test(arguments: [[103], [102], [100], [103, 103], [100, 102, 103], []], [200, 404, 204])
  func `an interim response is not the response`(interim: [Int], status: Int) async throws {
    let server = try LocalServer { _ in
      var reply = LocalServer.Reply(
        status: status, fields: [("Cache-Control", "max-age=1000"), ("Final", "yes")],
        body: .data(Data((status == 204 ? "" : "body").utf8)))
      reply.interim = interim.map { status in
        LocalServer.Interim(status: status, fields: [("Link", "</a.css>; rel=preload")])
      }
      return reply
    }
    for source in [HTTPCache.Outcome.Source.miss, .hit] {
      let (reply, response) = try await session.reply(for: try server.request(), cache: cache)
      #expect((response as? HTTPURLResponse)?.statusCode == status)
      #expect(reply.response.status == status)
      #expect(reply.response.fields["Final"] == "yes")
      #expect(reply.response.fields["Link"] == nil)
      #expect(try await reply.text == (status == 204 ? "" : "body"))
      #expect(reply.outcome.source == source)
    }
    #expect(server.requestCount == 1)
  }

  @Test func `a redirect after an interim response is followed`() async throws {
    let server = try LocalServer { request in
      guard request.target == "/" else { return LocalServer.Reply("there") }
      var reply = LocalServer.Reply(status: 302, reason: "Found", fields: [("Location", "/there")])
      reply.interim = [LocalServer.Interim(status: 103)]
      return reply
    }
    let (data, _) = try await session.data(for: try server.request(), cache: cache)
    #expect(data == Data("there".utf8))
  }

  @Test func `chunks after an interim response are passed on as they come`() async throws {
    let hasFirst = DispatchSemaphore(value: 0)
    let server = try LocalServer { _ in
      var reply = LocalServer.Reply(
        body: .stream { writer in
          try writer.write(Data("first".utf8))
          hasFirst.wait()
          try writer.write(Data("second".utf8))
        })
      reply.interim = [LocalServer.Interim(status: 103)]
      return reply
    }
    let (chunks, response) = try await session.chunks(for: try server.request(), cache: cache)
    #expect((response as? HTTPURLResponse)?.statusCode == 200)
    var iterator = chunks.makeAsyncIterator()
    #expect(try await iterator.next() == Data("first".utf8))
    hasFirst.signal()
    #expect(try await iterator.next() == Data("second".utf8))
  }
}
