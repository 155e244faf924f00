import Foundation
import Synchronization

/// The origin of one test: gives the responses that the test describes, and notes the requests it gets.
package final class TestOrigin: Sendable {
  /// A request that reached the origin.
  package struct Seen: Sendable {
    package var number: Int
    package var method: String
    package var fields: HeaderFields
    /// The fields of the response to it.
    package var sent: HeaderFields
    /// Those of them that the client must get as they are, joined by name.
    package var compared: [(name: String, value: String)]
  }

  package let test: CacheTest
  /// Names the test in URLs, and is the body of responses that have no other.
  package let token: String
  private let log = Mutex<[Seen]>([])

  package init(_ test: CacheTest, token: String) {
    self.test = test
    self.token = token
  }

  package var seen: [Seen] { log.withLock { $0 } }

  /// How long the response to a request is kept back, in seconds.
  package func pause(before request: SuiteRequest) -> Double {
    step(of: request)?.responsePause ?? 0
  }

  /// - Parameters:
  ///   - request: What the cache sent; its URL is a path, or has one.
  ///   - now: The origin's time.
  /// - Throws: ``Disconnection`` where the test wants one.
  package func answer(_ request: SuiteRequest, at now: Date) throws -> SuiteResponse {
    let number = Int(request.fields["Req-Num"] ?? "") ?? seen.count + 1
    guard let step = step(of: request) else {
      return SuiteResponse(status: 409, reason: "Conflict", fields: HeaderFields(), body: "")
    }
    let path = Self.path(request.url)
    let status = status(number, request, step)
    var fields = HeaderFields([
      ("Server-Base-Url", path), ("Server-Request-Count", String(seen.count + 1)),
      ("Client-Request-Count", String(number)),
      ("Server-Now", String(Int(now.timeIntervalSince1970 * 1000))),
    ])
    var compared: [String] = []
    for field in step.responseFields {
      fields.add(field.name, field.value(now: now, path: path, in: step))
      if field.isCompared, !compared.contains(field.name) { compared.append(field.name) }
    }
    if !fields.has("Content-Type") { fields.add("Content-Type", "text/plain") }
    let kept = compared.compactMap { name in fields[name].map { (name, $0) } }
    let numbers = log.withLock { log in
      log.append(
        Seen(
          number: number, method: request.method, fields: request.fields, sent: fields,
          compared: kept))
      return log.map { String($0.number) }
    }
    fields.add("Request-Numbers", numbers.joined(separator: " "))
    if !fields.has("Date") { fields.add("Date", Self.date(now, in: step)) }
    if step.disconnects { throw Disconnection() }
    let body = Self.hasBody(status.code, request.method) ? text(step) : ""
    var response = SuiteResponse(
      status: status.code, reason: status.reason, fields: fields, body: body)
    response.interim = step.interimResponses
    return response
  }

  private func step(of request: SuiteRequest) -> TestStep? {
    let number = Int(request.fields["Req-Num"] ?? "") ?? seen.count + 1
    return test.steps.indices.contains(number - 1) ? test.steps[number - 1] : nil
  }

  private func text(_ step: TestStep) -> String {
    if case .text(let text) = step.responseBody, !text.isEmpty { return text }
    return token
  }

  /// 304 where the test expects a validation and the request has the validator of the response before, 999
  /// where it lacks it.
  private func status(
    _ number: Int, _ request: SuiteRequest, _ step: TestStep
  ) -> (code: Int, reason: String) {
    guard step.expectedType?.isValidated == true else { return step.status ?? (200, "OK") }
    // What the cache answered by itself the origin never sent, but would have.
    let sent = seen.last { $0.number == number - 1 }?.sent ?? fields(ofStep: number - 1)
    let validators = [("Last-Modified", "If-Modified-Since"), ("ETag", "If-None-Match")]
    for (validator, condition) in validators {
      guard let sent = sent.last(validator), sent == request.fields[condition] else {
        continue
      }
      return (304, "Not Modified")
    }
    return (999, "304 Not Generated")
  }

  /// The fields that a step has without regard to the time.
  private func fields(ofStep number: Int) -> HeaderFields {
    var fields = HeaderFields()
    guard test.steps.indices.contains(number - 1) else { return fields }
    for field in test.steps[number - 1].responseFields {
      if case .text(let text) = field.value { fields.add(field.name, text) }
    }
    return fields
  }

  private static func date(_ now: Date, in step: TestStep) -> String {
    FieldTemplate(name: "Date", value: .number(0), isCompared: false)
      .value(now: now, path: "", in: step)
  }

  private static func hasBody(_ status: Int, _ method: String) -> Bool {
    status != 204 && status != 304 && method != "HEAD"
  }

  private static func path(_ url: String) -> String {
    guard let scheme = url.range(of: "://") else { return url }
    let rest = url[scheme.upperBound...]
    return rest.firstIndex(of: "/").map { String(rest[$0...]) } ?? "/"
  }
}

extension FieldTemplate {
  fileprivate init(name: String, value: Value, isCompared: Bool) {
    self.name = name
    self.value = value
    self.isCompared = isCompared
  }
}
