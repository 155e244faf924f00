#if Server
  import CacheMiddleware
  import HTTPTypes
  import Hummingbird
  import SteadCaches
  import Synchronization
  import Testing

  /// Requests whose clients leave, and the others that depend on them.
  @Suite(.timeLimit(.minutes(1))) struct CancellationTests {
    private struct Broken: Error {}

    /// What a route does once its request is cancelled.
    private enum Reaction: CaseIterable {
      case none, throwsCancellation, throwsError, fails
    }

    /// What is stored when the requests come.
    private static let controls = [
      "no-store", "max-age=0, stale-while-revalidate=100", "max-age=0, stale-if-error=100",
      "max-age=0, stale-while-revalidate=100, stale-if-error=100", "max-age=0",
    ]

    /// More steps than a request usually takes.
    private static let stepLimit = 25

    /// A task that is cancelled from elsewhere, perhaps before it is known.
    private final class Cancellation: Sendable {
      private let state = Mutex<(task: Task<Void, Never>?, isOver: Bool)>((nil, false))

      func cancel() {
        state.withLock { state in
          state.isOver = true
          state.task?.cancel()
        }
      }

      func follow(_ task: Task<Void, Never>) {
        state.withLock { state in
          state.task = task
          if state.isOver { task.cancel() }
        }
      }
    }

    // A request that was cancelled before the revalidation of its stale response had asked hung for ever, and with it each
    // later one that hit any stale response. One that was cancelled when another waited for its answer gave that an error, or
    // the stale response as if the server had failed.
    @Test(arguments: controls)
    func `a request that is cancelled at any step ends, and disturbs no other`(
      control: String
    ) async throws {
      for reaction in Reaction.allCases {
        for hasTag in [false, true] {
          // How many steps there are depends on which of the requests is the first.
          var last = 0
          for step in 1...Self.stepLimit {
            if try await run(control, reaction, hasTag, cancelledBefore: step) { last = step }
          }
          #expect(last > 2)
        }
      }
    }

    /// - Returns: Whether there was such a step.
    private func run(
      _ control: String, _ reaction: Reaction, _ hasTag: Bool, cancelledBefore step: Int
    ) async throws -> Bool {
      let middleware = Middleware()
      _ = try await middleware.answer("/") { _ in
        Response("old", control, hasTag ? [.eTag: "\"1\""] : [:])
      }.text
      let route: Middleware.Route = { request in
        for _ in 0..<3 {
          await Task.yield()
          guard Task.isCancelled else { continue }
          switch reaction {
          case .none: break
          case .throwsCancellation: throw CancellationError()
          case .throwsError: throw Broken()
          case .fails: return Response("cancelled", "no-store", status: .serviceUnavailable)
          }
        }
        // The confirmation of another version: the cache asks once more.
        if request.headers[.ifNoneMatch] != nil {
          return Response("", control, [.eTag: "\"2\""], status: .notModified)
        }
        return Response("new", control)
      }
      let cancellation = Cancellation()
      let executor = StepExecutor(before: step) { cancellation.cancel() }
      let cancelled = Task(executorPreference: executor) {
        _ = try? await middleware.answer("/", route)
      }
      cancellation.follow(cancelled)
      for _ in 0..<(step % 4) * 4 { await Task.yield() }
      let others = (0..<2).map { _ in
        Task { try await middleware.answer("/", route).text }
      }
      await cancelled.value
      let mayBeOld = control.contains("stale-while-revalidate")
      for other in others {
        let text = try await other.value
        #expect(text == "new" || mayBeOld && text == "old", "\(control), \(reaction), step \(step)")
      }
      await middleware.cache.finishRevalidations()
      let last = try await middleware.answer("/", route).text
      #expect(last == "new" || mayBeOld && last == "old")
      return executor.isReached
    }

    // It waited for the revalidations of all URLs.
    @Test func `a stale response does not wait for the revalidation of another one`() async throws {
      let middleware = Middleware()
      let control = "max-age=0, stale-while-revalidate=100"
      for path in ["/slow", "/fast"] {
        _ = try await middleware.answer(path) { _ in Response("old", control) }.text
      }
      let (asked, asking) = AsyncStream.makeStream(of: Void.self)
      let (gate, opening) = AsyncStream.makeStream(of: Void.self)
      let slow = Task {
        try await middleware.answer("/slow") { _ in
          asking.finish()
          for await _ in gate {}
          return Response("new", control)
        }.text
      }
      for await _ in asked {}
      let fast = try await middleware.answer("/fast") { _ in Response("new", control) }
      #expect(try await fast.text == "old")
      opening.finish()
      #expect(try await slow.value == "old")
    }

    /// The route has answered; its body is stored once it has come, and nobody waits for it.
    @Test func `a stale response does not wait for a body without an end`() async throws {
      let middleware = Middleware()
      let control = "max-age=0, stale-while-revalidate=100"
      _ = try await middleware.answer("/") { _ in Response("old", control) }.text
      let (gate, opening) = AsyncStream.makeStream(of: Void.self)
      let stale = try await middleware.answer("/") { _ in
        Response(
          status: .ok, headers: [.cacheControl: control],
          body: ResponseBody { writer in
            try await writer.write(ByteBuffer(string: "new"))
            for await _ in gate {}
            try await writer.finish(nil)
          })
      }
      #expect(try await stale.text == "old")
      opening.finish()
      await middleware.cache.finishRevalidations()
      let next = try await middleware.answer("/") { _ in Response("newest", control) }
      #expect(try await next.text == "new")
    }

    /// A route that is not cancelled and throws this error has failed like any other.
    @Test func `an error of cancellation that a route throws by itself is called for once`() async {
      let calls = Atomic(0)
      await #expect(throws: CancellationError.self) {
        try await Middleware().answer("/") { _ in
          calls.wrappingAdd(1, ordering: .relaxed)
          throw CancellationError()
        }
      }
      #expect(calls.load(ordering: .relaxed) == 1)
    }
  }
#endif
