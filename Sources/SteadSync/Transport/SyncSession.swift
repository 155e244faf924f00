import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Sends requests like another session does, caches nothing, and can be cancelled at any moment.
///
/// Off Apple's systems Foundation has three faults that are worked around here:
///
/// - It ends the program when a request is cancelled while its session looks into a `URLCache` (issue 3296 of
///   swift-corelibs-foundation), so there is none.
/// - `data(for:)` blocks for ever when a task is cancelled while its answer comes: the one holds the task's lock and
///   waits for the session's queue, the other waits the other way around. So requests are cancelled outside of that lock.
/// - When a connection that was used before breaks, a request with a body is sent again without it, and takes a whole
///   processor until its time is over. So each request with a body has a session, and a connection, of its own.
final class SyncSession: Sendable {
  private let session: URLSession
  private let isOwn: Bool

  init(_ user: URLSession) {
    isOwn = user.configuration.urlCache != nil
    session = isOwn ? Self.session(like: user) : user
  }

  /// A session without a cache, to be invalidated: a session holds its delegate until then.
  private static func session(like user: URLSession) -> URLSession {
    // Off Apple's systems a session hands out its own configuration, not a copy.
    let configuration = user.configuration.copy() as? URLSessionConfiguration ?? .ephemeral
    configuration.urlCache = nil
    return URLSession(
      configuration: configuration, delegate: user.delegate, delegateQueue: user.delegateQueue)
  }

  deinit { if isOwn { session.finishTasksAndInvalidate() } }

  /// Sends a request and returns its answer.
  ///
  /// - Throws: `URLError`, or `CancellationError` at once when the task is cancelled.
  func data(for request: URLRequest) async throws -> (Data, URLResponse) {
    try Task.checkCancellation()
    let answer = Answer()
    #if canImport(FoundationNetworking)
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
      answer.set(.failure(CancellationError()))
      DispatchQueue.global().async { task.cancel() }
    }
  }

  /// The answer to one request. The first that is set counts.
  private final class Answer: Sendable {
    typealias Value = (Data, URLResponse)

    private struct State {
      var result: Result<Value, any Error>?
      var waiter: CheckedContinuation<Value, any Error>?
    }

    private let state = Mutex(State())

    func set(_ result: Result<Value, any Error>) {
      let waiter = state.withLock { state -> CheckedContinuation<Value, any Error>? in
        guard state.result == nil else { return nil }
        state.result = result
        defer { state.waiter = nil }
        return state.waiter
      }
      waiter?.resume(with: result)
    }

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
