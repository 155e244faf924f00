public import Foundation
internal import SteadSyncProtocol
import Synchronization

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// Connects to a `stead serve` server over HTTP.
///
/// Make one for each account; several engines may share it. Failed requests throw, and the engine tries again. It
/// uses the proxies of the session's configuration. The access token is renewed automatically, a minute before it
/// expires. A large value is in memory as a whole while it is sent or fetched.
///
/// ```swift
/// let file = SyncCredentialFile(directories.data.appending(path: "sync.json"))
/// if try file.load() == nil {
///   try file.save(
///     try await HTTPSyncTransport.enrol(server: url, user: "anna", code: code, deviceName: "laptop"))
/// }
/// let transport = try HTTPSyncTransport(credentials: file)
/// ```
///
/// Calls may come from any thread, several at the same time. They throw
/// ``SyncError/refused(status:reason:)`` for a request that the server won't take,
/// ``SyncError/busy(seconds:reason:)`` for a status with `Retry-After`,
/// ``SyncError/unreachable(reason:)`` if the connection or the server fails, and what saving
/// renewed credentials throws. A cancelled task gets `CancellationError` at once, or after a
/// renewal of the access token that is in progress.
public final class HTTPSyncTransport: SyncTransport {
  /// The default time-out of a request without an answer, in seconds.
  public static let usualTimeout = 60.0
  /// How long the server is asked to wait for changes, in seconds.
  public static let waitTimeout = 50

  private let session: SyncSession
  private let access: HTTPSyncAccess
  private let timeout: Double

  /// Makes a transport with stored credentials. Reads them, and opens no connection.
  ///
  /// - Parameters:
  ///   - credentials: Where the credentials are, and where each renewal of the access token saves the next refresh
  ///     token. Use one transport for one store of credentials: a second one would spend the same refresh token, and
  ///     the server would revoke the device.
  ///   - session: Requests use its delegate and its configuration, but not its cache.
  ///   - timeout: The time-out of a request without an answer, in seconds; longer than ``waitTimeout``.
  /// - Throws: ``SyncError/notEnrolled`` if there are no credentials, and the errors of reading them.
  public init(
    credentials: some SyncCredentialStore, session: URLSession = .shared,
    timeout: Double = usualTimeout
  ) throws {
    guard let found = try credentials.load() else { throw SyncError.notEnrolled }
    self.session = SyncSession(session)
    self.timeout = timeout
    access = HTTPSyncAccess(found, credentials, self.session, timeout)
  }

  /// Enrols this device with a one-time code of the server.
  ///
  /// Save the result at once: the code can't be used again, and the refresh token in the result is a secret. If the
  /// answer is lost, the code is used up, and the device that nobody has stays in the account until it is revoked.
  ///
  /// - Parameters:
  ///   - server: The server's address, such as `https://sync.example.org`.
  ///   - user: The name of the account.
  ///   - code: A code from `stead serve invite`, for this account. Case, spaces and hyphens don't matter.
  ///   - deviceName: A name by which the account's owner recognises the device, of at most 100 bytes.
  ///   - session: A session as for ``init(credentials:session:timeout:)``.
  ///   - timeout: The time-out of the request, in seconds.
  /// - Throws: ``SyncError/refused(status:reason:)`` for a wrong or used code, ``SyncError/busy(seconds:reason:)``
  ///   after too many attempts, ``SyncError/unreachable(reason:)`` without a connection.
  public static func enrol(
    server: URL, user: String, code: String, deviceName: String = "",
    session: URLSession = .shared, timeout: Double = usualTimeout
  ) async throws -> SyncCredentials {
    try await HTTPSyncAccess.enrol(
      server: server, ["user": user, "code": code, "name": deviceName], SyncSession(session),
      timeout)
  }

  /// The name that the server gave this device when it was enrolled.
  public var device: String? { get async { await access.device?.text } }

  /// The length of a zone's name: 128 random bits in hexadecimal digits, so that no two zones have one name.
  static let zoneLength = 32

  /// Accepts zones as `stead serve` does: 32 hexadecimal digits in lower case. Asks no server.
  ///
  /// - Throws: ``SyncError/notAServerZone(_:)``.
  public func check(zone: String) throws {
    let isHexadecimal = zone.utf8.allSatisfy {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
    }
    guard isHexadecimal, zone.utf8.count == Self.zoneLength else {
      throw SyncError.notAServerZone(zone)
    }
  }

  // MARK: - Records

  /// `POST /v1/zones/{zone}/push`. An answer of the protocol is returned whatever its status is, also a refusal.
  public func push(_ message: Data, zone: String) async throws -> Data {
    let answer = try await send("POST", "v1/zones/\(zone)/push", body: message)
    // An answer of the protocol counts whatever its status is, which says less and which proxies may change.
    guard answer.isSuccess || (try? PushAnswer(encoded: answer.data)) != nil else {
      throw answer.error
    }
    return answer.data
  }

  /// `GET /v1/zones/{zone}/changes`. An answer of the protocol is returned whatever its status is, such as `expired`
  /// with 410.
  public func changes(_ query: [String: String], zone: String) async throws -> Data {
    let items = query.sorted { $0.key < $1.key }
      .map { URLQueryItem(name: $0.key, value: $0.value) }
    let answer = try await send("GET", "v1/zones/\(zone)/changes", query: items)
    guard answer.isSuccess || (try? ChangesAnswer(encoded: answer.data)) != nil else {
      throw answer.error
    }
    return answer.data
  }

  /// `PUT /v1/zones/{zone}`, which makes a zone of this account unless it exists.
  ///
  /// - Throws: ``SyncError/refused(status:reason:)`` if the account owns too many zones, or doesn't own the zone.
  public func prepare(zone: String) async throws {
    let answer = try await send("PUT", "v1/zones/\(zone)")
    // 409: the zone exists and has another owner, who may have shared it. The first push or fetch tells.
    guard answer.isSuccess || answer.status == 409 else { throw answer.error }
  }

  private struct ChangedZones: Decodable { let zones: [String] }

  /// `POST /v1/wait`. It takes up to ``waitTimeout`` seconds, fewer than the time-out of the request.
  public func wait(for cursors: [String: String]) async throws -> Set<String> {
    // The server compares numbers of changes; a cursor that isn't one of the protocol can't be waited for.
    let zones = cursors.compactMapValues { Cursor($0).map { SyncValue.int($0.seq) } }
    let body = SyncValue.object([
      "zones": .object(zones), "seconds": .int(Int64(Self.waitTimeout)),
    ])
    let answer = try await send("POST", "v1/wait", body: Data(body.encoded()))
    guard answer.status == 200,
      let changed = try? JSONDecoder().decode(ChangedZones.self, from: answer.data)
    else { throw answer.error }
    return Set(changed.zones)
  }

  // MARK: - Blobs

  /// `PUT /v1/zones/{zone}/blobs/{sha256}`, in one request: an interrupted upload begins again.
  public func upload(_ bytes: Data, blob: String, zone: String) async throws {
    let answer = try await send("PUT", "v1/zones/\(zone)/blobs/\(blob)", body: bytes)
    guard answer.isSuccess else { throw answer.error }
  }

  /// `GET /v1/zones/{zone}/blobs/{sha256}`. ``SyncError/refused(status:reason:)`` with 404 if no device has sent it
  /// yet.
  public func download(blob: String, zone: String) async throws -> Data {
    let answer = try await send("GET", "v1/zones/\(zone)/blobs/\(blob)")
    guard answer.status == 200 else { throw answer.error }
    return answer.data
  }

  // MARK: - Requests

  /// Sends a request with an access token, and once more with a new one if that is refused.
  ///
  /// A second 401 is the caller's: the device was revoked, and a third token would be refused, too.
  private func send(
    _ method: String, _ path: String, query: [URLQueryItem] = [], body: Data? = nil
  ) async throws -> HTTPSyncResponse {
    let answer = try await send(method, path, query, body, token: access.token())
    guard answer.status == 401 else { return answer }
    // The token is refused before its time: the server has a new key, or the device's clock is wrong.
    return try await send(method, path, query, body, token: access.token(renewing: true))
  }

  private func send(
    _ method: String, _ path: String, _ query: [URLQueryItem], _ body: Data?, token: String
  ) async throws -> HTTPSyncResponse {
    var request = URLRequest(
      url: await access.server.appending(path: path).appending(queryItems: query),
      timeoutInterval: timeout)
    request.httpMethod = method
    request.httpBody = body
    request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
    if body != nil { request.setValue("application/json", forHTTPHeaderField: "Content-Type") }
    return try await HTTPSyncAccess.answer(to: request, session)
  }
}

// MARK: - Responses

/// A server's response to a request.
struct HTTPSyncResponse {
  let data: Data
  let status: Int
  /// The pause that the server asks for, in seconds.
  private let pause: Double?

  init(_ data: Data, _ response: URLResponse) throws {
    guard let response = response as? HTTPURLResponse else {
      throw SyncError.unreachable(reason: "it does not speak HTTP")
    }
    self.data = data
    status = response.statusCode
    // Seconds alone, as `stead serve` sends them: a date, which HTTP also allows, counts as no pause.
    pause = response.value(forHTTPHeaderField: "Retry-After").flatMap { Double($0) }
  }

  var isSuccess: Bool { (200..<300).contains(status) }

  private struct Failure: Decodable { let message: String }

  /// The error that a response stands for, if it isn't an answer of the protocol.
  ///
  /// Statuses from 500 on, and 429, are failures for a time, which the engine retries. All others are refusals.
  var error: SyncError {
    var message = (try? JSONDecoder().decode(Failure.self, from: data))?.message
    // The text becomes part of a sentence.
    if message?.hasSuffix(".") == true { message?.removeLast() }
    guard status >= 500 || status == 429 else {
      return .refused(status: status, reason: message ?? "it gave no reason")
    }
    let reason = message ?? "it answers with status \(status)"
    // `Double` also reads words such as `inf`.
    guard let pause, pause > 0, pause.isFinite else { return .unreachable(reason: reason) }
    return .busy(seconds: pause, reason: reason)
  }
}

// MARK: - Sessions

/// Sends requests like a given session, caches nothing, and can be cancelled at any moment.
///
/// It works around three faults of Foundation off Apple's systems:
///
/// - The program crashes if a request is cancelled while its session reads a `URLCache` (issue 3296 of
///   swift-corelibs-foundation). So the session has none.
/// - `data(for:)` deadlocks if a task is cancelled while its answer arrives: one side holds the task's lock and waits
///   for the session's queue, the other holds the queue and waits for the lock. So requests are cancelled outside
///   that lock.
/// - If a reused connection breaks, a request with a body is sent again without the body, and uses a whole processor
///   until it times out. So each request with a body has its own session and connection.
final class SyncSession: Sendable {
  /// The session that sends requests: the user's, or one like it without a cache.
  private let session: URLSession
  /// Whether the session is this object's, which then has to invalidate it.
  private let isOwn: Bool

  init(_ user: URLSession) {
    isOwn = user.configuration.urlCache != nil
    session = isOwn ? Self.session(like: user) : user
  }

  /// A session without a cache. Invalidate it: a session retains its delegate until then.
  private static func session(like user: URLSession) -> URLSession {
    // Off Apple's systems a session returns its own configuration, not a copy.
    let configuration = user.configuration.copy() as? URLSessionConfiguration ?? .ephemeral
    configuration.urlCache = nil
    return URLSession(
      configuration: configuration, delegate: user.delegate, delegateQueue: user.delegateQueue)
  }

  deinit { if isOwn { session.finishTasksAndInvalidate() } }

  /// Sends a request and returns its answer.
  ///
  /// - Throws: `URLError`, or `CancellationError` as soon as the task is cancelled.
  func data(for request: URLRequest) async throws -> (Data, URLResponse) {
    try Task.checkCancellation()
    let answer = Answer()
    #if canImport(FoundationNetworking)
      // A session of its own, and so a connection that no earlier request has used.
      let isShort = request.httpBody != nil
      let session = isShort ? Self.session(like: session) : session
      defer { if isShort { session.finishTasksAndInvalidate() } }
    #endif
    let task = session.dataTask(with: request) { data, response, error in
      if let data, let response {
        answer.set(.success((data, response)))
      } else {
        answer.set(.failure(error ?? URLError(.badServerResponse)))
      }
    }
    return try await withTaskCancellationHandler {
      task.resume()
      return try await answer.value
    } onCancel: {
      // The caller goes on at once. The request is cancelled on another thread, outside of the
      // task's lock.
      answer.set(.failure(CancellationError()))
      DispatchQueue.global().async { task.cancel() }
    }
  }

  /// The answer to one request. Only the first one that is set counts.
  private final class Answer: Sendable {
    typealias Value = (Data, URLResponse)

    private struct State {
      var result: Result<Value, any Error>?
      var waiter: CheckedContinuation<Value, any Error>?
    }

    private let state = Mutex(State())

    /// Sets the answer, and resumes the task that waits for it.
    func set(_ result: Result<Value, any Error>) {
      let waiter = state.withLock { state -> CheckedContinuation<Value, any Error>? in
        guard state.result == nil else { return nil }
        state.result = result
        defer { state.waiter = nil }
        return state.waiter
      }
      // Outside the lock: resuming may run the caller's code.
      waiter?.resume(with: result)
    }

    /// The answer; waits for it. Only one task may wait.
    var value: Value {
      get async throws {
        try await withCheckedThrowingContinuation { continuation in
          let result = state.withLock { state in
            if state.result == nil { state.waiter = continuation }
            return state.result
          }
          if let result { continuation.resume(with: result) }
        }
      }
    }
  }
}
