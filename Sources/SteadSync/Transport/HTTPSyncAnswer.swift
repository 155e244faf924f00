import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A server's answer to a request.
struct HTTPSyncAnswer {
  let data: Data
  let status: Int
  /// The pause that the server asks for, in seconds.
  private let pause: Double?

  init(_ data: Data, _ response: URLResponse) throws {
    guard let response = response as? HTTPURLResponse else {
      throw SyncError.unreachable(reason: "it does not speak HTTP")
    }
    self.data = data
    status = response.statusCode
    pause = response.value(forHTTPHeaderField: "Retry-After").flatMap { Double($0) }
  }

  var isSuccess: Bool { (200..<300).contains(status) }

  private struct Failure: Decodable { let message: String }

  /// The error of an answer that isn't one of the protocol.
  var problem: SyncError {
    var message = (try? JSONDecoder().decode(Failure.self, from: data))?.message
    // It becomes part of a sentence.
    if message?.hasSuffix(".") == true { message?.removeLast() }
    guard status >= 500 || status == 429 else {
      return .refused(status: status, reason: message ?? "it gave no reason")
    }
    let reason = message ?? "it answers with status \(status)"
    guard let pause, pause > 0, pause.isFinite else { return .unreachable(reason: reason) }
    return .busy(seconds: pause, reason: reason)
  }
}
