import Foundation
import SteadEncoding
import SteadFiles

/// The primary cache key (RFC 9111, 2): a URL without its fragment, normalized. The method isn't
/// part of it, since only responses to GET are stored.
///
/// Scheme and host are in lower case, the scheme's default port is left out, and an empty path is a
/// slash. The query is kept as it is, without the parameters that don't count.
struct CacheKey: Sendable, Hashable {
  let string: String
  /// Scheme, host and port.
  let origin: String
  /// The host in lower case.
  let host: String

  /// Makes a URL's key; nil for another scheme than `http` and `https`.
  ///
  /// - Parameter ignored: The decoded names of query parameters that are left out.
  init?(_ url: URL, ignoring ignored: Set<String> = []) {
    // From the bytes as they were written: two spellings of a path or a query may be two resources.
    let absolute = url.absoluteString
    let bytes = Array(absolute.utf8)
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
      bytes[colon...].starts(with: "://".utf8)
    else {
      return nil
    }
    let scheme = String(decoding: bytes[..<colon].map(\.lowercasedASCII), as: UTF8.self)
    guard let port = ["http": ":80", "https": ":443"][scheme] else { return nil }
    let rest = bytes[(colon + 3)...]
    let end = rest.firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
    // A name and a password aren't part of the origin, but they are part of the key.
    // The last `@`, since a password may have one that isn't encoded.
    let at = rest[..<end].lastIndex(of: UInt8(ascii: "@"))
    let user = rest[..<(at.map { $0 + 1 } ?? rest.startIndex)]
    var authority = String(
      decoding: rest[(at.map { $0 + 1 } ?? rest.startIndex)..<end].map(\.lowercasedASCII),
      as: UTF8.self)
    if authority.hasSuffix(port) { authority.removeLast(port.utf8.count) }
    guard !authority.isEmpty else { return nil }
    let tail = Self.tail(rest[end...].prefix { $0 != UInt8(ascii: "#") }, without: ignored)
    let slash = tail.first == UInt8(ascii: "/") ? "" : "/"
    origin = "\(scheme)://\(authority)"
    string =
      "\(scheme)://\(String(decoding: user, as: UTF8.self))\(authority)\(slash)\(String(decoding: tail, as: UTF8.self))"
    host = Self.host(of: authority)
  }

  /// The key that a string is.
  init?(_ string: String) {
    guard let url = URL(string: string) else { return nil }
    self.init(url)
  }

  // The origin and the host follow from the string.
  static func == (one: CacheKey, other: CacheKey) -> Bool { one.string == other.string }
  func hash(into hasher: inout Hasher) { hasher.combine(string) }

  /// Path and query without some parameters.
  private static func tail(_ tail: ArraySlice<UInt8>, without ignored: Set<String>)
    -> ArraySlice<UInt8>
  {
    guard !ignored.isEmpty, let mark = tail.firstIndex(of: UInt8(ascii: "?")) else { return tail }
    let all = tail[(mark + 1)...].split(
      separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
    let kept = all.filter { !ignored.contains(name(of: $0)) }
    // Unchanged if nothing was removed, also an empty query.
    guard kept.count < all.count else { return tail }
    // In the order of the URL: another order may be another resource.
    return tail[..<mark]
      + (kept.isEmpty ? [] : [UInt8(ascii: "?")] + kept.joined(separator: "&".utf8))
  }

  /// The decoded name of a query's parameter.
  private static func name(of parameter: ArraySlice<UInt8>) -> String {
    let name = String(decoding: parameter.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
    return name.replacing("+", with: " ").removingPercentEncoding ?? name
  }

  private static func host(of authority: String) -> String {
    if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
      return String(authority[authority.index(after: authority.startIndex)..<end])
    }
    return String(authority.prefix { $0 != ":" })
  }
}

// MARK: - Vary

/// The secondary cache key: the request's fields that the response's `Vary` names (RFC 9111, 4.1).
///
/// In a private cache `Authorization` always belongs to it, named by `Vary` or not: what one
/// account was sent is never used for another. A shared cache only stores what is for all accounts.
/// A `Host` that isn't the URL's always belongs to it, too. Values of fields that carry secrets are
/// stored as SHA-256 digests.
struct VaryKey: Sendable, Hashable {
  /// Names in lower case, in order, and normalized values; nil for a field that the request did not
  /// have.
  private(set) var values: [String: String?]
  /// The response's `Content-Language`, in lower case.
  let language: String?

  private static let acceptLanguage = "accept-language"
  private static let hostName = "host"
  private static let secrets: Set<String> = ["authorization", "cookie", "proxy-authorization"]

  /// Makes the key of a response; nil if its `Vary` has a `*`, since no later request can match
  /// then.
  init?(of request: HTTPCache.Request, for response: HTTPCache.Fields, isShared: Bool = false) {
    let names = response.values(named: "Vary").flatMap { FieldScanner.members(of: $0) }
    // The star may be beside names, and stands for what isn't in the request (RFC 9110, 12.5.5).
    guard !names.contains("*") else { return nil }
    var values: [String: String?] = [:]
    // Also nil, for a field that the request didn't have: a request that has it must not match.
    for name in names.map(\.lowercasedASCII) + (isShared ? [] : ["authorization"]) {
      values[name] = .some(Self.value(of: name, in: request))
    }
    if let host = Self.otherHost(of: request) { values[Self.hostName] = host }
    self.init(values: values, language: response["Content-Language"]?.lowercasedASCII)
  }

  init(values: [String: String?], language: String?) {
    self.values = values
    self.language = language
  }

  /// Whether the response may answer a request.
  func matches(_ request: HTTPCache.Request) -> Bool {
    // A stored response without a `Host` of its own must not answer a request with one.
    (values[Self.hostName] ?? nil) == Self.otherHost(of: request)
      && values.allSatisfy { name, stored in
        Self.value(of: name, in: request) == stored
          || name == Self.acceptLanguage && isPreferred(by: request.fields[name])
      }
  }

  /// Whether the response is in the one language that an `Accept-Language` likes best.
  private func isPreferred(by value: String?) -> Bool {
    guard let language, let value else { return false }
    let preferences = Self.preferences(in: value)
    guard let first = preferences.first, first.name == language, first.quality > 0 else {
      return false
    }
    return preferences.dropFirst().allSatisfy { $0.quality < first.quality }
  }

  /// The `Host` of a request, if it isn't the URL's.
  private static func otherHost(of request: HTTPCache.Request) -> String? {
    guard let host = request.fields[hostName]?.lowercasedASCII, let key = CacheKey(request.url)
    else { return nil }
    let scheme = key.origin.prefix { $0 != ":" }
    let named = URL(string: "\(scheme)://\(host)/").flatMap { CacheKey($0) }
    // Compared as origins, so that a default port makes no difference.
    return named?.origin == key.origin ? nil : host
  }

  private static func value(of name: String, in request: HTTPCache.Request) -> String? {
    guard name != hostName else { return otherHost(of: request) }
    guard let value = request.fields[name] else { return nil }
    switch name {
    case acceptLanguage, "accept-encoding", "accept-charset":
      // Normalized, since order, spaces and case of these lists mean nothing (RFC 9111, 4.1).
      return preferences(in: value).map { "\($0.name);\($0.quality)" }.joined(separator: ",")
    // No secret is written to the disk.
    case _ where secrets.contains(name): return SHA256.hexadecimal(value.utf8)
    default: return FieldScanner.members(of: value).joined(separator: ",")
    }
  }

  /// The members of a list with weights, the most preferred first, equally preferred ones by name.
  private static func preferences(in value: String) -> [(name: String, quality: Double)] {
    FieldScanner.members(of: value.lowercasedASCII).map { member in
      let parts = member.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
      let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap {
        Double($0.dropFirst(2))
      }
      return (parts.first ?? "", quality.map { $0.isFinite ? $0 : 0 } ?? 1)
    }
    .sorted { $0.quality != $1.quality ? $0.quality > $1.quality : $0.name < $1.name }
  }
}
