import Foundation

/// The body of a transfer. It only ends without an error if it is complete, so that nobody stores half of one.
struct TransferChunks: AsyncSequence, Sendable {
  struct Iterator: AsyncIteratorProtocol {
    fileprivate let transfer: Transfer
    fileprivate var chunks: Transfer.Stream.Iterator

    mutating func next() async throws -> Data? {
      if let chunk = try await chunks.next() { return chunk }
      // A stream whose reader was cancelled ends as if it were complete.
      guard transfer.isComplete else { throw CancellationError() }
      return nil
    }
  }

  private let transfer: Transfer
  private let stream: Transfer.Stream

  init(_ transfer: Transfer, _ stream: Transfer.Stream) {
    self.transfer = transfer
    self.stream = stream
  }

  func makeAsyncIterator() -> Iterator {
    Iterator(transfer: transfer, chunks: stream.makeAsyncIterator())
  }
}
