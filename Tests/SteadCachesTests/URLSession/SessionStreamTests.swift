import Foundation
import LocalServer
import SteadTestSupport
import Synchronization
import Testing

@testable import SteadCaches

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.hangLimit) struct SessionStreamTests {
  private static let fresh = [("Cache-Control", "max-age=1000")]
  private let session = URLSession(configuration: .patient)
  private let cache = HTTPCache()

  init() { MemoryPressure.shared.ignoreSystem() }

  @Test func `hands on the first chunk before the server sends the second`() async throws {
    let hasFirst = DispatchSemaphore(value: 0)
    let server = try LocalServer { _ in
      LocalServer.Reply(
        fields: Self.fresh,
        body: .stream { writer in
          try writer.write(Data("first".utf8))
          hasFirst.wait()
          try writer.write(Data("second".utf8))
        })
    }
    let (chunks, _) = try await session.chunks(for: try server.request(), cache: cache)
    var iterator = chunks.makeAsyncIterator()
    #expect(try await iterator.next() == Data("first".utf8))
    hasFirst.signal()
    var rest = Data()
    while let chunk = try await iterator.next() { rest += chunk }
    #expect(rest == Data("second".utf8))
    let (data, _) = try await session.data(for: try server.request(), cache: cache)
    #expect(data == Data("firstsecond".utf8))
    #expect(server.requestCount == 1)
  }

  @Test func `stores nothing of a body that breaks off`() async throws {
    let seen = Seen()
    let server = try LocalServer { request in
      seen.add(request)
      let isFirst = seen.count == 1
      return LocalServer.Reply(
        fields: Self.fresh,
        body: .stream { writer in
          try writer.write(Data("half".utf8))
          if isFirst { throw CancellationError() }
        })
    }
    await #expect(throws: URLError.self) {
      try await session.data(for: try server.request(), cache: cache)
    }
    let (data, _) = try await session.data(for: try server.request(), cache: cache)
    #expect(data == Data("half".utf8))
    #expect(server.requestCount == 2)
  }

  @Test func `ends a request whose task is cancelled`() async throws {
    let (signals, signal) = AsyncStream<Void>.makeStream()
    let goesOn = DispatchSemaphore(value: 0)
    let server = try LocalServer { _ in
      signal.yield()
      goesOn.wait()
      return LocalServer.Reply("late")
    }
    let request = try server.request()
    let loader = Task { try await session.data(for: request, cache: cache) }
    for await _ in signals { break }
    loader.cancel()
    goesOn.signal()
    let result = await loader.result
    #expect(throws: CancellationError.self) { try result.get() }
  }

  @Test func `passes on many chunks in order`() async throws {
    let numbers = (0..<2000).map { Data("\($0),".utf8) }
    let server = try LocalServer { _ in
      LocalServer.Reply(
        body: .stream { writer in for number in numbers { try writer.write(number) } })
    }
    let (data, _) = try await session.data(for: try server.request(), cache: cache)
    #expect(data == Data(numbers.joined()))
  }
}
