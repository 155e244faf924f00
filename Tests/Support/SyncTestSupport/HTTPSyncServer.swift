import Foundation
import LocalServer
import SteadSync
import SteadSyncProtocol
import Synchronization

/// ``LocalSyncServer`` behind the addresses of a real server, for tests of the transport and of processes.
///
/// Anybody may enrol. Access tokens end at once where the test says so, and each refresh token works until its successor is used.
package final class HTTPSyncServer: Sendable {
  private struct State {
    var deviceCount = 0
    var refreshTokens: [String: String] = [:]
    /// The token that each was given for, which works until its successor is used: the answer may have been lost.
    var former: [String: String] = [:]
    var accessTokens: Set<String> = []
    var renewals = 0
    /// For how many seconds it asks to be left alone; nil for no time.
    var pause: Int?
  }

  package let records = LocalSyncServer(waitTimeout: .milliseconds(200))
  private let state = Mutex(State())
  private let server: Mutex<LocalServer?> = Mutex(nil)

  package init() throws {
    let (records, state) = (records, Access(self))
    let server = try LocalServer { request in try state.reply(request, records) }
    self.server.withLock { $0 = server }
  }

  package var url: URL {
    get throws {
      guard let url = server.withLock({ $0.flatMap { URL(string: $0.base) } }) else {
        throw URLError(.badURL)
      }
      return url
    }
  }

  /// Forgets all access tokens, as a server does that has another key.
  package func endAccess() { state.withLock { $0.accessTokens = [] } }
  /// How often a token was renewed.
  package var renewalCount: Int { state.withLock { $0.renewals } }

  /// Asks all who come to come again later; nil for no longer.
  package func askForPause(seconds: Int?) { state.withLock { $0.pause = seconds } }

  package func stop() { server.withLock { $0?.stop() } }

  // MARK: Answers

  /// Keeps the server's handler from keeping the server.
  private struct Access: Sendable {
    weak let owner: HTTPSyncServer?
    init(_ owner: HTTPSyncServer) { self.owner = owner }

    func reply(_ request: LocalServer.Request, _ records: LocalSyncServer) throws
      -> LocalServer.Reply
    {
      guard let owner else { throw URLError(.cancelled) }
      return try owner.reply(request, records)
    }
  }

  private func reply(
    _ request: LocalServer.Request, _ records: LocalSyncServer
  ) throws -> LocalServer.Reply {
    if let pause = state.withLock({ $0.pause }) {
      return LocalServer.Reply(
        status: 503, fields: [("Retry-After", "\(pause)")],
        body: .data(Data("{\"message\":\"it is being moved.\"}".utf8)))
    }
    guard let url = URLComponents(string: request.target) else { return Self.error(400) }
    let words = url.path.split(separator: "/").map(String.init)
    if words == ["v1", "enrol"] || words == ["v1", "token"] { return tokens(request) }
    let token = request["Authorization"]?.dropFirst("Bearer ".count) ?? ""
    guard state.withLock({ $0.accessTokens.contains(String(token)) }) else {
      return Self.error(401)
    }
    if words == ["v1", "wait"] { return try wait(request, records) }
    guard words.count >= 3, words[1] == "zones", let zone = ZoneID(words[2]) else {
      return Self.error(404)
    }
    switch (request.method, words.dropFirst(3).first) {
    case ("PUT", nil): return LocalServer.Reply(status: 204)
    case ("POST", "push"):
      let push = try Push(encoded: request.body)
      let answer = try Self.waiting { try await records.push(push, to: zone) }
      return Self.json(answer.encoded(), answer.status)
    case ("GET", "changes"):
      let items = (url.queryItems ?? []).map { ($0.name, $0.value ?? "") }
      let changes = try ChangesRequest(query: Dictionary(items) { $1 })
      let answer = try Self.waiting { try await records.changes(changes, of: zone) }
      return Self.json(answer.encoded(), answer.status)
    case ("PUT", "blobs"):
      guard let blob = BlobID(words[4]) else { return Self.error(400) }
      try Self.waiting { try await records.upload(blob, request.body, to: zone) }
      return LocalServer.Reply(status: 201)
    case ("GET", "blobs"):
      guard let blob = BlobID(words[4]) else { return Self.error(400) }
      let bytes = try Self.waiting { try await records.download(blob, from: zone) }
      return LocalServer.Reply(body: .data(bytes))
    default: return Self.error(404)
    }
  }

  private func tokens(_ request: LocalServer.Request) -> LocalServer.Reply {
    let body = (try? JSONDecoder().decode([String: String].self, from: request.body)) ?? [:]
    let (device, access, refresh): (String?, String, String) = state.withLock { state in
      let (access, refresh) = (UUID().uuidString, UUID().uuidString)
      var device: String?
      if let old = body["refresh_token"] {
        device = state.refreshTokens[old]
        if let former = state.former.removeValue(forKey: old) { state.refreshTokens[former] = nil }
        state.former[refresh] = old
        state.renewals += 1
      } else if body["code"] == "code" {
        state.deviceCount += 1
        device = "device-\(state.deviceCount)"
      }
      if let device {
        state.refreshTokens[refresh] = device
        state.accessTokens.insert(access)
      }
      return (device, access, refresh)
    }
    guard let device else { return Self.error(401) }
    let answer: SyncValue = .object([
      "user": "anna", "device": .string(device), "access_token": .string(access),
      "expires_in": 900, "refresh_token": .string(refresh), "now": 0,
    ])
    return Self.json(answer.encoded(), 200)
  }

  private func wait(
    _ request: LocalServer.Request, _ records: LocalSyncServer
  ) throws -> LocalServer.Reply {
    let body = try SyncValue(encoded: request.body)
    let zones = body.object?["zones"]?.object ?? [:]
    var cursors: [ZoneID: Cursor] = [:]
    for (name, seq) in zones {
      guard let zone = ZoneID(name), let seq = seq.int else { return Self.error(400) }
      let head = try Self.waiting { await records.head(of: zone) }
      // The real one compares numbers alone.
      let anchor = head.head == seq ? head : .start
      cursors[zone] = Cursor(seq: seq, start: 0, anchor: anchor)
    }
    let asked = cursors
    let news = try Self.waiting { try await records.wait(for: asked) }
    let names = news.map { SyncValue.string($0.text) }
    return Self.json(SyncValue.object(["zones": .array(names)]).encoded(), 200)
  }

  private static func json(_ bytes: [UInt8], _ status: Int) -> LocalServer.Reply {
    LocalServer.Reply(
      status: status, fields: [("Content-Type", "application/json")], body: .data(Data(bytes)))
  }

  private static func error(_ status: Int) -> LocalServer.Reply {
    LocalServer.Reply(
      status: status, body: .data(Data("{\"message\":\"no, with status \(status)\"}".utf8)))
  }

  /// Blocks the connection's own thread until an actor has answered.
  private static func waiting<Result: Sendable>(
    _ body: @escaping @Sendable () async throws -> Result
  ) throws -> Result {
    let done = DispatchSemaphore(value: 0)
    let box = Box<Result>()
    Task {
      do {
        let result = try await body()
        box.answer.withLock { $0 = .success(result) }
      } catch {
        box.answer.withLock { $0 = .failure(error) }
      }
      done.signal()
    }
    done.wait()
    guard let result = box.answer.withLock({ $0 }) else { throw URLError(.cancelled) }
    return try result.get()
  }

  private final class Box<Result: Sendable>: Sendable {
    let answer = Mutex<Swift.Result<Result, any Error>?>(nil)
  }
}
