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
  /// Bytes from the server can be read once: a second reading throws ``HTTPCacheError/Code/bodyAlreadyRead``, whether
  /// the first one has ended or not. Stored ones can be read again.
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
    /// - Throws: What the source of the bytes throws; ``HTTPCacheError`` if they come from the server and were read;
    ///   `CancellationError` if the task is cancelled before all have come.
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
      /// - Throws: What the source of the bytes throws, for example when a connection breaks; ``HTTPCacheError`` if
      ///   they come from the server and were read; `CancellationError` if the task is cancelled, rather than nil
      ///   where more may have come.
      public mutating func next() async throws -> Data? {
        while let chunk = try await read() {
          if !chunk.isEmpty { return chunk }
        }
        return nil
      }
    }
  }
}
