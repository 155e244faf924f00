import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What a server has answered to a request.
struct HTTPSyncAnswer {
  let data: Data
  let status: Int
  /// How long the server asks to be left alone, in seconds.
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

  /// What an answer that isn't one of the protocol says.
  var problem: SyncError {
    var message = (try? JSONDecoder().decode(Failure.self, from: data))?.message
    // It becomes a part of a sentence.
    if message?.hasSuffix(".") == true { message?.removeLast() }
    guard status >= 500 || status == 429 else {
      return .refused(status: status, reason: message ?? "no reason is given")
    }
    let reason = message ?? "it answers with status \(status)"
    guard let pause, pause > 0, pause.isFinite else { return .unreachable(reason: reason) }
    return .busy(seconds: pause, reason: reason)
  }
}
