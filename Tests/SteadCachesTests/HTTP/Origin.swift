import Foundation
import SteadTestSupport
import Synchronization
import Testing

@testable import SteadCaches

/// A server that is a closure, a clock that the test sets, and a cache between them and the test.
final class Origin: Sendable {
  typealias Answer =
    @Sendable (HTTPCache.Request) async throws -> (HTTPCache.Response, HTTPCache.Body)

  private struct State {
    var now = Date(timeIntervalSince1970: 1_800_000_000)
    var requests: [HTTPCache.Request] = []
    var answer: Answer
  }

  private let state: Mutex<State>

  init(_ answer: @escaping Answer) { state = Mutex(State(answer: answer)) }

  /// A server that sends the same to all.
  convenience init(status: Int = 200, _ fields: HTTPCache.Fields, body: String = "body") {
    self.init { _ in
      (HTTPCache.Response(status: status, fields: fields), HTTPCache.Body(Data(body.utf8)))
    }
  }

  /// A server that sends a body in chunks, fresh for 10 s.
  convenience init(_ chunks: Chunks, length: Int? = nil) {
    var fields: HTTPCache.Fields = ["Cache-Control": "max-age=10"]
    fields["Content-Length"] = length.map(String.init)
    self.init { [fields] _ in (HTTPCache.Response(status: 200, fields: fields), chunks.body) }
  }

  var now: Date { state.withLock { $0.now } }
  /// What the server was asked.
  var requests: [HTTPCache.Request] { state.withLock { $0.requests } }

  func advance(_ seconds: TimeInterval) { state.withLock { $0.now += seconds } }

  /// Makes the server send something else from now on.
  func answer(_ answer: @escaping Answer) { state.withLock { $0.answer = answer } }

  func answer(status: Int = 200, _ fields: HTTPCache.Fields, body: String = "body") {
    answer { _ in
      (HTTPCache.Response(status: status, fields: fields), HTTPCache.Body(Data(body.utf8)))
    }
  }

  var fetch: HTTPCache.Fetch {
    { request in
      let answer = self.state.withLock { state in
        state.requests.append(request)
        return state.answer
      }
      return try await answer(request)
    }
  }

  /// A cache with the server's clock.
  func cache(
    in directory: URL? = nil, limits: HTTPCache.Limits = .init(),
    configuration: HTTPCache.Configuration = .init()
  ) -> HTTPCache {
    HTTPCache(
      directory: directory, limits: limits, configuration: configuration, now: { self.now })
  }

  func get(
    _ path: String = "/", _ fields: HTTPCache.Fields = [:], method: String = "GET",
    mode: HTTPCache.Mode = .standard, from cache: HTTPCache
  ) async throws -> HTTPCache.Reply {
    try await cache.response(
      to: Self.request(path, fields, method: method), mode: mode, fetch: fetch)
  }

  static func request(
    _ path: String = "/", _ fields: HTTPCache.Fields = [:], method: String = "GET"
  ) throws -> HTTPCache.Request {
    let url = try #require(URL(string: path, relativeTo: URL(string: "http://a.example")))
    return HTTPCache.Request(method: method, url: url.absoluteURL, fields: fields)
  }
}

/// What a server throws that cannot be reached.
struct Unreachable: Error {}

extension HTTPCache.Reply {
  var text: String {
    get async throws { String(decoding: try await body.data(), as: UTF8.self) }
  }
}

/// A body whose chunks the test sends one by one.
final class Chunks: Sendable {
  private let continuation: AsyncThrowingStream<Data, any Error>.Continuation
  let body: HTTPCache.Body

  init() {
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: Data.self)
    self.continuation = continuation
    body = HTTPCache.Body(stream)
  }

  func send(_ text: String) { continuation.yield(Data(text.utf8)) }
  func send(_ data: Data) { continuation.yield(data) }
  func finish(_ error: (any Error)? = nil) { continuation.finish(throwing: error) }
  /// Called when nobody reads any more.
  func onEnd(_ body: @escaping @Sendable () -> Void) {
    continuation.onTermination = { _ in body() }
  }
}

extension Data {
  /// Bytes that call a closure when they are freed.
  static func bytes(whenFreed: @escaping @Sendable () -> Void) -> Data {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 1)
    memory.initializeMemory(as: UInt8.self, repeating: 1)
    guard let start = memory.baseAddress else { return Data() }
    return Data(
      bytesNoCopy: start, count: memory.count,
      deallocator: .custom { start, _ in
        start.deallocate()
        whenFreed()
      })
  }
}

/// An event that happens once.
final class Event: Sendable {
  private let continuation: AsyncStream<Void>.Continuation
  private let stream: AsyncStream<Void>

  init() { (stream, continuation) = AsyncStream.makeStream(of: Void.self) }

  func happen() { continuation.finish() }
  func wait() async { for await _ in stream {} }
}

/// A server each of whose bodies the test sends on its own, in order.
final class Bodies: Sendable {
  private let sent = Mutex<[Chunks]>([])

  var count: Int { sent.withLock { $0.count } }
  subscript(number: Int) -> Chunks { sent.withLock { $0[number] } }

  func origin(status: Int = 200, _ fields: HTTPCache.Fields) -> Origin {
    Origin { _ in (HTTPCache.Response(status: status, fields: fields), self.begin()) }
  }

  /// A new body.
  func begin() -> HTTPCache.Body {
    let chunks = Chunks()
    sent.withLock { $0.append(chunks) }
    return chunks.body
  }

  func wait(for count: Int) async { while self.count < count { await Task.yield() } }
}

/// Lets tasks that were made before go as far as they can.
func letOthersRun() async {
  for _ in 0..<3_000 { await Task.yield() }
}

/// Time that passes when a test says so: what a cache gets instead of `Task.sleep`.
final class Pauses: Sendable {
  private struct State {
    var sleepers: [Int: CheckedContinuation<Void, Never>] = [:]
    var next = 0
    var cancelled: Set<Int> = []
  }

  private let state = Mutex(State())

  var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  func sleep(_ time: Duration) async throws {
    let number = state.withLock { state in
      state.next += 1
      return state.next
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.cancelled.remove(number) != nil { return true }
          state.sleepers[number] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        let sleeper = state.sleepers.removeValue(forKey: number)
        if sleeper == nil { state.cancelled.insert(number) }
        return sleeper
      }
      sleeper?.resume()
    }
    try Task.checkCancellation()
  }

  /// Ends all pauses that have begun, and returns how many these were.
  @discardableResult func pass() -> Int {
    let sleepers = state.withLock { state in
      defer { state.sleepers = [:] }
      return state.sleepers.values
    }
    for sleeper in sleepers { sleeper.resume() }
    return sleepers.count
  }

  /// Waits until somebody waits for time to pass, and lets it pass.
  func passNext() async {
    while sleeperCount == 0 { await Task.yield() }
    pass()
  }
}

extension HTTPCache {
  /// How many requests wait for bodies of others.
  var followerCount: Int { joinable.withLock { $0.values.reduce(0) { $0 + $1.waiterCount } } }

  /// Waits until so many requests wait for the body of another one.
  func waitForFollowers(_ count: Int) async {
    while followerCount < count { await Task.yield() }
  }
}
