/// The directives of a message's `Cache-Control` (RFC 9111, 5.2; RFC 5861; RFC 8246) that a private cache obeys.
///
/// Malformed directives make a response less fresh, never fresher. `s-maxage`, `proxy-revalidate` and `private` are for
/// shared caches, and so are `CDN-Cache-Control` and `Surrogate-Control`.
struct CacheControl: Sendable, Hashable {
  /// A longer time counts as this one, about 68 years (RFC 9111, 1.2.2).
  static let longest = 1 << 31

  /// In seconds; 0 if the value isn't a number. The smallest of several.
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
  /// Of requests, as the two below.
  var onlyIfCached = false
  var minFresh: Int?
  /// ``longest`` if any age is right.
  var maxStale: Int?

  /// Reads the directives of a message; a request may have the older `Pragma: no-cache` instead.
  init(of fields: HTTPCache.Fields, isRequest: Bool = false) {
    for value in fields.values(named: "Cache-Control") {
      for member in FieldScanner.members(of: value) { read(member) }
    }
    guard isRequest, !fields.contains("Cache-Control"), let pragma = fields["Pragma"] else {
      return
    }
    hasNoCache = FieldScanner.members(of: pragma).contains { $0.lowercasedASCII == "no-cache" }
  }

  /// Whether a response with these directives and a status may be stored (RFC 9111, 5.2.2.3 and 5.2.2.5).
  func mayStore(_ status: Int) -> Bool {
    mustUnderstand ? HTTPStatus.isUnderstood(status) : !hasNoStore
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

  private mutating func readNoCache(_ argument: String?) {
    let names = argument.map { FieldScanner.members(of: $0) } ?? []
    if names.isEmpty { hasNoCache = true }
    noCacheFields.formUnion(names.map(\.lowercasedASCII))
  }
}
