import Foundation

/// The directives of a message's `Cache-Control` (RFC 9111, 5.2; RFC 5861; RFC 8246) as a private
/// or a shared cache obeys them.
///
/// Malformed directives make a response less fresh, never fresher. `s-maxage`, `proxy-revalidate`
/// and `private` only count for shared caches. `CDN-Cache-Control` and `Surrogate-Control` count
/// for no cache of this library.
struct CacheControl: Sendable, Hashable {
  /// A longer time counts as this one, about 68 years (RFC 9111, 1.2.2).
  static let longest = 1 << 31

  /// In seconds; 0 if the value isn't a number. The smallest of several. For a shared cache
  /// `s-maxage`, if it is there.
  var maxAge: Int?
  /// Without names of fields.
  var hasNoCache = false
  /// The fields that may not be reused without asking the server.
  var noCacheFields: Set<String> = []
  var hasNoStore = false
  var isPublic = false
  var mustRevalidate = false
  var mustUnderstand = false
  var isImmutable = false
  var staleWhileRevalidate: Int?
  var staleIfError: Int?
  /// Whether a shared cache may use the response for other requests although its own had
  /// `Authorization` (RFC 9111, 3.5).
  private(set) var isForAllAccounts = false
  /// Whether no cache that others share may store the response.
  private(set) var isPrivate = false
  private var privateFields: Set<String> = []
  private var sharedMaxAge: Int?
  private var proxyRevalidate = false
  /// Of requests, as the two below.
  var onlyIfCached = false
  var minFresh: Int?
  /// ``longest`` if any age is right.
  var maxStale: Int?

  /// Reads the directives of a message; a request may have the older `Pragma: no-cache` instead.
  ///
  /// - Parameter isShared: Whether a shared cache reads them.
  init(of fields: HTTPCache.Fields, isRequest: Bool = false, isShared: Bool = false) {
    for value in fields.values(named: "Cache-Control") {
      for member in FieldScanner.members(of: value) { read(member) }
    }
    if isShared {
      applyToShared()
    } else {
      (isPrivate, privateFields, sharedMaxAge, proxyRevalidate) = (false, [], nil, false)
    }
    guard isRequest, !fields.contains("Cache-Control"), let pragma = fields["Pragma"] else {
      return
    }
    hasNoCache = FieldScanner.members(of: pragma).contains { $0.lowercasedASCII == "no-cache" }
  }

  /// Whether a response with these directives and a status may be stored (RFC 9111, 5.2.2.3,
  /// 5.2.2.5 and 5.2.2.7).
  func mayStore(_ status: Int) -> Bool {
    !isPrivate && (mustUnderstand ? HTTPStatus.isUnderstood(status) : !hasNoStore)
  }

  /// Whether the server says that a shared cache may give the response to anybody.
  var isForAnybody: Bool { isPublic || sharedMaxAge != nil }

  /// What the directives for shared caches mean in terms of the others (RFC 9111, 5.2.2.7, 5.2.2.8
  /// and 5.2.2.10).
  private mutating func applyToShared() {
    // Before `mustRevalidate` is changed: `proxy-revalidate` doesn't permit this.
    isForAllAccounts = isForAnybody || mustRevalidate
    maxAge = sharedMaxAge ?? maxAge
    mustRevalidate = mustRevalidate || proxyRevalidate || sharedMaxAge != nil
    noCacheFields.formUnion(privateFields)
  }

  private mutating func read(_ member: String) {
    var scanner = FieldScanner(member)
    let name = scanner.token()
    let isSpaced = scanner.skipWhitespace()
    var argument: String?
    if scanner.skip("=") {
      // Whitespace around the sign is malformed: the argument isn't a number then.
      argument = isSpaced ? "" : scanner.quotedString() ?? scanner.rest()
      if !scanner.isAtEnd { argument = "" }
    }
    apply(name, argument)
  }

  private mutating func apply(_ name: String, _ argument: String?) {
    let seconds = argument?.decimalDigits.map { min($0, Self.longest) }
    switch name {
    // Of several the smallest counts, and what is malformed is 0: less fresh, never fresher.
    case "max-age": maxAge = min(maxAge ?? .max, seconds ?? 0)
    case "no-cache": readNoCache(argument)
    case "no-store": hasNoStore = true
    case "private": readPrivate(argument)
    case "s-maxage": sharedMaxAge = min(sharedMaxAge ?? .max, seconds ?? 0)
    case "proxy-revalidate": proxyRevalidate = true
    case "public": isPublic = true
    case "must-revalidate": mustRevalidate = true
    case "must-understand": mustUnderstand = true
    case "immutable": isImmutable = true
    case "stale-while-revalidate":
      staleWhileRevalidate = min(staleWhileRevalidate ?? .max, seconds ?? 0)
    case "stale-if-error": staleIfError = min(staleIfError ?? .max, seconds ?? 0)
    case "only-if-cached": onlyIfCached = true
    // In a request stricter is larger.
    case "min-fresh": minFresh = max(minFresh ?? 0, seconds ?? Self.longest)
    case "max-stale":
      maxStale = min(maxStale ?? .max, argument == nil ? Self.longest : seconds ?? 0)
    default: break
    }
  }

  private mutating func readPrivate(_ argument: String?) {
    let names = argument.map { FieldScanner.members(of: $0) } ?? []
    if names.isEmpty { isPrivate = true }
    privateFields.formUnion(names.map(\.lowercasedASCII))
  }

  private mutating func readNoCache(_ argument: String?) {
    let names = argument.map { FieldScanner.members(of: $0) } ?? []
    // With names of fields only these are meant (RFC 9111, 5.2.2.4).
    if names.isEmpty { hasNoCache = true }
    noCacheFields.formUnion(names.map(\.lowercasedASCII))
  }
}

// MARK: - Status codes

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

  /// Whether this cache knows what a status requires of caches (`must-understand`, RFC 9111,
  /// 5.2.2.3).
  static func isUnderstood(_ status: Int) -> Bool { understood.contains(status) }

  /// Whether a response reports a failure of the server, so that `stale-if-error` applies (RFC
  /// 5861, 4).
  static func isServerFailure(_ status: Int) -> Bool { serverFailures.contains(status) }

  /// Whether a response ends its request: neither interim nor out of range.
  static func isFinal(_ status: Int) -> Bool { (200...599).contains(status) }

  /// Whether a request changed its target, as far as a cache can tell.
  static func isSuccess(_ status: Int) -> Bool { (200...399).contains(status) }
}
