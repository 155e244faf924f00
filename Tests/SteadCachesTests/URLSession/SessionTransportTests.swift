import Foundation
import LocalServer
import SteadTestSupport
import Synchronization
import Testing

@testable import SteadCaches

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.hangLimit) struct SessionTransportTests {
  private let session = URLSession(configuration: .patient)

  // The body ended without an error when its reader was cancelled: half of one looked like a whole one.
  @Test func `throws when the reader is cancelled`() async throws {
    let goesOn = DispatchSemaphore(value: 0)
    let server = try LocalServer { _ in
      LocalServer.Reply(
        body: .stream { writer in
          try writer.write(Data("half".utf8))
          goesOn.wait()
        })
    }
    let (_, body) = try await SessionTransport.of(session).send(try server.request())
    let (signals, signal) = AsyncStream<Void>.makeStream()
    let reader = Task {
      for try await _ in body { signal.yield() }
    }
    for await _ in signals { break }
    reader.cancel()
    let result = await reader.result
    goesOn.signal()
    #expect(throws: CancellationError.self) { try result.get() }
  }

  // What comes after the cancellation is lost: with its end, a body without its last chunk looked like a whole one.
  @Test func `throws when the end comes after the reader's cancellation`() async throws {
    let url = try #require(URL(string: "http://127.0.0.1:1/"))
    let (transfer, body) = Transfer.make(session.dataTask(with: url))
    transfer.receive(Data("first".utf8))
    let (signals, signal) = AsyncStream<Void>.makeStream()
    let reader = Task {
      for try await _ in body { signal.yield() }
    }
    for await _ in signals { break }
    reader.cancel()
    _ = await reader.result
    transfer.receive(Data("last".utf8))
    transfer.end(nil)
    await #expect(throws: CancellationError.self) { try await body.data() }
  }

  /// What waits for a slow reader is in memory, so it is there no longer than the reader needs it.
  @Test func `frees chunks when they are read, and when the reader leaves`() async throws {
    let url = try #require(URL(string: "http://127.0.0.1:1/"))
    let (transfer, body) = Transfer.make(session.dataTask(with: url))
    let freed = Mutex(0)
    for _ in 0..<9 { transfer.receive(Data.bytes { freed.withLock { $0 += 1 } }) }
    let (signals, signal) = AsyncStream<Void>.makeStream()
    let reader = Task {
      var iterator = body.makeAsyncIterator()
      for number in 1...3 {
        #expect(try await iterator.next()?.count == 4096)
        while freed.withLock({ $0 < number }) { await Task.yield() }
        #expect(freed.withLock { $0 } == number)
      }
      signal.yield()
      // Until the task is cancelled, without reading.
      while !Task.isCancelled { await Task.yield() }
      _ = try await iterator.next()
    }
    for await _ in signals { break }
    reader.cancel()
    let result = await reader.result
    #expect(throws: CancellationError.self) { try result.get() }
    transfer.receive(Data.bytes { freed.withLock { $0 += 1 } })
    while freed.withLock({ $0 < 10 }) { await Task.yield() }
    transfer.end(nil)
    await #expect(throws: CancellationError.self) { try await body.data() }
  }

  @Test func `frees all chunks with a body that nobody has read`() async throws {
    let url = try #require(URL(string: "http://127.0.0.1:1/"))
    let freed = Mutex(0)
    var made: (Transfer, HTTPCache.Body)? = Transfer.make(session.dataTask(with: url))
    let transfer = try #require(made?.0)
    transfer.receive(Data.bytes { freed.withLock { $0 += 1 } })
    made = nil
    transfer.receive(Data.bytes { freed.withLock { $0 += 1 } })
    while freed.withLock({ $0 < 2 }) { await Task.yield() }
    transfer.end(URLError(.cancelled))
  }

  @Test func `takes nothing after the end`() async throws {
    let url = try #require(URL(string: "http://127.0.0.1:1/"))
    let (transfer, body) = Transfer.make(session.dataTask(with: url))
    transfer.receive(Data("all".utf8))
    transfer.end(URLError(.networkConnectionLost))
    transfer.receive(Data("more".utf8))
    var iterator = body.makeAsyncIterator()
    #expect(try await iterator.next() == Data("all".utf8))
    let error = await #expect(throws: URLError.self) { try await body.data() }
    #expect(error?.code == .networkConnectionLost)
  }

  // All of the body waited in memory for the delegate's answer.
  @Test func `keeps no endless body of a challenge`() async throws {
    let url = try #require(URL(string: "http://127.0.0.1:1/"))
    let (transfer, body) = Transfer.make(session.dataTask(with: url))
    let head = try #require(
      HTTPURLResponse(url: url, statusCode: 401, httpVersion: nil, headerFields: [:]))
    transfer.receive(head)
    let chunk = Data(count: HTTPCache.challengeBodyLimit / 4)
    for _ in 0..<9 { transfer.receive(chunk) }
    transfer.end(nil)
    var count = 0
    let error = await #expect(throws: URLError.self) {
      for try await chunk in body { count += chunk.count }
    }
    #expect(error?.code == .dataLengthExceedsMaximum)
    #expect(count == HTTPCache.challengeBodyLimit)
  }

  @Test func `keeps a short body of a challenge`() async throws {
    let url = try #require(URL(string: "http://127.0.0.1:1/"))
    let (transfer, body) = Transfer.make(session.dataTask(with: url))
    let head = try #require(
      HTTPURLResponse(url: url, statusCode: 401, httpVersion: nil, headerFields: [:]))
    transfer.receive(head)
    transfer.receive(Data(count: HTTPCache.challengeBodyLimit))
    transfer.end(nil)
    var count = 0
    for try await chunk in body { count += chunk.count }
    #expect(count == HTTPCache.challengeBodyLimit)
  }

  /// The body of a POST's response is gathered if its length is a number that is small enough.
  @Test(arguments: [
    ("5", true), ("9", true), ("10", false), ("-1", false), ("+5", false), ("", false),
  ])
  func `gathers a body of a known length`(length: String, isWanted: Bool) throws {
    let response = HTTPCache.Response(
      status: 200, fields: ["Content-Location": "/", "Content-Length": length])
    let request = try Origin.request(method: "POST")
    #expect(SessionTransport.isWantedWhole(response, to: request, limit: 9) == isWanted)
  }

  @Test func `throws when the sender is cancelled`() async throws {
    let goesOn = DispatchSemaphore(value: 0)
    let (signals, signal) = AsyncStream<Void>.makeStream()
    let server = try LocalServer { _ in
      signal.yield()
      goesOn.wait()
      return LocalServer.Reply("late")
    }
    let request = try server.request()
    let sender = Task { try await SessionTransport.of(session).send(request) }
    for await _ in signals { break }
    sender.cancel()
    goesOn.signal()
    let result = await sender.result
    #expect(throws: CancellationError.self) { try result.get() }
  }

  @Test func `ends a transfer whose body is dropped`() async throws {
    let (ends, end) = AsyncStream<Void>.makeStream()
    let server = try LocalServer { _ in
      LocalServer.Reply(
        body: .stream { writer in
          try writer.write(Data("begun".utf8))
          writer.waitForTheClientToLeave()
          end.yield()
        })
    }
    func sendAndDrop() async throws {
      _ = try await SessionTransport.of(session).send(try server.request())
    }
    try await sendAndDrop()
    for await _ in ends { break }
  }

  @Test func `is the same for a session`() {
    #expect(SessionTransport.of(session) === SessionTransport.of(session))
    let other = URLSession(configuration: .patient)
    #expect(SessionTransport.of(session) !== SessionTransport.of(other))
  }

  @Test func `goes when its session has gone`() {
    weak var transport: SessionTransport?
    do {
      let passing = URLSession(configuration: .patient)
      transport = SessionTransport.of(passing)
      #expect(transport != nil)
    }
    _ = SessionTransport.of(URLSession(configuration: .patient))
    #expect(transport == nil)
  }
}
