import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

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
