/// What status codes mean for a cache (RFC 9110, 15).
enum HTTPStatus {
  static let switchingProtocols = 101
  static let noContent = 204
  static let partialContent = 206
  static let notModified = 304
  static let rangeNotSatisfiable = 416
  static let gatewayTimeout = 504

  private static let heuristicallyCacheable: Set<Int> = [
    200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501,
  ]
  private static let understood: Set<Int> = [
    200, 203, 204, 206, 300, 301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 406, 410, 414, 421,
    451, 500, 501,
    502, 503, 504,
  ]
  private static let serverFailures: Set<Int> = [500, 502, 503, 504]

  /// Whether a response without an explicit lifetime may be fresh for a while.
  static func isHeuristicallyCacheable(_ status: Int) -> Bool {
    heuristicallyCacheable.contains(status)
  }

  /// Whether this cache knows what a status requires of caches (`must-understand`, RFC 9111, 5.2.2.3).
  static func isUnderstood(_ status: Int) -> Bool { understood.contains(status) }

  /// Whether a response reports a failure of the server, so that `stale-if-error` applies (RFC 5861, 4).
  static func isServerFailure(_ status: Int) -> Bool { serverFailures.contains(status) }

  /// Whether a response ends its request: neither interim nor out of range.
  static func isFinal(_ status: Int) -> Bool { (200...599).contains(status) }

  /// Whether a request changed its target, as far as a cache can tell.
  static func isSuccess(_ status: Int) -> Bool { (200...399).contains(status) }
}
