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
  /// The codings that URLSession undoes before it hands on a body.
  private static let undoneCodings: Set<String> = ["br", "deflate", "gzip", "x-gzip", "zstd"]

  /// Makes a head from a response of URLSession.
  ///
  /// URLSession decodes bodies and leaves the fields unchanged. The fields that describe the encoded body are removed,
  /// since the decoded one is stored and passed on; ``isDecoded`` is true then.
  public init(_ response: HTTPURLResponse) {
    var fields = HTTPCache.Fields(
      response.allHeaderFields.map { ("\($0.key)", "\($0.value)") }.sorted { $0.0 < $1.0 }
        .map { (name: $0.0, value: $0.1) })
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
  /// The same as a response of Foundation's; fields of one name are joined with commas.
  ///
  /// - Parameter url: Where the response came from.
  /// - Throws: `URLError(.badServerResponse)` if Foundation refuses the URL or the fields.
  func foundationResponse(from url: URL?) throws -> HTTPURLResponse {
    var names: [String: String] = [:]
    var values: [String: String] = [:]
    for field in fields {
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
