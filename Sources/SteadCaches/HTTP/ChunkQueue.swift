import Foundation
import Synchronization

/// Hands chunks from one task to another, and holds the first up while too many bytes wait for the second.
final class ChunkQueue: Sendable {
  private struct State {
    var chunks: [Data] = []
    /// The position of the first chunk that was not read; those before it are empty.
    var head = 0
    var size = 0
    var end: Result<Void, any Error>?
    var isAbandoned = false
    var onAbandonment: (@Sendable () -> Void)?
    var reader: CheckedContinuation<Data?, any Error>?
    var writer: CheckedContinuation<Void, Never>?

    mutating func popFirst() -> Data? {
      guard head < chunks.count else { return nil }
      let chunk = chunks[head]
      chunks[head] = Data()
      head += 1
      size -= chunk.count
      // Moving the rest costs no more than the reads before did.
      if head * 2 >= chunks.count {
        chunks.removeFirst(head)
        head = 0
      }
      return chunk
    }
  }

  private let state = Mutex(State())
  private let limit: Int

  /// - Parameter limit: How many bytes may wait for the reader; with more, the writer waits, too.
  init(limit: Int) { self.limit = max(0, limit) }

  /// Adds a chunk, and returns when there is space for another one; false if nobody reads.
  func write(_ chunk: Data) async -> Bool {
    let (reader, isFull) = state.withLock { state in
      if let reader = state.reader {
        state.reader = nil
        return (Optional(reader), false)
      }
      guard !state.isAbandoned else { return (nil, false) }
      state.chunks.append(chunk)
      state.size += chunk.count
      return (nil, state.size > limit)
    }
    reader?.resume(returning: chunk)
    if isFull { await waitForRoom() }
    return state.withLock { !$0.isAbandoned }
  }

  private func waitForRoom() async {
    await withCheckedContinuation { continuation in
      let hasRoom = state.withLock { state in
        if state.size <= limit || state.isAbandoned { return true }
        state.writer = continuation
        return false
      }
      if hasRoom { continuation.resume() }
    }
  }

  /// Ends the chunks, or breaks them off.
  func finish(_ end: Result<Void, any Error>) {
    let reader = state.withLock { state in
      state.end = state.end ?? end
      defer { (state.reader, state.onAbandonment) = (nil, nil) }
      return state.reader
    }
    reader?.resume(with: end.map { nil })
  }

  /// The next chunk; nil at the end, and for all but one that read at the same time.
  func next() async throws -> Data? {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { wait($0) }
    } onCancel: {
      abandon()
    }
  }

  private func wait(_ continuation: CheckedContinuation<Data?, any Error>) {
    var writer: CheckedContinuation<Void, Never>?
    let found: Result<Data?, any Error>? = state.withLock { state in
      if let chunk = state.popFirst() {
        if state.size <= limit { swap(&writer, &state.writer) }
        return .success(chunk)
      }
      if state.isAbandoned { return .failure(CancellationError()) }
      if let end = state.end { return end.map { nil } }
      guard state.reader == nil else { return .success(nil) }
      state.reader = continuation
      return nil
    }
    writer?.resume()
    if let found { continuation.resume(with: found) }
  }

  /// Nobody reads any more: waiting chunks are dropped, and so are later ones.
  func abandon() {
    let (reader, writer, handler) = state.withLock { state in
      state.isAbandoned = true
      (state.chunks, state.head, state.size) = ([], 0, 0)
      defer { (state.reader, state.writer, state.onAbandonment) = (nil, nil, nil) }
      return (state.reader, state.writer, state.end == nil ? state.onAbandonment : nil)
    }
    reader?.resume(throwing: CancellationError())
    writer?.resume()
    handler?()
  }

  /// Calls a closure once nobody reads any more, unless the chunks end first.
  func onAbandonment(_ handler: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state in
      if !state.isAbandoned { state.onAbandonment = handler }
      return state.isAbandoned
    }
    if isOver { handler() }
  }

  /// What drops the queue's reader with its last reference.
  final class Reader: Sendable {
    private let queue: ChunkQueue

    init(_ queue: ChunkQueue) { self.queue = queue }

    deinit { queue.abandon() }

    func next() async throws -> Data? { try await queue.next() }
  }
}

extension HTTPCache.Body {
  /// A body of the chunks of a queue, which is abandoned when nobody can read the body any more.
  init(reading queue: ChunkQueue) {
    let reader = ChunkQueue.Reader(queue)
    self.init(pulling: { try await reader.next() })
  }
}
