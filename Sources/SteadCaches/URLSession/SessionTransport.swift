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
