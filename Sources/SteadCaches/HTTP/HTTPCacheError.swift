public import Foundation

/// Why an HTTP cache has no response to return, or a response has no body.
///
/// Errors of the closure that fetches are passed on unchanged.
public struct HTTPCacheError: Error, Sendable {
  /// The kind of failure, to compare with.
  public struct Code: Hashable, Sendable {
    private enum Name { case offline, notStored, bodyAlreadyRead }
    private let name: Name
    private init(_ name: Name) { self.name = name }

    /// The cache is in offline mode and has no response for the request.
    public static let offline = Code(.offline)
    /// The mode `onlyStored` was requested, and no response is stored for the request.
    public static let notStored = Code(.notStored)
    /// A body that comes from the server was read a second time, when its bytes were gone.
    public static let bodyAlreadyRead = Code(.bodyAlreadyRead)
  }

  /// The kind of failure, to compare with.
  public var code: Code
  /// What went wrong, and the remedy.
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
    "The body was already read, and the server sends it once; keep the bytes of the first reading.")
}

extension HTTPCacheError: CustomStringConvertible, LocalizedError {
  /// The message.
  public var description: String { message }
  /// The message.
  public var errorDescription: String? { message }
}
