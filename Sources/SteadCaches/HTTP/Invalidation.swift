import Foundation

/// Which URLs' responses a request makes useless (RFC 9111, 4.4).
enum Invalidation {
  private static let safeMethods: Set<String> = [
    "GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "REPORT", "SEARCH", "QUERY",
  ]

  /// The keys of these URLs: the request's own, and those that the response names, on the same origin.
  ///
  /// - Parameter key: A URL's key.
  static func keys(
    of request: HTTPCache.Request, response: HTTPCache.Response,
    key: (URL) -> CacheKey? = { CacheKey($0) }
  ) -> [CacheKey] {
    guard !safeMethods.contains(request.method), HTTPStatus.isSuccess(response.status),
      let own = key(request.url)
    else { return [] }
    let named = ["Location", "Content-Location"].compactMap { name in
      response.fields[name].flatMap { URL(string: $0, relativeTo: request.url) }.flatMap(key)
    }
    return [own] + named.filter { $0 != own && $0.origin == own.origin }
  }

  /// Whether the response to a POST is what a GET would get (RFC 9110, 9.3.3).
  static func describesItself(
    _ response: HTTPCache.Response, to request: HTTPCache.Request,
    key: (URL) -> CacheKey? = { CacheKey($0) }
  ) -> Bool {
    guard let location = response.fields["Content-Location"],
      let url = URL(string: location, relativeTo: request.url), let described = key(url)
    else { return false }
    return described == key(request.url)
  }
}
