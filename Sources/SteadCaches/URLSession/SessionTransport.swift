import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Sends requests for a cache through a session of its own, which delivers bodies in chunks.
///
/// A second session, since off Apple's systems only a session's own delegate gets a body as it is
/// received; tasks with a delegate or a completion handler buffer the whole of it in memory.
final class SessionTransport: Sendable {
  private let session: URLSession
  private let delegate: TransferDelegate

  private init(for user: URLSession) {
    delegate = TransferDelegate(user)
    // Without a queue of its own the session gets a serial one, which keeps a body's chunks in
    // order.
    session = URLSession(
      configuration: Self.configuration(like: user.configuration), delegate: delegate,
      delegateQueue: nil)
  }

  /// A configuration that adds nothing to requests: they already have all fields, so that what the
  /// cache saw is what is sent.
  private static func configuration(
    like user: URLSessionConfiguration
  ) -> URLSessionConfiguration {
    // Off Apple's systems a session hands out its own configuration, not a copy.
    let own = user.copy() as? URLSessionConfiguration ?? .ephemeral
    // Not a second cache below this one, which would answer revalidations itself.
    own.urlCache = nil
    own.requestCachePolicy = .useProtocolCachePolicy
    own.httpShouldSetCookies = false
    own.httpAdditionalHeaders = nil
    return own
  }

  // A session retains its delegate, and itself, until it is invalidated.
  deinit { session.finishTasksAndInvalidate() }

  /// Sends a request, and returns when the head of the response was received. Redirects are
  /// returned, not followed.
  ///
  /// - Throws: `URLError`, or `CancellationError` if the task is cancelled. Reading the body does
  ///   so, too.
  func send(_ request: URLRequest) async throws -> (HTTPCache.Response, HTTPCache.Body) {
    let task = session.dataTask(with: request)
    let (transfer, body) = delegate.add(task)
    return try await withTaskCancellationHandler {
      try Task.checkCancellation()
      // After the transfer is in the table: the first callback must find it.
      task.resume()
      let response = try await transfer.response()
      return (HTTPCache.Response(response), body)
    } onCancel: {
      transfer.cancel()
    }
  }
}

extension SessionTransport {
  private struct Entry {
    weak var user: URLSession?
    let transport: SessionTransport
  }

  private static let all = Mutex<[ObjectIdentifier: Entry]>([:])

  /// The transport of a session: one for each, made with the first request that is sent. It lives
  /// until the session is gone and another session's transport is made.
  static func of(_ user: URLSession) -> SessionTransport {
    let (transport, unused) = all.withLock { all -> (SessionTransport, [Entry]) in
      if let entry = all[ObjectIdentifier(user)], entry.user === user {
        return (entry.transport, [])
      }
      let unused = all.values.filter { $0.user == nil }
      all = all.filter { $0.value.user != nil }
      let transport = SessionTransport(for: user)
      // An object's address can be that of an earlier session, so the entry's session is compared
      // above.
      all[ObjectIdentifier(user)] = Entry(user: user, transport: transport)
      return (transport, unused)
    }
    // Their deinit invalidates sessions, which must not happen under a lock.
    withExtendedLifetime(unused) {}
    return transport
  }

  /// Whether a session has a transport, for tests.
  static func isMade(for user: URLSession) -> Bool {
    all.withLock { $0[ObjectIdentifier(user)]?.user === user }
  }
}

// MARK: - The delegate

/// Dispatches the callbacks of the transport's session to the transfers of its tasks.
final class TransferDelegate: NSObject, URLSessionDataDelegate, Sendable {
  private struct Weak: Sendable {
    weak var session: URLSession?
  }

  private let transfers = Mutex<[Int: Transfer]>([:])
  /// The program's session, whose delegate is called for authentication. Weak: the transport must
  /// not keep it alive.
  private let user: Weak
  var userSession: URLSession? { user.session }

  init(_ user: URLSession) { self.user = Weak(session: user) }

  func add(_ task: URLSessionTask) -> (Transfer, HTTPCache.Body) {
    let (transfer, body) = Transfer.make(task)
    transfers.withLock { $0[task.taskIdentifier] = transfer }
    return (transfer, body)
  }

  /// Ends a task's transfer. Later callbacks of the task are ignored.
  func end(_ task: URLSessionTask, _ error: (any Error)?) {
    transfers.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.end(error)
  }

  private func transfer(_ task: URLSessionTask) -> Transfer? {
    transfers.withLock { $0[task.taskIdentifier] }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    transfer(dataTask)?.receive(response)
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    transfer(dataTask)?.receive(data)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    end(task, error)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    // Not followed here: `RedirectChain` follows redirects above the cache.
    completionHandler(nil)
  }
}

// MARK: - Transfers

extension HTTPCache {
  /// The maximum number of bytes of a 401's body that wait in memory while credentials are sought:
  /// 1 MiB. If none are found, reading a longer body throws `URLError(.dataLengthExceedsMaximum)`
  /// after these.
  public static let challengeBodyLimit = 1 << 20
}

/// One task of the transport's session, and its response: the head, then chunks, then the end.
///
/// There is no back-pressure on the server here, since URLSession offers none. A data task that is
/// suspended starts over when it is resumed, and off Apple's systems loses what was on its way. A
/// delegate that blocks holds up the session's other transfers, and off Apple's systems not even
/// the connection. So chunks that arrive faster than they are read wait in the queue: at most the
/// whole body, and nothing once the reader has left.
///
/// The body only ends without an error if it is complete, so that no half of one is stored. A
/// reader that was cancelled gets `CancellationError` from its queue, whatever comes later.
final class Transfer: Sendable {
  private struct State {
    var head: Result<HTTPURLResponse, any Error>?
    var waiter: CheckedContinuation<HTTPURLResponse, any Error>?
    /// The caller was cancelled, or has dropped the body.
    var isCancelled = false
    /// The body of a 401, while URLSession looks for credentials.
    var challenge: Challenge?
  }

  /// The body of a 401. If credentials are found, another response follows, and this one is
  /// dropped.
  private struct Challenge {
    private(set) var body: [Data] = []
    private var size = 0

    var isWhole: Bool { size <= HTTPCache.challengeBodyLimit }

    mutating func append(_ chunk: Data) {
      size += chunk.count
      if isWhole { body.append(chunk) }
    }
  }

  private let task: URLSessionTask
  private let body = ChunkQueue()
  private let state = Mutex(State())

  private init(_ task: URLSessionTask) { self.task = task }

  /// Makes a transfer and its body. The transfer is cancelled when the body can't be read any more:
  /// when its last copy is gone, or the task that reads it is cancelled.
  static func make(_ task: URLSessionTask) -> (Transfer, HTTPCache.Body) {
    let transfer = Transfer(task)
    // Weak: the queue holds the handler, and the transfer holds the queue.
    transfer.body.onCancellation { [weak transfer] in transfer?.drop() }
    return (transfer, HTTPCache.Body(reading: transfer.body))
  }

  /// Waits for the head of the response.
  func response() async throws -> HTTPURLResponse {
    try await withCheckedThrowingContinuation { continuation in
      let head = state.withLock { state in
        if state.head == nil { state.waiter = continuation }
        return state.head
      }
      if let head { continuation.resume(with: head) }
    }
  }

  /// Takes a head from URLSession. It is the response's, unless it is an interim one, or a 401 that
  /// may still be answered with credentials.
  func receive(_ response: URLResponse) {
    guard let response = response as? HTTPURLResponse else {
      return setHead(.failure(URLError(.badServerResponse)))
    }
    // Off Apple's systems interim responses are delivered like final ones, which follow them.
    guard Self.isFinal(response) else { return }
    // Off Apple's systems the head comes before the delegate is asked for credentials.
    let isChallenge = response.statusCode == 401
    state.withLock { $0.challenge = isChallenge ? Challenge() : nil }
    if !isChallenge { setHead(.success(response)) }
  }

  /// Takes a piece of the body. URLSession calls this on one queue, so the pieces stay in order.
  func receive(_ chunk: Data) {
    let isOfChallenge = state.withLock { state in
      // Not yet to the reader: with credentials another response follows, to which these bytes don't
      // belong.
      state.challenge?.append(chunk)
      return state.challenge != nil
    }
    if !isOfChallenge { body.put(chunk) }
  }

  /// Cancels a transfer whose body nobody reads. One without a body is left alone: it ends by
  /// itself, and its connection can be used again, unlike a cancelled one's.
  private func drop() {
    let head = state.withLock { state in
      state.isCancelled = true
      return state.head
    }
    if case .success(let response) = head, [204, 304].contains(response.statusCode) { return }
    // After the lock is released: URLSession may call the delegate, which acquires it.
    task.cancel()
  }

  /// Cancels the transfer for the caller that waits for its head.
  func cancel() {
    state.withLock { $0.isCancelled = true }
    setHead(.failure(CancellationError()))
    task.cancel()
  }

  /// Ends the body, with the error of the task if there is one. Called once, by
  /// ``TransferDelegate``.
  func end(_ error: (any Error)?) {
    if let error {
      // A cancelled reader may see the cancelled task's error before its own.
      let error = state.withLock { $0.isCancelled } ? CancellationError() : error
      setHead(.failure(error))
      body.finish(.failure(error))
    } else {
      // Off Apple's systems this is the only call with the head of a redirect without a target.
      if let response = task.response as? HTTPURLResponse, Self.isFinal(response) {
        setHead(.success(response))
      }
      setHead(.failure(URLError(.badServerResponse)))
      let challenge = state.withLock { $0.challenge }
      for chunk in challenge?.body ?? [] { body.put(chunk) }
      let isWhole = challenge?.isWhole ?? true
      body.finish(isWhole ? .success(()) : .failure(URLError(.dataLengthExceedsMaximum)))
    }
  }

  /// Whether a response is the last one to its request, and not an interim one (RFC 9110, 15.2);
  /// after 101 the protocol changes.
  private static func isFinal(_ response: HTTPURLResponse) -> Bool {
    response.statusCode >= 200 || response.statusCode == HTTPStatus.switchingProtocols
  }

  /// Sets the head and resumes the caller. Only the first call has an effect.
  private func setHead(_ head: Result<HTTPURLResponse, any Error>) {
    let waiter = state.withLock { state in
      guard state.head == nil else {
        return nil as CheckedContinuation<HTTPURLResponse, any Error>?
      }
      state.head = head
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(with: head)
  }
}
