import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A request of Foundation's as the cache sees it, and on its way to the server.
struct OutgoingRequest: Sendable {
  /// What the cache sees: with the fields that a session adds, since a response can vary by them.
  let request: HTTPCache.Request
  private let original: URLRequest

  /// - Parameters:
  ///   - configuration: The session's configuration, with its cookies and fields for all requests.
  ///   - hasLeftOrigin: Whether a redirect led to another origin than the first request's; the session's credentials
  ///     among these fields are not meant for it. Its cookies have their own rules.
  /// - Throws: `URLError(.badURL)` without a URL.
  init(
    _ original: URLRequest, configuration: URLSessionConfiguration, hasLeftOrigin: Bool = false
  ) throws {
    guard let url = original.url else { throw URLError(.badURL) }
    var fields = HTTPCache.Fields(
      (original.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }
        .map { (name: $0.key, value: $0.value) })
    if original.cachePolicy == .reloadIgnoringLocalAndRemoteCacheData {
      fields["Cache-Control"] = fields["Cache-Control"] ?? "no-cache"
      fields["Pragma"] = fields["Pragma"] ?? "no-cache"
    }
    for (name, value) in configuration.httpAdditionalHeaders ?? [:] {
      guard let name = name as? String, !fields.contains(name),
        !(hasLeftOrigin && RedirectChain.belongsToOrigin(name))
      else { continue }
      fields[name] = "\(value)"
    }
    if original.httpShouldHandleCookies, let cookies = Self.cookies(url, configuration) {
      fields["Cookie"] = cookies
    }
    request = HTTPCache.Request(
      method: original.httpMethod ?? "GET", url: url, fields: fields,
      hasBody: original.httpBody != nil || original.httpBodyStream != nil)
    self.original = original
  }

  /// The request to the server, with all fields that the cache wants to send.
  func urlRequest(sending sent: HTTPCache.Request) -> URLRequest {
    var request = original
    // The transport has no cache that a policy could apply to.
    request.cachePolicy = .useProtocolCachePolicy
    request.allHTTPHeaderFields = nil
    for field in sent.fields { request.addValue(field.value, forHTTPHeaderField: field.name) }
    return request
  }

  /// The cookies that a session sends; nil for none.
  private static func cookies(_ url: URL, _ configuration: URLSessionConfiguration) -> String? {
    guard configuration.httpShouldSetCookies,
      let cookies = configuration.httpCookieStorage?.cookies(for: url), !cookies.isEmpty
    else { return nil }
    return HTTPCookie.requestHeaderFields(with: cookies)["Cookie"]
  }
}
