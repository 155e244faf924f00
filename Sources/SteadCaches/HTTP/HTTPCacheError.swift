public import Foundation

/// Why an HTTP cache has no response to give.
///
/// Errors of the closure that fetches are handed on as they are.
public struct HTTPCacheError: Error, Sendable {
  /// What went wrong, to compare with.
  public struct Code: Hashable, Sendable {
    private enum Name { case offline, notStored }
    private let name: Name
    private init(_ name: Name) { self.name = name }

    /// The cache is in offline mode and has no response for the request.
    public static let offline = Code(.offline)
    /// The mode `onlyStored` was asked for, and no response is stored for the request.
    public static let notStored = Code(.notStored)
  }

  /// What went wrong, to compare with.
  public var code: Code
  /// What went wrong and what to do about it.
  public var message: String

  init(_ code: Code, for request: HTTPCache.Request) {
    self.code = code
    let address = CacheKey(request.url)?.origin ?? request.url.scheme ?? ""
    message =
      code == .offline
      ? "No response of \(address) is stored for the request; set isOffline to false to fetch it."
      : "No response of \(address) is stored for the request; use the mode preferStored to fetch it."
  }
}

extension HTTPCacheError: CustomStringConvertible, LocalizedError {
  /// The message.
  public var description: String { message }
  /// The message.
  public var errorDescription: String? { message }
}
