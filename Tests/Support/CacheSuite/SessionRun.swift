import Foundation
import LocalServer
import SteadCaches

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Runs suites through URLSession and `HTTPCache` against a server on this machine.
///
/// The tests run side by side, each with a cache of its own, since in real time most of them are pauses.
package struct SessionRun: Sendable {
  /// Whose time it is that caches and server go by.
  package enum Time: Sendable {
    case real
    /// A clock for each test, which moves in pauses alone, so that a busy machine changes no result.
    case virtual
  }

  /// A cache for one test; nil for URLSession by itself.
  private struct Subject: Sendable {
    let origin: TestOrigin
    let cache: HTTPCache?
    let clock: VirtualClock?

    var now: Date { clock?.now ?? Date() }

    /// Waits, or moves the clock once all is done that had begun before.
    func pause(_ seconds: Double) async throws {
      guard let clock else { return try await Task.sleep(for: .seconds(seconds)) }
      await cache?.finishRevalidations()
      clock.advance(by: seconds)
    }
  }

  private static let pause = 3.0
  private static let connections = 512
  // Far above what a request takes on a machine that does much else.
  private static let timeout = 600.0

  private let time: Time
  private let usesCache: Bool
  private let isShared: Bool
  private let session: URLSession

  /// - Parameters:
  ///   - usesCache: False for URLSession by itself.
  ///   - isShared: Whether the caches are shared ones, which have tests of their own.
  package init(_ time: Time, usesCache: Bool = true, isShared: Bool = false) {
    self.time = time
    self.isShared = isShared
    self.usesCache = usesCache
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpMaximumConnectionsPerHost = Self.connections
    configuration.httpShouldSetCookies = false
    configuration.timeoutIntervalForRequest = Self.timeout
    session = URLSession(configuration: configuration)
  }

  package func results(of suites: [CacheSuite]) async throws -> SuiteResults {
    var subjects: [String: Subject] = [:]
    for test in suites.flatMap({ $0.tests(isShared: isShared) }) {
      let token = UUID().uuidString.lowercased()
      subjects[token] = subject(TestOrigin(test, token: token))
    }
    let server = try LocalServer { [subjects] in try Self.answer($0, subjects) }
    var outcomes: [String: TestRun.Outcome] = [:]
    await withTaskGroup { group in
      for subject in subjects.values {
        group.addTask { (subject.origin.test.id, await outcome(subject, server)) }
      }
      for await (id, outcome) in group { outcomes[id] = outcome }
    }
    server.stop()
    return SuiteResults(suites: suites, outcomes: outcomes, isShared: isShared)
  }

  private func subject(_ origin: TestOrigin) -> Subject {
    switch time {
    case .real:
      let cache = usesCache ? HTTPCache(configuration: .init(isShared: isShared)) : nil
      return Subject(origin: origin, cache: cache, clock: nil)
    case .virtual:
      let clock = VirtualClock(VirtualRun.start)
      let configuration = HTTPCache.Configuration(isShared: isShared)
      let cache =
        usesCache
        ? HTTPCache(directory: nil, configuration: configuration, now: { clock.now }) : nil
      return Subject(origin: origin, cache: cache, clock: clock)
    }
  }

  private func outcome(_ subject: Subject, _ server: LocalServer) async -> TestRun.Outcome {
    await TestRun(
      origin: subject.origin, base: server.base,
      exchange: { try await exchange($0, subject.cache) },
      pause: { try await subject.pause(Self.pause) }
    ).outcome()
  }

  private func exchange(
    _ request: SuiteRequest, _ cache: HTTPCache?
  ) async throws -> SuiteResponse {
    guard let url = URL(string: request.url) else { throw URLError(.badURL) }
    var sent = URLRequest(url: url, timeoutInterval: Self.timeout)
    sent.httpMethod = request.method
    for field in request.fields.all { sent.addValue(field.value, forHTTPHeaderField: field.name) }
    sent.httpBody = request.body.map { Data($0.utf8) }
    sent.cachePolicy = Self.policy(request.cacheMode)
    let (data, response) = try await load(sent, cache, followsRedirects: request.followsRedirects)
    guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
    return SuiteResponse(
      status: response.statusCode, reason: "",
      fields: HeaderFields(response.allHeaderFields.map { ("\($0.key)", "\($0.value)") }),
      body: String(decoding: data, as: UTF8.self))
  }

  private func load(
    _ request: URLRequest, _ cache: HTTPCache?, followsRedirects: Bool
  ) async throws -> (Data, URLResponse) {
    guard let cache else { return try await session.data(for: request) }
    return try await session.data(
      for: request, cache: cache, followsRedirects: followsRedirects)
  }

  private static func policy(_ cacheMode: String?) -> URLRequest.CachePolicy {
    switch cacheMode {
    case "no-cache": .reloadRevalidatingCacheData
    case "reload", "no-store": .reloadIgnoringLocalCacheData
    case "force-cache": .returnCacheDataElseLoad
    case "only-if-cached": .returnCacheDataDontLoad
    default: .useProtocolCachePolicy
    }
  }

  private static func answer(
    _ request: LocalServer.Request, _ subjects: [String: Subject]
  ) throws -> LocalServer.Reply {
    let parts = request.target.split(separator: "/").map { $0.prefix { $0 != "?" } }
    guard parts.count > 1, parts[0] == "test", let subject = subjects[String(parts[1])] else {
      return LocalServer.Reply(status: 404, reason: "Not Found")
    }
    var asked = SuiteRequest(method: request.method, url: request.target)
    asked.fields = HeaderFields(request.fields)
    let pause = subject.origin.pause(before: asked)
    if let clock = subject.clock {
      clock.advance(by: pause)
    } else {
      // The test asks for a server that answers so much later, in real time.
      Thread.sleep(forTimeInterval: pause)
    }
    let answer = try subject.origin.answer(asked, at: subject.now)
    var reply = LocalServer.Reply(
      status: answer.status, reason: answer.reason,
      fields: answer.fields.all.map { ($0.name, $0.value) }, body: .data(Data(answer.body.utf8)))
    reply.interim = answer.interim.map { interim in
      LocalServer.Interim(
        status: interim.status, fields: interim.fields.all.map { ($0.name, $0.value) })
    }
    return reply
  }
}
