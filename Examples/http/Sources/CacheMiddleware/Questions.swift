#if Server
  import Hummingbird
  import SteadCaches
  import Synchronization

  /// What a cache asks one call of the middleware, which alone can call the route.
  final class Questions: Sendable {
    typealias Answer = (HTTPCache.Response, HTTPCache.Body)

    /// A question that waits for its answer.
    struct Question: Sendable {
      let request: HTTPCache.Request
      let number: Int
      let questions: Questions

      func answer(_ result: Result<Answer, any Error>) {
        questions.take(number)?.resume(with: result)
      }
    }

    private struct State {
      var waiting: [Int: CheckedContinuation<Answer, any Error>] = [:]
      var count = 0
      var isOver = false
    }

    let all: AsyncStream<Question>
    private let continuation: AsyncStream<Question>.Continuation
    private let state = Mutex(State())

    init() { (all, continuation) = AsyncStream.makeStream() }

    /// Waits for the answer.
    ///
    /// - Throws: The route's error; `CancellationError` if nobody answers any more. By that the cache knows that the route
    ///   hasn't failed.
    func ask(_ request: HTTPCache.Request) async throws -> Answer {
      try await withCheckedThrowingContinuation { waiter in
        let number = state.withLock { state -> Int? in
          guard !state.isOver else { return nil }
          state.count += 1
          state.waiting[state.count] = waiter
          return state.count
        }
        guard let number else { return waiter.resume(throwing: CancellationError()) }
        continuation.yield(Question(request: request, number: number, questions: self))
      }
    }

    /// Ends the questions that wait, and all later ones.
    func end() {
      let waiting = state.withLock { state in
        state.isOver = true
        defer { state.waiting = [:] }
        return state.waiting.values
      }
      for waiter in waiting { waiter.resume(throwing: CancellationError()) }
      continuation.finish()
    }

    private func take(_ number: Int) -> CheckedContinuation<Answer, any Error>? {
      state.withLock { $0.waiting.removeValue(forKey: number) }
    }
  }
#endif
