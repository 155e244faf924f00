#if Server
  import AsyncAlgorithms
  import Foundation
  import HTTPTypes
  import Hummingbird

  /// The chunks that a route's body writes, at the reader's pace.
  struct BodyChunks: AsyncSequence, Sendable {
    private let body: ResponseBody

    init(_ body: ResponseBody) { self.body = body }

    func makeAsyncIterator() -> Iterator { Iterator(body) }

    struct Iterator: AsyncIteratorProtocol {
      private var chunks: AsyncThrowingChannel<Data, any Error>.Iterator
      private let writing: Writing

      init(_ body: ResponseBody) {
        let channel = AsyncThrowingChannel<Data, any Error>()
        chunks = channel.makeAsyncIterator()
        writing = Writing(
          Task {
            do {
              try await body.write(Writer(channel: channel))
              channel.finish()
            } catch {
              channel.fail(error)
            }
          })
      }

      mutating func next() async throws -> Data? { try await chunks.next() }
    }

    /// Ends the writing when nobody reads any more.
    private final class Writing: Sendable {
      private let task: Task<Void, Never>
      init(_ task: Task<Void, Never>) { self.task = task }
      deinit { task.cancel() }
    }

    private struct Writer: ResponseBodyWriter {
      let channel: AsyncThrowingChannel<Data, any Error>

      mutating func write(_ buffer: ByteBuffer) async throws {
        await channel.send(Data(buffer.readableBytesView))
        try Task.checkCancellation()
      }

      // Trailers are lost: a cache stores none.
      consuming func finish(_ trailers: HTTPFields?) async throws {}
    }
  }
#endif
