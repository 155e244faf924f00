import Foundation

/// Which URLs' responses a request makes useless (RFC 9111, 4.4).
enum Invalidation {
  private static let safeMethods: Set<String> = [
    "GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "REPORT", "SEARCH", "QUERY",
  ]

  /// The keys of these URLs: the request's own, and those that the response names, on the same origin.
  static func keys(of request: HTTPCache.Request, response: HTTPCache.Response) -> [CacheKey] {
    guard !safeMethods.contains(request.method), HTTPStatus.isSuccess(response.status),
      let key = CacheKey(request.url)
    else { return [] }
    let named = ["Location", "Content-Location"].compactMap { name in
      response.fields[name].flatMap { URL(string: $0, relativeTo: request.url) }.flatMap {
        CacheKey($0)
      }
    }
    return [key] + named.filter { $0 != key && $0.origin == key.origin }
  }

  /// Whether the response to a POST is what a GET would get (RFC 9110, 9.3.3).
  static func describesItself(_ response: HTTPCache.Response, to request: HTTPCache.Request) -> Bool
  {
    guard let location = response.fields["Content-Location"],
      let url = URL(string: location, relativeTo: request.url), let key = CacheKey(url)
    else { return false }
    return key == CacheKey(request.url)
  }
}
