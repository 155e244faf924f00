#if canImport(FoundationNetworking)
  import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

extension HTTPCache.Mode {
  /// The mode for a request with one of Foundation's policies.
  ///
  /// | policy | mode |
  /// |---|---|
  /// | `useProtocolCachePolicy` | ``standard`` |
  /// | `reloadIgnoringLocalCacheData` | ``reload`` |
  /// | `reloadIgnoringLocalAndRemoteCacheData` | ``reload``; the request also asks other caches to reload |
  /// | `returnCacheDataElseLoad` | ``preferStored`` |
  /// | `returnCacheDataDontLoad` | ``onlyStored`` |
  /// | `reloadRevalidatingCacheData` | ``revalidate`` |
  public init(_ policy: URLRequest.CachePolicy) {
    switch policy {
    case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData: self = .reload
    case .returnCacheDataElseLoad: self = .preferStored
    case .returnCacheDataDontLoad: self = .onlyStored
    case .reloadRevalidatingCacheData: self = .revalidate
    case .useProtocolCachePolicy: self = .standard
    @unknown default: self = .standard
    }
  }
}

extension HTTPCache.Response {
  /// The content codings that URLSession decodes.
  private static let undoneCodings: Set<String> = ["br", "deflate", "gzip", "x-gzip", "zstd"]

  /// Makes a head from a response of URLSession.
  ///
  /// URLSession decodes bodies and leaves the fields as they were sent. The fields that describe
  /// the encoded body are removed, since the decoded one is stored and returned; ``isDecoded`` is
  /// true then.
  public init(_ response: HTTPURLResponse) {
    var fields = HTTPCache.Fields(
      // Sorted, since a dictionary's order is random, and stored responses are compared with their
      // fields in order.
      response.allHeaderFields
        .map { HTTPCache.Fields.Field(name: "\($0.key)", value: "\($0.value)") }
        .sorted { $0.name < $1.name })
    let codings = (fields["Content-Encoding"] ?? "").split(separator: ",")
      .map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
    let isDecoded = !codings.isEmpty && codings.allSatisfy(Self.undoneCodings.contains)
    if isDecoded {
      fields["Content-Encoding"] = nil
      fields["Content-Length"] = nil
    }
    self.init(status: response.statusCode, fields: fields)
    self.isDecoded = isDecoded
  }
}

extension HTTPCache.Response {
  /// The same response as Foundation's; fields of one name are joined with commas.
  ///
  /// - Parameter url: Where the response came from.
  /// - Throws: `URLError(.badServerResponse)` if Foundation refuses the URL or the fields.
  func foundationResponse(from url: URL?) throws -> HTTPURLResponse {
    var names: [String: String] = [:]
    var values: [String: String] = [:]
    for field in fields {
      // A dictionary would have an entry for each spelling of a name. The first spelling counts.
      let name = names[field.name.lowercased()] ?? field.name
      names[field.name.lowercased()] = name
      values[name] = values[name].map { "\($0), \(field.value)" } ?? field.value
    }
    let response = url.flatMap {
      HTTPURLResponse(url: $0, statusCode: status, httpVersion: "HTTP/1.1", headerFields: values)
    }
    guard let response else { throw URLError(.badServerResponse) }
    return response
  }
}

// MARK: - Outgoing requests

/// A request of Foundation's, as the cache sees it and as it is sent.
///
/// The cache must see the fields that a session would add later, cookies above all, since a
/// response can vary by them. So they are added here, and the transport's session adds none.
struct OutgoingRequest: Sendable {
  /// With all fields that are sent.
  let request: HTTPCache.Request
  private let original: URLRequest

  /// - Parameters:
  ///   - configuration: The session's configuration, with its cookies and fields for all requests.
  ///   - hasLeftOrigin: Whether a redirect led to another origin than the first request's; the
  ///     session's credentials among these fields are not meant for it. Its cookies have their own
  ///     rules.
  /// - Throws: `URLError(.badURL)` without a URL.
  init(
    _ original: URLRequest, configuration: URLSessionConfiguration, hasLeftOrigin: Bool = false
  ) throws {
    guard let url = original.url else { throw URLError(.badURL) }
    // Sorted, since a dictionary's order is random and equal requests must have equal fields.
    var fields = HTTPCache.Fields(
      (original.allHTTPHeaderFields ?? [:])
        .map { HTTPCache.Fields.Field(name: $0.key, value: $0.value) }
        .sorted { $0.name < $1.name })
    if original.cachePolicy == .reloadIgnoringLocalAndRemoteCacheData {
      fields["Cache-Control"] = fields["Cache-Control"] ?? "no-cache"
      fields["Pragma"] = fields["Pragma"] ?? "no-cache"
    }
    for (name, value) in configuration.httpAdditionalHeaders ?? [:] {
      // The session's `Authorization` is meant for the origins that the program requests itself.
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

  /// The request to send, with the fields that the cache has added, such as `If-None-Match`.
  func urlRequest(sending sent: HTTPCache.Request) -> URLRequest {
    var request = original
    // The transport's session has no cache.
    request.cachePolicy = .useProtocolCachePolicy
    request.allHTTPHeaderFields = nil
    // Exactly what the cache saw: by a field that only the server gets, it could choose another
    // response.
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
