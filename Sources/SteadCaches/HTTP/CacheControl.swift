/// The directives of a message's `Cache-Control` (RFC 9111, 5.2; RFC 5861; RFC 8246) as a private or a shared cache
/// obeys them.
///
/// Malformed directives make a response less fresh, never fresher. `s-maxage`, `proxy-revalidate` and `private` only
/// count for shared caches. `CDN-Cache-Control` and `Surrogate-Control` count for no cache of this library.
struct CacheControl: Sendable, Hashable {
  /// A longer time counts as this one, about 68 years (RFC 9111, 1.2.2).
  static let longest = 1 << 31

  /// In seconds; 0 if the value isn't a number. The smallest of several. For a shared cache `s-maxage`, if it is there.
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
  /// Whether a shared cache may use the response for other requests although its own had `Authorization` (RFC 9111,
  /// 3.5).
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

  /// Whether a response with these directives and a status may be stored (RFC 9111, 5.2.2.3, 5.2.2.5 and 5.2.2.7).
  func mayStore(_ status: Int) -> Bool {
    !isPrivate && (mustUnderstand ? HTTPStatus.isUnderstood(status) : !hasNoStore)
  }

  /// Whether the server says that a shared cache may give the response to anybody.
  var isForAnybody: Bool { isPublic || sharedMaxAge != nil }

  /// What the directives for shared caches mean in terms of the others (RFC 9111, 5.2.2.7, 5.2.2.8 and 5.2.2.10).
  private mutating func applyToShared() {
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
    if names.isEmpty { hasNoCache = true }
    noCacheFields.formUnion(names.map(\.lowercasedASCII))
  }
}
