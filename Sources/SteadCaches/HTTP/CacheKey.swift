import Foundation

/// What the responses of one URL are stored under: the URL without its fragment, and in one spelling.
///
/// Scheme and host are in lower case, the scheme's default port is left out, and an empty path is a slash. The query is
/// kept as it is, without the parameters that don't count.
struct CacheKey: Sendable, Hashable {
  let string: String
  /// Scheme, host and port.
  let origin: String
  /// The host in lower case.
  let host: String

  /// Makes a URL's key; nil if it isn't one of `http` or `https`.
  ///
  /// - Parameter ignored: The decoded names of query parameters that don't count.
  init?(_ url: URL, ignoring ignored: Set<String> = []) {
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
    guard kept.count < all.count else { return tail }
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
