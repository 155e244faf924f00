internal import SteadSyncProtocol
import Synchronization

/// Reads pages of a zone ahead of the zone that applies them.
///
/// It asks for each page as soon as the one before has come. So the server and the network work while pages are
/// applied, and all pages that have come meanwhile can be applied in one transaction. At most ``readAheadLimit``
/// answers wait: beyond that it stops asking until they are taken (back-pressure).
actor PageReader {
  /// The maximum number of answers that wait to be applied, each with a page of at most 1 MB of values.
  static let readAheadLimit = 4

  /// An answer, with the times of the exchange by the device's clock.
  struct Answer: Sendable {
    let request: ChangesRequest
    let answer: ChangesAnswer
    /// When the request was sent, in milliseconds since 1970.
    let sent: Int64
    /// When the answer came.
    let received: Int64

    /// The page in the answer; nil if the answer is something else.
    var page: Page? {
      guard case .page(let page) = answer else { return nil }
      return page
    }

    /// The request for the next page; nil at the head, and after an answer that isn't a page.
    var next: ChangesRequest? {
      guard let page, page.more else { return nil }
      // A guess at the zone's next request. If the zone asks for something else, the answer is
      // dropped.
      var next = request
      next.cursor = page.cursor
      return next
    }
  }

  /// The answers that have come and are yet to be applied.
  private var queue: [Answer] = []
  /// How reading has ended; nil while it goes on. Reported only after the queue is empty.
  private var outcome: Result<Void, any Error>?
  /// Signalled when an answer has come, and at the end.
  private let hasAnswers = Signal()
  /// Signalled when the queue was taken.
  private let hasRoom = Signal()

  /// Calls a body with the answers to a request and the following ones, those at once that wait. Ends after the head,
  /// after an answer that isn't a page, and when the body returns false.
  ///
  /// - Parameter now: The device's time in milliseconds since 1970.
  /// - Throws: What the transport and the body throw. The body has had all earlier answers.
  static func read(
    _ request: ChangesRequest, of zone: ZoneID, _ transport: any SyncTransport,
    now: @escaping @Sendable () -> Int64, isolation: isolated (any Actor)? = #isolation,
    _ body: ([Answer]) async throws -> Bool
  ) async throws {
    let reader = PageReader()
    // Detached, so that it doesn't run on the caller's actor, which is busy with applying.
    let task = Task.detached { await reader.run(request, of: zone, transport, now) }
    // Also if the body throws or wants no more pages.
    defer { task.cancel() }
    while true {
      let answers = try await reader.next()
      if answers.isEmpty { return }
      guard try await body(answers) else { return }
    }
  }

  /// Asks for pages until there are no more, and waits while the queue is full.
  ///
  /// Invariant: `outcome` is set after the last answer was queued, and ``next()`` reports it only with an empty
  /// queue. So an error loses no page that came before it.
  private func run(
    _ first: ChangesRequest, of zone: ZoneID, _ transport: any SyncTransport, _ now: () -> Int64
  ) async {
    var next: ChangesRequest? = first
    do {
      while let request = next {
        try Task.checkCancellation()
        let sent = now()
        let answer = Answer(
          request: request, answer: try await transport.changes(request, of: zone), sent: sent,
          received: now())
        queue.append(answer)
        hasAnswers.set()
        next = answer.next
        // A loop, since a signal may be left from an earlier round.
        while queue.count >= Self.readAheadLimit, !Task.isCancelled { await hasRoom.wait() }
      }
      outcome = .success(())
    } catch {
      outcome = .failure(error)
    }
    hasAnswers.set()
  }

  /// The answers that wait, at least one; none at the end.
  private func next() async throws -> [Answer] {
    while queue.isEmpty, outcome == nil {
      await hasAnswers.wait()
      try Task.checkCancellation()
    }
    if queue.isEmpty { try outcome?.get() }
    defer {
      queue = []
      hasRoom.set()
    }
    return queue
  }
}

// MARK: - Signals

/// Wakes one task. A signal without a waiting task is kept; several count as one.
final class Signal: Sendable {
  private struct State {
    var isSet = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  /// Wakes the task that waits, or the next one that will.
  func set() {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      defer { state.waiter = nil }
      state.isSet = state.waiter == nil
      return state.waiter
    }
    waiter?.resume()
  }

  /// Returns at the next signal, or at once if one was kept, or when the task is cancelled. Only one task may wait.
  func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isSet = state.withLock { state -> Bool in
          // Checked under the lock: the handler may have run before there was a waiter to resume.
          if state.isSet || Task.isCancelled {
            state.isSet = false
            return true
          }
          state.waiter = continuation
          return false
        }
        // Outside the lock: resuming may run the task on this thread.
        if isSet { continuation.resume() }
      }
    } onCancel: {
      set()
    }
  }
}
