import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension HTTPCache {
  /// The maximum number of redirects that are followed for one request, as in URLSession.
  public static let redirectLimit = 20
  /// The maximum number of bytes of a redirect's body that are read before it is followed. A
  /// redirect with a longer body may not be stored.
  public static let redirectBodyLimit = 64 << 10
}

/// Decides which request follows a redirect (RFC 9110, 15.4): a value that does no I/O.
///
/// Here and not in URLSession, since each response of a chain is looked up in the cache.
struct RedirectChain {
  /// Fields for one origin only: credentials, and its name. Sent to another one they would leak.
  private static let ofOrigin = ["Authorization", "Cookie", "Host", "Proxy-Authorization"]
  /// Fields of a request's body, which go with it when a redirect turns a POST into a GET.
  private static let ofBody = [
    "Content-Encoding", "Content-Language", "Content-Length", "Content-Location", "Content-Type",
    "Transfer-Encoding",
  ]

  /// The request to send next, or the one that was answered last.
  private(set) var request: URLRequest
  /// Whether a redirect led to another origin than the first one's. Stays true when a later one
  /// leads back: the other origin decided where, so its choice must not be made with the user's
  /// credentials.
  private(set) var hasLeftOrigin = false
  private var count = 0

  init(_ request: URLRequest) { self.request = request }

  /// Follows a response; returns whether it is a redirect, and then ``request`` is the next one.
  ///
  /// - Throws: `URLError`: `.httpTooManyRedirects` after ``HTTPCache/redirectLimit`` of them,
  ///   `.unsupportedURL` if the new URL isn't an HTTP URL, `.requestBodyStreamExhausted` if a body
  ///   that is a stream would have to be sent again.
  mutating func follow(_ response: HTTPCache.Response) throws -> Bool {
    guard Self.redirects.contains(response.status), let url = request.url,
      let location = response.fields["Location"], let target = Self.resolve(location, url)
    else { return false }
    guard ["http", "https"].contains(target.scheme?.lowercased()) else {
      throw URLError(.unsupportedURL)
    }
    guard count < HTTPCache.redirectLimit else { throw URLError(.httpTooManyRedirects) }
    // By number and not by the URLs seen: a loop may add to its query each time.
    count += 1
    var next = request
    next.url = target
    if Self.becomesGet(response.status, request.httpMethod ?? "GET") {
      next.httpMethod = "GET"
      next.httpBody = nil
      next.httpBodyStream = nil
      // They describe the body that is no longer sent (RFC 9110, 15.4).
      for name in Self.ofBody { next.setValue(nil, forHTTPHeaderField: name) }
    }
    // A 307 or 308 repeats the body, and a stream was read by the first request.
    guard next.httpBodyStream == nil else { throw URLError(.requestBodyStreamExhausted) }
    if !Self.isSameOrigin(url, target) {
      // Removed from the chain's request, so that no later step sends them either.
      hasLeftOrigin = true
      for name in Self.ofOrigin { next.setValue(nil, forHTTPHeaderField: name) }
    }
    request = next
    return true
  }

  /// Whether a field must not be sent to another origin.
  static func belongsToOrigin(_ name: String) -> Bool {
    ofOrigin.contains { $0.isSameFieldName(as: name) }
  }

  /// Reads the body of a redirect that is followed, since a response is only stored once its body
  /// is complete. A body that is longer than the limit, or breaks off, is merely not stored.
  static func finish(_ body: HTTPCache.Body) async {
    var count = 0
    do {
      for try await chunk in body {
        count += chunk.count
        if count > HTTPCache.redirectBodyLimit { return }
      }
      // The redirect's head is complete, so it is followed all the same.
    } catch {}
  }

  private static let redirects = [301, 302, 303, 307, 308]

  private static func becomesGet(_ status: Int, _ method: String) -> Bool {
    // User agents change a POST after a 301 or 302 for historical reasons (RFC 9110, 15.4.2 and
    // 15.4.3).
    switch status {
    case 301, 302: method == "POST"
    case 303: method != "GET" && method != "HEAD"
    default: false
    }
  }

  private static func resolve(_ location: String, _ url: URL) -> URL? {
    guard let target = URL(string: location, relativeTo: url)?.absoluteURL else { return nil }
    // A target without a fragment inherits that of the request's URL (RFC 9110, 10.2.2).
    guard target.fragment == nil, let fragment = url.fragment,
      var parts = URLComponents(url: target, resolvingAgainstBaseURL: true)
    else { return target }
    parts.fragment = fragment
    return parts.url ?? target
  }

  private static func isSameOrigin(_ one: URL, _ other: URL) -> Bool {
    func origin(_ url: URL) -> [String] {
      // With the default port, since `https://a.example` and `https://a.example:443` are one origin
      // (RFC 9110, 4.3.1).
      let scheme = url.scheme?.lowercased() ?? ""
      let port = url.port ?? (scheme == "https" ? 443 : 80)
      return [scheme, url.host?.lowercased() ?? "", String(port)]
    }
    return origin(one) == origin(other)
  }
}
