import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension HTTPCache {
  /// The maximum number of redirects that are followed for one request, as in URLSession.
  public static let redirectLimit = 20
  /// The maximum number of bytes of a redirect's body that are read before it is followed. A redirect with a longer
  /// body may not be stored.
  public static let redirectBodyLimit = 64 << 10
}

/// Decides which request follows a redirect, by RFC 9110 section 15.4. It sends nothing.
struct RedirectChain {
  /// Fields that are meant for one origin: credentials, and its name.
  private static let ofOrigin = ["Authorization", "Cookie", "Host", "Proxy-Authorization"]
  private static let ofBody = [
    "Content-Encoding", "Content-Language", "Content-Length", "Content-Location", "Content-Type",
    "Transfer-Encoding",
  ]

  /// The request to send next, or the one that was answered last.
  private(set) var request: URLRequest
  /// Whether a redirect led to another origin than the first one's. It stays so when a later one leads back: by whom
  /// the user is sent there isn't known.
  private(set) var hasLeftOrigin = false
  private var count = 0

  init(_ request: URLRequest) { self.request = request }

  /// Whether a response leads to another request, which ``request`` then is.
  ///
  /// - Throws: `URLError`: `.httpTooManyRedirects` after ``HTTPCache/redirectLimit`` of them, `.unsupportedURL` if the
  ///   new URL isn't an HTTP URL, `.requestBodyStreamExhausted` if a body that is a stream would have to be sent again.
  mutating func follow(_ response: HTTPCache.Response) throws -> Bool {
    guard Self.redirects.contains(response.status), let url = request.url,
      let location = response.fields["Location"], let target = Self.resolve(location, url)
    else { return false }
    guard ["http", "https"].contains(target.scheme?.lowercased()) else {
      throw URLError(.unsupportedURL)
    }
    guard count < HTTPCache.redirectLimit else { throw URLError(.httpTooManyRedirects) }
    count += 1
    var next = request
    next.url = target
    if Self.becomesGet(response.status, request.httpMethod ?? "GET") {
      next.httpMethod = "GET"
      next.httpBody = nil
      next.httpBodyStream = nil
      for name in Self.ofBody { next.setValue(nil, forHTTPHeaderField: name) }
    }
    guard next.httpBodyStream == nil else { throw URLError(.requestBodyStreamExhausted) }
    if !Self.isSameOrigin(url, target) {
      hasLeftOrigin = true
      for name in Self.ofOrigin { next.setValue(nil, forHTTPHeaderField: name) }
    }
    request = next
    return true
  }

  /// Whether a field is meant for one origin alone.
  static func belongsToOrigin(_ name: String) -> Bool {
    ofOrigin.contains { $0.isSameFieldName(as: name) }
  }

  /// Reads the body of a redirect that is followed, since a response is stored once its body has arrived. If the body
  /// is longer than the limit, or breaks off, only that storing is lost.
  static func finish(_ body: HTTPCache.Body) async {
    var count = 0
    do {
      for try await chunk in body {
        count += chunk.count
        if count > HTTPCache.redirectBodyLimit { return }
      }
    } catch {}
  }

  private static let redirects = [301, 302, 303, 307, 308]

  private static func becomesGet(_ status: Int, _ method: String) -> Bool {
    switch status {
    case 301, 302: method == "POST"
    case 303: method != "GET" && method != "HEAD"
    default: false
    }
  }

  private static func resolve(_ location: String, _ url: URL) -> URL? {
    guard let target = URL(string: location, relativeTo: url)?.absoluteURL else { return nil }
    guard target.fragment == nil, let fragment = url.fragment,
      var parts = URLComponents(url: target, resolvingAgainstBaseURL: true)
    else { return target }
    parts.fragment = fragment
    return parts.url ?? target
  }

  private static func isSameOrigin(_ one: URL, _ other: URL) -> Bool {
    func origin(_ url: URL) -> [String] {
      let scheme = url.scheme?.lowercased() ?? ""
      let port = url.port ?? (scheme == "https" ? 443 : 80)
      return [scheme, url.host?.lowercased() ?? "", String(port)]
    }
    return origin(one) == origin(other)
  }
}
