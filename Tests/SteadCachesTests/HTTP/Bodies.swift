import Synchronization

@testable import SteadCaches

/// A server each of whose bodies the test sends on its own, in order.
final class Bodies: Sendable {
  private let sent = Mutex<[Chunks]>([])

  var count: Int { sent.withLock { $0.count } }
  subscript(number: Int) -> Chunks { sent.withLock { $0[number] } }

  func origin(status: Int = 200, _ fields: HTTPCache.Fields) -> Origin {
    Origin { _ in (HTTPCache.Response(status: status, fields: fields), self.begin()) }
  }

  /// A new body.
  func begin() -> HTTPCache.Body {
    let chunks = Chunks()
    sent.withLock { $0.append(chunks) }
    return chunks.body
  }

  func wait(for count: Int) async { while self.count < count { await Task.yield() } }
}

/// Lets tasks that were made before go as far as they can.
func letOthersRun() async {
  for _ in 0..<3_000 { await Task.yield() }
}
