import Foundation

/// Carries out one test: sends its requests through a cache and checks what the client gets and the origin saw.
package struct TestRun: Sendable {
  package enum Outcome: Sendable, Equatable {
    case passed
    /// The cache did not do what the test expects.
    case failed(String)
    /// The test could not be carried out, which counts as not passed.
    case setupFailed(String)
  }

  private let test: CacheTest
  private let origin: TestOrigin
  private let base: String
  private let exchange: Exchange
  private let pause: @Sendable () async throws -> Void

  /// - Parameters:
  ///   - origin: The test's origin, which the cache reaches by itself.
  ///   - base: What URLs begin with, without a slash at the end.
  ///   - exchange: The cache.
  ///   - pause: Waits three seconds, by the clock of cache and origin.
  package init(
    origin: TestOrigin, base: String, exchange: @escaping Exchange,
    pause: @escaping @Sendable () async throws -> Void
  ) {
    test = origin.test
    self.origin = origin
    self.base = base
    self.exchange = exchange
    self.pause = pause
  }

  package func outcome() async -> Outcome {
    do {
      try await run()
      return .passed
    } catch let failure as Unmet {
      return failure.isSetup ? .setupFailed(failure.message) : .failed(failure.message)
    } catch {
      return .failed("A request failed: \(error)")
    }
  }

  private func run() async throws {
    var responses: [SuiteResponse] = []
    for index in test.steps.indices {
      let response = try await exchange(request(index, after: responses.last))
      responses.append(response)
      try ResponseCheck(step: test.steps[index], number: index + 1, response: response)
        .check(token: origin.token)
      if test.steps[index].pausesAfter { try await pause() }
    }
    try OriginCheck(steps: test.steps, responses: responses, seen: origin.seen).check()
    // Last, so that what becomes of the final response is told first.
    try Unmet.check(
      !test.steps.contains(where: \.expectsInterimResponses), isSetup: false,
      "Interim responses are not passed on.")
  }

  private func request(_ index: Int, after before: SuiteResponse?) -> SuiteRequest {
    let step = test.steps[index]
    var url = "\(base)/test/\(origin.token)"
    if let name = step.fileName { url += "/\(name)" }
    if let query = step.query { url += "?\(query)" }
    var request = SuiteRequest(method: step.method, url: url)
    let then = before.flatMap { $0.fields["Server-Now"] }.flatMap(Double.init) ?? 0
    for field in step.requestFields {
      let now = Date(timeIntervalSince1970: then / 1000)
      request.fields.add(field.name, field.value(now: now, path: "", in: step))
    }
    request.fields.add("Test-ID", test.id)
    request.fields.add("Req-Num", String(index + 1))
    request.body = step.requestBody
    request.cacheMode = step.cacheMode
    request.followsRedirects = step.followsRedirects
    return request
  }
}

/// An expectation of a test that was not met.
struct Unmet: Error {
  var isSetup: Bool
  var message: String

  static func check(
    _ condition: Bool, isSetup: Bool, _ message: @autoclosure () -> String
  ) throws {
    if !condition { throw Unmet(isSetup: isSetup, message: message()) }
  }
}
