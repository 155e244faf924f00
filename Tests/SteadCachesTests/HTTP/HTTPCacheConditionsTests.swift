import Foundation
import SteadTestSupport
import Testing

@testable import SteadCaches

/// Simultaneous requests that ask for one stale response, each with conditions of its own.
@Suite(.hangLimit) struct HTTPCacheConditionsTests {
  /// How the server answers a question about the version that is stored.
  enum Answer: CaseIterable { case confirmation, newVersion, wrongConfirmation, failure, error }

  private static let (old, new) = ("\"old\"", "\"new\"")
  /// How many requests of a kind come at one time.
  private static let count = 4
  private static let conditions: [HTTPCache.Fields] = [
    [:], ["If-None-Match": old], ["If-None-Match": new], ["If-None-Match": "*"],
    ["If-Modified-Since": "Fri, 01 Jan 2100 00:00:00 GMT"],
  ]

  /// Answers about the old version, or with the new one.
  private static func respond(
    _ answer: Answer, to request: HTTPCache.Request, inChunks: Bool
  ) throws -> (HTTPCache.Response, HTTPCache.Body) {
    func message(_ status: Int, _ tag: String, _ text: String) -> (
      HTTPCache.Response, HTTPCache.Body
    ) {
      let chunks = Chunks()
      if !text.isEmpty { chunks.send(text) }
      chunks.finish()
      return (
        .init(
          status: status,
          fields: ["Cache-Control": "max-age=9, stale-if-error=99", "ETag": tag]),
        inChunks ? chunks.body : .init(Data(text.utf8))
      )
    }
    let condition = request.fields["If-None-Match"]
    switch answer {
    case .confirmation where condition == old: return message(304, old, "")
    case .confirmation: return message(200, old, "old")
    case .wrongConfirmation where condition != nil: return message(304, new, "")
    case .newVersion, .wrongConfirmation: return message(200, new, "new")
    case .failure: return (.init(status: 503), .init())
    case .error: throw Unreachable()
    }
  }

  // A request without conditions waited for one that had the stored version's tag: both ask the server the same. It got
  // that one's 304, without a body.
  @Test(arguments: Answer.allCases, [false, true])
  func `a 304 goes to those alone that have the version`(
    answer: Answer, inChunks: Bool
  ) async throws {
    for leader in Self.conditions {
      let origin = Origin(
        ["Cache-Control": "max-age=1, stale-if-error=99", "ETag": Self.old], body: "old")
      let cache = origin.cache()
      _ = try await origin.get(from: cache)
      origin.advance(2)
      let gate = Event()
      origin.answer { request in
        await gate.wait()
        return try Self.respond(answer, to: request, inChunks: inChunks)
      }
      let first = Task { try await origin.get("/", leader, from: cache) }
      while origin.requests.count < 2 { await Task.yield() }
      let all = Self.conditions.flatMap { Array(repeating: $0, count: Self.count) }.map { fields in
        (fields, Task { try await origin.get("/", fields, from: cache) })
      }
      await letOthersRun()
      gate.happen()
      for (fields, task) in [(leader, first)] + all {
        let reply = try await task.value
        let (tag, text) = (reply.response.fields["ETag"], try await reply.text)
        if reply.response.status == 304 {
          // A server that confirms whatever it is asked about answers a client's own condition so, too.
          let knows =
            answer == .wrongConfirmation
            ? fields.contains("If-None-Match") : ["*", tag].contains(fields["If-None-Match"])
          #expect(fields.contains("If-Modified-Since") || knows)
          #expect(text.isEmpty)
        } else {
          #expect(reply.response.status == 200)
          #expect(text == (tag == Self.old ? "old" : "new"))
        }
      }
      // A 304 to a client's own condition is for one request alone. One that begins when another's response has replaced
      // what was stored shares no fetch with those before.
      if answer != .wrongConfirmation {
        #expect(origin.requests.count <= 1 + 2 * Self.conditions.count)
      }
    }
  }

  // An equal request that came while the whole response was on its way, after a 304 about another version, asked about the
  // stored one again, got the same 304, and fetched the whole response again.
  @Test func `equal requests wait for what follows an unsuitable 304`() async throws {
    let origin = Origin(["Cache-Control": "max-age=1", "ETag": Self.old], body: "old")
    let cache = origin.cache()
    _ = try await origin.get(from: cache)
    origin.advance(2)
    let bodies = Bodies()
    origin.answer { request in
      if request.fields.contains("If-None-Match") {
        return (.init(status: 304, fields: ["ETag": Self.new]), .init())
      }
      return (.init(status: 200, fields: ["Cache-Control": "max-age=9"]), bodies.begin())
    }
    let first = try await origin.get(from: cache)
    let followers = (0..<Self.count).map { _ in Task { try await origin.get(from: cache).text } }
    await letOthersRun()
    #expect(origin.requests.count == 3)
    for number in 0..<bodies.count {
      bodies[number].send("new")
      bodies[number].finish()
    }
    #expect(try await first.text == "new")
    for follower in followers { #expect(try await follower.value == "new") }
  }
}
