import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Sends requests for a cache through its own session, which delivers bodies chunk by chunk.
///
/// Off Apple's systems only a session's own delegate gets a body as it comes; tasks with a delegate or a completion
/// handler gather the whole of it in memory first.
final class SessionTransport: Sendable {
  /// The configuration of the session that the transport sends for.
  let configuration: URLSessionConfiguration
  private let session: URLSession
  private let delegate: TransferDelegate

  private init(for user: URLSession) {
    configuration = user.configuration
    delegate = TransferDelegate(user)
    session = URLSession(
      configuration: Self.configuration(like: user.configuration), delegate: delegate,
      delegateQueue: nil)
  }

  /// A configuration that adds nothing to requests: they already have all fields, so that what the cache saw is what is
  /// sent.
  private static func configuration(
    like user: URLSessionConfiguration
  ) -> URLSessionConfiguration {
    // Off Apple's systems a session hands out its own configuration, not a copy.
    let own = user.copy() as? URLSessionConfiguration ?? .ephemeral
    own.urlCache = nil
    own.requestCachePolicy = .useProtocolCachePolicy
    own.httpShouldSetCookies = false
    own.httpAdditionalHeaders = nil
    return own
  }

  // A session holds its delegate until it is invalidated.
  deinit { session.finishTasksAndInvalidate() }

  /// Sends a request, and returns when the head of the response has come. Redirects are responses.
  ///
  /// - Throws: `URLError`, or `CancellationError` if the task is cancelled. Reading the body does so, too.
  func send(_ request: URLRequest) async throws -> (HTTPCache.Response, HTTPCache.Body) {
    let task = session.dataTask(with: request)
    let (transfer, chunks) = delegate.add(task)
    return try await withTaskCancellationHandler {
      try Task.checkCancellation()
      task.resume()
      let response = try await transfer.response()
      return (HTTPCache.Response(response), HTTPCache.Body(chunks))
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

  /// The transport of a session, which lasts until the session is gone and another one's transport is made.
  static func of(_ user: URLSession) -> SessionTransport {
    let (transport, unused) = all.withLock { all -> (SessionTransport, [Entry]) in
      if let entry = all[ObjectIdentifier(user)], entry.user === user {
        return (entry.transport, [])
      }
      let unused = all.values.filter { $0.user == nil }
      all = all.filter { $0.value.user != nil }
      let transport = SessionTransport(for: user)
      all[ObjectIdentifier(user)] = Entry(user: user, transport: transport)
      return (transport, unused)
    }
    // They end their sessions, which must not happen under a lock.
    withExtendedLifetime(unused) {}
    return transport
  }
}
