public import Foundation
import Synchronization

extension HTTPCache {
  /// The bytes of a response: all at once, or chunk by chunk as they arrive.
  ///
  /// ```swift
  /// for try await chunk in reply.body { file.write(chunk) }
  /// let all = try await reply.body.data()
  /// ```
  ///
  /// Bytes from the server can be read once: a second reading throws
  /// ``HTTPCacheError/Code/bodyAlreadyRead``, whether the first one has ended or not. Stored ones
  /// can be read again.
  public struct Body: AsyncSequence, Sendable {
    /// One chunk, which is never empty.
    public typealias Element = Data

    private enum Source: Sendable {
      case data(Data)
      case chunks(@Sendable () -> Iterator.Next)
    }

    private let source: Source

    /// Makes a body of bytes in memory.
    public init(_ data: Data = Data()) { source = .data(data) }

    /// Makes a body that is read chunk by chunk, at the reader's pace.
    public init<Chunks: AsyncSequence & Sendable>(_ chunks: Chunks) where Chunks.Element == Data {
      source = .chunks {
        var iterator = chunks.makeAsyncIterator()
        return {
          if let chunk = try await iterator.next() { return chunk }
          // Some sequences end like complete ones when their task is cancelled.
          try Task.checkCancellation()
          return nil
        }
      }
    }

    /// Makes a body whose chunks a closure returns, until it returns nil.
    init(pulling next: @escaping @Sendable () async throws -> Data?) {
      source = .chunks { next }
    }

    private init(_ source: Source) { self.source = source }

    /// The same bytes, to be read once unless they are in memory.
    var once: Body {
      guard case .chunks(let begin) = source else { return self }
      let reading = Reading()
      return Body(.chunks { reading.begin() ? begin() : { throw HTTPCacheError.bodyAlreadyRead } })
    }

    /// Whether a body was read.
    private final class Reading: Sendable {
      private let hasBegun = Atomic(false)

      /// Whether it is the first reading that begins.
      func begin() -> Bool { !hasBegun.exchange(true, ordering: .relaxed) }
    }

    /// The bytes, if they are all in memory.
    public var bytes: Data? {
      guard case .data(let data) = source else { return nil }
      return data
    }

    /// Reads all bytes into memory.
    ///
    /// - Throws: What the source of the bytes throws; ``HTTPCacheError`` if they come from the
    ///   server and were read; `CancellationError` if the task is cancelled before all have come.
    public func data() async throws -> Data {
      if case .data(let data) = source { return data }
      var all = Data()
      for try await chunk in self { all.append(chunk) }
      return all
    }

    /// Starts reading.
    public func makeAsyncIterator() -> Iterator {
      switch source {
      case .data(let data):
        // No chunk for no bytes, as for a body that is received.
        var rest: Data? = data.isEmpty ? nil : data
        return Iterator {
          defer { rest = nil }
          return rest
        }
      case .chunks(let begin):
        return Iterator(begin())
      }
    }

    /// Reads a body chunk by chunk.
    public struct Iterator: AsyncIteratorProtocol {
      typealias Next = () async throws -> Data?

      private let read: Next

      init(_ read: @escaping Next) { self.read = read }

      /// The next chunk; nil at the end.
      ///
      /// - Throws: What the source of the bytes throws, for example when a connection breaks;
      ///   ``HTTPCacheError`` if they come from the server and were read; `CancellationError` if
      ///   the task is cancelled, rather than nil where more may have come.
      public mutating func next() async throws -> Data? {
        while let chunk = try await read() {
          if !chunk.isEmpty { return chunk }
        }
        return nil
      }
    }
  }
}

// MARK: - Chunks from one task to another

/// A queue of chunks between one writer and one reader, with back-pressure: a writer that is a task
/// is suspended while more than a limit of bytes wait. A writer that is a callback can't be
/// suspended, and uses ``put(_:)``. The queue frees a chunk when it is read, and all of them when
/// the reader is cancelled.
///
/// Invariant: at most one of `reader` and a non-empty `chunks` exists, so that a chunk never waits
/// while its reader does. Whoever resumes a continuation has removed it from the state under the
/// lock, so none is resumed twice. None is left either: the writer always calls `finish`, which
/// resumes the reader, and a reader that goes calls `cancel`, which resumes both. Continuations are
/// resumed after the lock is released, since resuming may run the other task's code.
final class ChunkQueue: Sendable {
  private struct State {
    var chunks: [Data] = []
    /// The index of the first unread chunk; those before it were replaced by empty ones, which
    /// frees their bytes.
    var head = 0
    var size = 0
    var end: Result<Void, any Error>?
    var isCancelled = false
    var onCancellation: (@Sendable () -> Void)?
    var reader: CheckedContinuation<Data?, any Error>?
    var writer: CheckedContinuation<Void, Never>?

    mutating func popFirst() -> Data? {
      guard head < chunks.count else { return nil }
      let chunk = chunks[head]
      chunks[head] = Data()
      head += 1
      size -= chunk.count
      // Amortized constant: at least as many chunks were read as are moved.
      if head * 2 >= chunks.count {
        chunks.removeFirst(head)
        head = 0
      }
      return chunk
    }
  }

  private let state = Mutex(State())
  private let limit: Int

  /// - Parameter limit: The number of bytes that may wait for the reader before the writer is
  ///   suspended. Has no effect on ``put(_:)``.
  init(limit: Int = .max) { self.limit = max(0, limit) }

  /// Appends a chunk, and returns when there is room for another one.
  ///
  /// - Returns: False if the reader was cancelled; the chunk is dropped then.
  func write(_ chunk: Data) async -> Bool {
    if put(chunk) { await waitForRoom() }
    return state.withLock { !$0.isCancelled }
  }

  /// Appends a chunk without waiting for room. It is dropped if the reader was cancelled or the
  /// queue has ended.
  ///
  /// - Returns: Whether more bytes wait than the limit.
  @discardableResult
  func put(_ chunk: Data) -> Bool {
    let (reader, isFull) = state.withLock { state in
      if let reader = state.reader {
        // Passed on directly: a chunk that somebody waits for takes no room.
        state.reader = nil
        return (Optional(reader), false)
      }
      guard !state.isCancelled, state.end == nil else { return (nil, false) }
      state.chunks.append(chunk)
      state.size += chunk.count
      return (nil, state.size > limit)
    }
    reader?.resume(returning: chunk)
    return isFull
  }

  private func waitForRoom() async {
    await withCheckedContinuation { continuation in
      let hasRoom = state.withLock { state in
        // Again: since `put` released the lock, the reader may have made room or left, and would
        // resume nobody.
        if state.size <= limit || state.isCancelled { return true }
        state.writer = continuation
        return false
      }
      if hasRoom { continuation.resume() }
    }
  }

  /// Ends the queue, with or without an error. Chunks that wait can still be read. Only the first
  /// call counts.
  func finish(_ end: Result<Void, any Error>) {
    let reader = state.withLock { state in
      state.end = state.end ?? end
      // The handler is released: it holds the result, and through it a connection.
      defer { (state.reader, state.onCancellation) = (nil, nil) }
      return state.reader
    }
    reader?.resume(with: end.map { nil })
  }

  /// The next chunk; nil at the end, and for all but one of several concurrent readers.
  func next() async throws -> Data? {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { wait($0) }
    } onCancel: {
      cancel()
    }
  }

  private func wait(_ continuation: CheckedContinuation<Data?, any Error>) {
    var writer: CheckedContinuation<Void, Never>?
    let found: Result<Data?, any Error>? = state.withLock { state in
      if let chunk = state.popFirst() {
        if state.size <= limit { swap(&writer, &state.writer) }
        return .success(chunk)
      }
      if state.isCancelled { return .failure(CancellationError()) }
      if let end = state.end { return end.map { nil } }
      guard state.reader == nil else { return .success(nil) }
      state.reader = continuation
      return nil
    }
    writer?.resume()
    if let found { continuation.resume(with: found) }
  }

  /// Records that nobody reads any more: drops the waiting chunks and all later ones, and resumes
  /// the writer.
  func cancel() {
    let (reader, writer, handler) = state.withLock { state in
      // Stays set: a writer that comes later is told, and drops its chunk.
      state.isCancelled = true
      (state.chunks, state.head, state.size) = ([], 0, 0)
      defer { (state.reader, state.writer, state.onCancellation) = (nil, nil, nil) }
      return (state.reader, state.writer, state.end == nil ? state.onCancellation : nil)
    }
    reader?.resume(throwing: CancellationError())
    writer?.resume()
    handler?()
  }

  /// Calls a closure once the reader is cancelled, unless the queue ends first.
  func onCancellation(_ handler: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state in
      if !state.isCancelled { state.onCancellation = handler }
      return state.isCancelled
    }
    if isOver { handler() }
  }

  /// Cancels the queue with its last reference: the body that holds it can't be read any more.
  final class Reader: Sendable {
    private let queue: ChunkQueue

    init(_ queue: ChunkQueue) { self.queue = queue }

    deinit { queue.cancel() }

    func next() async throws -> Data? { try await queue.next() }
  }
}

extension HTTPCache.Body {
  /// A body of the chunks of a queue, which is cancelled with the last copy of the body.
  init(reading queue: ChunkQueue) {
    let reader = ChunkQueue.Reader(queue)
    self.init(pulling: { try await reader.next() })
  }
}
