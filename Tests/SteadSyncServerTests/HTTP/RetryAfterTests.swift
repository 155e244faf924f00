#if Server
import Foundation
import HTTPTypes
import Testing
@testable import SteadSyncServer

/// A server that can't take a request now says after how many seconds it may.
@Suite struct RetryAfterTests {
  @Test func `strangers may try again after the seconds that they are told`() async throws {
    let time = TestClock()
    try await TestServer.with(clock: time.clock) { server in
      let wrong = ["user": "anna", "code": "0000-0000-0000"]
      func answer() async throws -> TestAnswer {
        try await server.send("POST", "v1/enrol", json: wrong)
      }
      for _ in 0..<20 { #expect(try await answer().status == 401) }
      let refused = try await answer()
      #expect(refused.status == 429 && refused.error == "too_many")
      let seconds = try #require(refused.headers["Retry-After"].flatMap { Int64($0) })
      time.advance(seconds: seconds)
      #expect(try await answer().status == 401)
    }
  }

  @Test func `a server that ends says when to come back`() async throws {
    try await TestServer.with { server in
      let client = TestClient(device: try await server.device(of: "anna"))
      try await client.makeZone()
      await server.server.engine.close()
      for answer in [try await client.push(1, client.insert("a")), try await client.changes()] {
        #expect(answer.status == 503 && answer.error == "unavailable")
        #expect(answer.headers["Retry-After"] == "5")
      }
    }
  }

  @Test(arguments: [
    (EngineError.Code.retry, "1"), (.disconnected, "1"), (.overloaded, "1"), (.closed, "5"),
    (.storage, "30"),
  ])
  func `each failure that passes has its seconds`(code: EngineError.Code, seconds: String) {
    let answer = Answer.failure(Answer.error(for: EngineError(code: code, message: "")))
    #expect(answer.status == .serviceUnavailable && answer.headers[.retryAfter] == seconds)
  }

  @Test func `a blob that cannot be written has them too`() {
    let answer = Answer.failure(BlobStore.failure)
    #expect(answer.status == .serviceUnavailable && answer.headers[.retryAfter] == "30")
  }
}
#endif
