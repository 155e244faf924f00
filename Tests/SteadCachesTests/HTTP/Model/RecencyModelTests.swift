import Foundation
import SteadTestSupport
import Synchronization
import Testing

@testable import SteadCaches

/// Random sequences of requests, confirmations, answers to HEAD, several statuses, and bodies that end later than those of
/// newer responses: no outdated response is given, and nobody gets another user's fields.
@Suite(.hangLimit) struct RecencyModelTests {
  private static let count = Effort.times(75, long: 1_500)
  private static let length = 30

  @Test(arguments: [false, true], [false, true])
  func `what was received last is given, and to whom it is for`(
    isShared: Bool, isOnDisk: Bool
  ) async throws {
    var hits = 0
    for number in 0..<Self.count {
      await Task.yield()
      var random = SplitMix(seed: Effort.seed &+ UInt64(number))
      let operations = (0..<Self.length).map { _ in RecencyOperation.random(using: &random) }
      let (fault, newHits) = try await Self.run(operations, isShared, isOnDisk)
      hits += newHits
      guard fault != nil else { continue }
      let (shortest, reason) = try await Self.shortened(operations, isShared, isOnDisk)
      return #expect(Bool(false), "\(reason)\n\(shortest)")
    }
    // A cache that gives nothing would be allowed, too.
    #expect(hits > Self.count)
  }

  private static func run(
    _ operations: [RecencyOperation], _ isShared: Bool, _ isOnDisk: Bool
  ) async throws -> (fault: String?, hits: Int) {
    let directory = isOnDisk ? try TemporaryDirectory(inMemory: true) : nil
    let run = RecencyRun(isShared: isShared, directory: directory?.url)
    for operation in operations {
      if let fault = try await run.perform(operation) { return (fault, run.hits) }
    }
    return (nil, run.hits)
  }

  private static func shortened(
    _ operations: [RecencyOperation], _ isShared: Bool, _ isOnDisk: Bool
  ) async throws -> (description: String, fault: String) {
    var (shortest, reason) = (operations, "")
    var index = 0
    while index < shortest.count {
      var shorter = shortest
      shorter.remove(at: index)
      if let fault = try await run(shorter, isShared, isOnDisk).fault {
        (shortest, reason) = (shorter, fault)
      } else {
        index += 1
      }
    }
    let lines = shortest.map(\.description).joined(separator: "\n")
    return (lines, "\(isShared ? "shared" : "private"): \(reason)")
  }
}

/// An origin of one URL, a cache, and what is on its way between them.
private final class RecencyRun: Sendable {
  private struct Transfer {
    let message: RecencyReference.Message
    let chunks: Chunks
    var reply: HTTPCache.Reply?
  }

  private struct State {
    var rule = RecencyOperation.Rule()
    var version = 1
    var transfers: [Transfer] = []
    /// The message that answered the last request.
    var answer: RecencyReference.Message?
    var reference: RecencyReference
    var hits = 0
  }

  private let state: Mutex<State>
  private let cache: HTTPCache
  private let clock = Clock()

  init(isShared: Bool, directory: URL?) {
    let clock = clock
    state = Mutex(State(reference: RecencyReference(isShared: isShared)))
    cache = HTTPCache(
      directory: directory, configuration: .init(isShared: isShared), now: { clock.now })
  }

  private final class Clock: Sendable {
    private let time = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
    var now: Date { time.withLock { $0 } }
    func advance(_ seconds: Int) { time.withLock { $0 += TimeInterval(seconds) } }
  }

  var hits: Int { state.withLock { $0.hits } }

  func perform(_ operation: RecencyOperation) async throws -> String? {
    // Everything happens in a second of its own.
    clock.advance(1)
    switch operation {
    case .send(let request): return try await send(request)
    case .change(let rule): state.withLock { ($0.rule, $0.version) = (rule, $0.version + 1) }
    case .advance(let seconds): clock.advance(seconds)
    case .finish(let number): return try await finish(number)
    }
    return nil
  }

  private func send(_ request: RecencyOperation.Request) async throws -> String? {
    let number = state.withLock { state in
      state.answer = nil
      return state.reference.messages.count
    }
    // Without `Vary`: requests that share no fetch, and get each other's responses.
    var fields: HTTPCache.Fields = ["X-Request": "\(number)"]
    fields["Authorization"] = request.account
    let reply = try await cache.response(
      to: try Origin.request("/", fields, method: request.method), mode: request.mode
    ) { try self.answer($0, request) }
    guard let message = state.withLock({ $0.answer }) else {
      state.withLock { $0.hits += 1 }
      let text = try await reply.text
      if request.method == "GET", text != Self.body(reply.response) { return "another body" }
      return state.withLock { $0.reference.fault(in: reply, to: request, now: clock.now) }
    }
    if message.status == 304 {
      state.withLock { $0.reference.receive(message) }
      return RecencyReference.fault(in: reply, confirmedBy: message)
    }
    let isOnItsWay = state.withLock { state in
      guard let last = state.transfers.indices.last,
        state.transfers[last].message.number == message.number
      else { return false }
      state.transfers[last].reply = reply
      return true
    }
    if isOnItsWay { return nil }
    let text = try await reply.text
    if request.method == "GET", text != Self.body(reply.response) { return "another body" }
    state.withLock { $0.reference.receive(message) }
    return nil
  }

  private static func body(_ response: HTTPCache.Response) -> String {
    "version \(response.fields["Version"] ?? "")"
  }

  private func finish(_ number: Int) async throws -> String? {
    let transfer = state.withLock { state in
      state.transfers.isEmpty ? nil : state.transfers.remove(at: number % state.transfers.count)
    }
    guard let transfer, let reply = transfer.reply else { return nil }
    transfer.chunks.finish()
    let text = try await reply.text
    state.withLock { $0.reference.receive(transfer.message) }
    return text == Self.body(reply.response) ? nil : "another body"
  }

  private func answer(
    _ question: HTTPCache.Request, _ request: RecencyOperation.Request
  ) throws -> (HTTPCache.Response, HTTPCache.Body) {
    state.withLock { state in
      let (rule, now) = (state.rule, clock.now)
      let tag = "\"\(state.version)\""
      let isKnown =
        rule.status == 200 && rule.hasTag && question.fields["If-None-Match"] == tag
      let message = RecencyReference.Message(
        number: state.reference.messages.count, version: state.version,
        status: isKnown ? 304 : rule.status, request: request, sentAt: now,
        control: isKnown && !rule.isRepeated ? nil : rule.control, hasTag: rule.hasTag)
      state.reference.send(message)
      state.answer = message
      var fields: HTTPCache.Fields = [
        "Date": HTTPDate.string(now), "Set-Cookie": "\(message.number)",
        "Account": "\(message.number)",
      ]
      fields["Cache-Control"] = message.control
      if rule.status == 200, rule.hasTag { fields["ETag"] = tag }
      if !isKnown, request.method == "GET" { fields["Version"] = "\(state.version)" }
      let response = HTTPCache.Response(status: message.status, fields: fields)
      guard !isKnown, request.method == "GET" else { return (response, .init()) }
      let body = "version \(state.version)"
      guard request.isSlow else { return (response, .init(Data(body.utf8))) }
      let chunks = Chunks()
      chunks.send(body)
      state.transfers.append(Transfer(message: message, chunks: chunks))
      return (response, chunks.body)
    }
  }
}
