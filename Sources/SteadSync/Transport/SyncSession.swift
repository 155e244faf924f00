import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

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
