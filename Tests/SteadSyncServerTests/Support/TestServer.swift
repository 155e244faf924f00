#if Server
import Foundation
import FoundationNetworking
import SteadTestSupport
@testable import SteadSyncServer

/// A server in this process, on a port that was free.
struct TestServer: Sendable {
  let server: SyncServer
  let port: Int

  /// Runs a body with a server, and ends it.
  static func with<Value: Sendable>(
    _ engineCase: EngineCase = .sqlite, clock: ServerClock = .system,
    change: (inout ServerSettings) -> Void = { _ in },
    _ body: (TestServer) async throws -> Value
  ) async throws -> Value {
    let directory = try TemporaryDirectory()
    var settings = ServerSettings(directory: directory.path)
    settings.location = try await engineCase.location(in: directory)
    settings.port = 0
    settings.logLevel = .critical
    change(&settings)
    let server = try SyncServer(settings, clock: clock)
    let (ports, started) = AsyncStream<Int>.makeStream()
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        defer { started.finish() }
        // Cancelled at the end, which throws.
        do { try await server.run(until: []) { started.yield($0) } } catch is CancellationError {}
      }
      var iterator = ports.makeAsyncIterator()
      guard let port = await iterator.next() else {
        try await group.next()
        throw CancellationError()
      }
      let value = try await body(TestServer(server: server, port: port))
      group.cancelAll()
      return value
    }
  }

  /// A new device of a user.
  func device(of user: String) async throws -> TestDevice {
    guard let account = AccountName(user) else { throw CancellationError() }
    let code = try await server.invite(account)
    let answer = try await send(
      "POST", "v1/enrol", json: ["user": user, "code": code, "name": "test"])
    return TestDevice(
      server: self, user: user, device: answer.text("device"), access: answer.text("access_token"),
      refresh: answer.text("refresh_token"))
  }

  /// Sends a request and returns the answer, whatever its status.
  func send(
    _ method: String, _ path: String, json: Any? = nil, body: Data? = nil,
    headers: [String: String] = [:]
  ) async throws -> TestAnswer {
    guard let url = URL(string: "http://127.0.0.1:\(port)/\(path)") else {
      throw CancellationError()
    }
    var request = URLRequest(url: url)
    request.httpMethod = method
    request.httpBody = try json.map { try JSONSerialization.data(withJSONObject: $0) } ?? body
    for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
    let (data, response) = try await URLSession.shared.data(for: request)
    let http = response as? HTTPURLResponse
    return TestAnswer(
      status: http?.statusCode ?? 0, body: data,
      headers: http?.allHeaderFields as? [String: String] ?? [:])
  }
}

/// A device with its tokens.
struct TestDevice: Sendable {
  let server: TestServer
  let user: String
  let device: String
  var access: String
  var refresh: String

  func send(
    _ method: String, _ path: String, json: Any? = nil, body: Data? = nil,
    headers: [String: String] = [:]
  ) async throws -> TestAnswer {
    try await server.send(
      method, path, json: json, body: body,
      headers: headers.merging(["Authorization": "Bearer \(access)"]) { $1 })
  }
}

extension TestDevice {
  /// The same device at a server on another port, such as one that was started again.
  func at(_ port: Int) -> TestDevice {
    TestDevice(
      server: TestServer(server: server.server, port: port), user: user, device: device,
      access: access, refresh: refresh)
  }

  /// The same device with a token of now.
  func renewed() throws -> TestDevice {
    var device = self
    device.access = try AccessToken(account: user, device: self.device)
      .signed(with: server.server.keys, clock: server.server.clock)
    return device
  }
}

/// An answer of the server.
struct TestAnswer: Sendable {
  var status: Int
  var body: Data
  var headers: [String: String]

  /// The object that the body holds; empty if it holds none.
  var object: [String: Any] {
    (try? JSONSerialization.jsonObject(with: body)) as? [String: Any] ?? [:]
  }

  func text(_ name: String) -> String { object[name] as? String ?? "" }
  var error: String { text("error") }
}
#endif
