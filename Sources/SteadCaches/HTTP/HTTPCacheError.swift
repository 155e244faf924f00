public import Foundation

/// Why an HTTP cache has no response to give, or a response no body.
///
/// Errors of the closure that fetches are handed on as they are.
public struct HTTPCacheError: Error, Sendable {
  /// What went wrong, to compare with.
  public struct Code: Hashable, Sendable {
    private enum Name { case offline, notStored, bodyAlreadyRead }
    private let name: Name
    private init(_ name: Name) { self.name = name }

    /// The cache is in offline mode and has no response for the request.
    public static let offline = Code(.offline)
    /// The mode `onlyStored` was asked for, and no response is stored for the request.
    public static let notStored = Code(.notStored)
    /// A body that comes from the server was read a second time, which its bytes don't outlast.
    public static let bodyAlreadyRead = Code(.bodyAlreadyRead)
  }

  /// What went wrong, to compare with.
  public var code: Code
  /// What went wrong and what to do about it.
  public var message: String

  init(_ code: Code, for request: HTTPCache.Request) {
    let address = CacheKey(request.url)?.origin ?? request.url.scheme ?? ""
    let remedy =
      code == .offline ? "set isOffline to false" : "use the mode preferStored"
    self.init(
      code, "No response of \(address) is stored for the request; \(remedy) to fetch it.")
  }

  private init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  static let bodyAlreadyRead = HTTPCacheError(
    .bodyAlreadyRead,
    "The body was read before, and comes from the server once; keep what the first reading gave.")
}

extension HTTPCacheError: CustomStringConvertible, LocalizedError {
  /// The message.
  public var description: String { message }
  /// The message.
  public var errorDescription: String? { message }
}
