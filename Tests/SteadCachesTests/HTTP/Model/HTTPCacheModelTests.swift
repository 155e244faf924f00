import Foundation
import SteadTestSupport
import Synchronization
import Testing

@testable import SteadCaches

/// Random sequences against a reference that knows all that the origin ever sent.
@Suite(.hangLimit) struct HTTPCacheModelTests {
  private static let sequencesPerCase = Effort.times(25, long: 5_000)
  private static let sequencesPerCaseOnDisk = Effort.times(75, long: 5_000)
  private static let length = 30

  @Test(arguments: 0..<18)
  func `gives nothing in memory that is not allowed`(part: Int) async throws {
    try await run(part, isOnDisk: false)
  }

  @Test(arguments: 18..<20)
  func `gives nothing on disk that is not allowed`(part: Int) async throws {
    try await run(part, isOnDisk: true)
  }

  private func run(_ part: Int, isOnDisk: Bool) async throws {
    var hits = 0
    let count = isOnDisk ? Self.sequencesPerCaseOnDisk : Self.sequencesPerCase
    for number in 0..<count {
      var sequence = ModelSequence(
        seed: Effort.seed &+ UInt64(part * 1_000_000 + number), length: Self.length,
        isOnDisk: isOnDisk)
      guard let fault = try await sequence.firstFault() else {
        hits += sequence.hits
        continue
      }
      let shortest = try await sequence.shortened()
      return #expect(Bool(false), "\(fault)\n\(shortest)")
    }
    // A cache that gives nothing would be allowed, too.
    #expect(hits > count / 8 || !Effort.isRepresentative)
  }
}

/// Operations from a seed, and where the first goes wrong.
struct ModelSequence: CustomStringConvertible {
  let isOnDisk: Bool
  let rules: [String: ServingRule]
  var operations: [ModelOperation]
  private(set) var hits = 0

  init(seed: UInt64, length: Int, isOnDisk: Bool) {
    self.isOnDisk = isOnDisk
    var random = SplitMix(seed: seed)
    var rules: [String: ServingRule] = [:]
    for path in ModelOperation.paths { rules[path] = .random(using: &random) }
    self.rules = rules
    operations = (0..<length).map { _ in .random(using: &random) }
  }

  var description: String {
    let served = rules.sorted { $0.key < $1.key }.map { "serve \($0.key) with \($0.value)" }
    return (served + operations.map(\.description)).joined(separator: "\n")
  }

  /// The sequence without the operations that the fault does not need.
  func shortened() async throws -> ModelSequence {
    var shortest = self
    var index = 0
    while index < shortest.operations.count {
      var shorter = shortest
      shorter.operations.remove(at: index)
      if try await shorter.firstFault() != nil { shortest = shorter } else { index += 1 }
    }
    return shortest
  }

  mutating func firstFault() async throws -> String? {
    var run = try ModelRun(rules: rules, isOnDisk: isOnDisk)
    for (number, operation) in operations.enumerated() {
      if let fault = try await run.perform(operation) { return "operation \(number + 1): \(fault)" }
    }
    hits = run.hits
    return nil
  }
}

/// Two caches over one directory, or one in memory, and the origin.
struct ModelRun {
  private static let limits = HTTPCache.Limits(bufferSizeLimit: 2000)

  private let origin: ModelOrigin
  private let directory: TemporaryDirectory?
  private var cache: HTTPCache
  private var otherCache: HTTPCache?
  private var isOffline = false
  private(set) var hits = 0

  init(rules: [String: ServingRule], isOnDisk: Bool) throws {
    origin = ModelOrigin(rules: rules)
    directory = isOnDisk ? try TemporaryDirectory(inMemory: true) : nil
    cache = Self.open(directory, origin)
    otherCache = isOnDisk ? Self.open(directory, origin) : nil
  }

  private static func open(_ directory: TemporaryDirectory?, _ origin: ModelOrigin) -> HTTPCache {
    HTTPCache(
      directory: directory?.url.appending(path: "http"), limits: limits, now: { origin.now })
  }

  mutating func perform(_ operation: ModelOperation) async throws -> String? {
    origin.state.withLock { state in
      (state.sent, state.confirmed, state.hasFailed) = ([], [], false)
    }
    switch operation {
    case .get(let get): return try await perform(get)
    case .change(let path):
      origin.state.withLock { state in
        let number = state.versions[path]?.number ?? 0
        state.versions[path] = ModelOrigin.version(number + 1)
      }
    case .serve(let path, let rule): origin.state.withLock { $0.rules[path] = rule }
    case .advance(let seconds): origin.state.withLock { $0.now += TimeInterval(seconds) }
    case .fail(let failure): origin.state.withLock { $0.failure = failure }
    case .offline(let isOffline): self.isOffline = isOffline
    case .clear(let path):
      if let url = URL(string: path) { cache.removeResponses(for: url) }
      kill { $0.path == path }
    case .clearHost(let host):
      cache.removeResponses(fromHost: host)
      kill { $0.path.contains(host) }
    case .clearSince(let seconds):
      let date = origin.now - TimeInterval(seconds)
      cache.removeResponses(storedSince: date)
      kill { $0.sentAt >= date }
    case .clearAll:
      cache.removeAll()
      kill { _ in true }
    case .reopen: if directory != nil { cache = Self.open(directory, origin) }
    case .other: if let other = otherCache { (cache, otherCache) = (other, cache) }
    }
    return nil
  }

  private func kill(_ isRemoved: (SentRecord) -> Bool) {
    origin.state.withLock { state in
      for index in state.records.indices where isRemoved(state.records[index]) {
        state.records[index].isAlive = false
      }
    }
  }

  private mutating func perform(_ get: ModelOperation.Get) async throws -> String? {
    guard let url = URL(string: get.path) else { return "no URL" }
    cache.isOffline = isOffline
    let before = origin.state.withLock { $0 }
    let request = HTTPCache.Request(method: get.method, url: url, fields: get.fields)
    let reply: HTTPCache.Reply
    do {
      reply = try await cache.response(to: request, mode: get.mode, fetch: origin.fetch)
    } catch is Unreachable {
      return origin.state.withLock { $0.hasFailed } ? nil : "an error that the origin did not throw"
    } catch is HTTPCacheError {
      return isOffline || get.mode == .onlyStored ? nil : "an error of the cache"
    }
    let body = try await reply.body.data()
    if reply.outcome.source == .hit { hits += 1 }
    await cache.finishRevalidations()
    let state = settle(get, reply, before)
    return ModelReference(get: get, isOffline: isOffline, state: state).fault(in: reply, body)
  }

  /// Takes back what the cache could not learn from the origin, and gives the state to judge the reply by.
  private func settle(
    _ get: ModelOperation.Get, _ reply: HTTPCache.Reply, _ before: ModelOrigin.State
  ) -> ModelOrigin.State {
    let isOffered = get.mode != .bypass && get.fields["Cache-Control"] != "no-store"
    let source = reply.outcome.source
    return origin.state.withLock { state in
      for serial in state.sent { state.records[serial - 1].isOffered = isOffered }
      if get.method == "GET", source == .miss || source == .bypass {
        // A confirmation of what the client has is not for the cache.
        state.records.replaceSubrange(before.records.indices, with: before.records)
      }
      guard source == .hit || source == .stale else { return state }
      var judged = before
      judged.hasFailed = state.hasFailed
      return judged
    }
  }
}
