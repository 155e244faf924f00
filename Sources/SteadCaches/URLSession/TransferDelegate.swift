import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Hands what a session receives to the transfer that it belongs to.
final class TransferDelegate: NSObject, URLSessionDataDelegate, Sendable {
  private struct Weak: Sendable {
    weak var session: URLSession?
  }

  private let transfers = Mutex<[Int: Transfer]>([:])
  /// The session whose delegate can authenticate.
  private let user: Weak
  var userSession: URLSession? { user.session }

  init(_ user: URLSession) { self.user = Weak(session: user) }

  func add(_ task: URLSessionTask) -> (Transfer, TransferChunks) {
    let (transfer, chunks) = Transfer.make(task)
    transfers.withLock { $0[task.taskIdentifier] = transfer }
    return (transfer, chunks)
  }

  /// Ends a task's transfer; what the task does later is of no consequence.
  func end(_ task: URLSessionTask, _ error: (any Error)?) {
    transfers.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.end(error)
  }

  private func transfer(_ task: URLSessionTask) -> Transfer? {
    transfers.withLock { $0[task.taskIdentifier] }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    transfer(dataTask)?.receive(response)
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    transfer(dataTask)?.receive(data)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    end(task, error)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    // Each response of a chain is looked for in the cache, so the chain is followed above it.
    completionHandler(nil)
  }
}
