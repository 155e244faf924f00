#if canImport(FoundationNetworking)
  import Foundation
  import FoundationNetworking

  /// A response of ``ResponseCache``, with what tells whether a request finds it.
  ///
  /// On disk its head is JSON, stored with the body's bytes. A head of another version is not read.
  struct StoredURLResponse: Sendable {
    /// All but the body.
    private struct Head: Codable {
      static let version = 1

      var version = Head.version
      var url: URL
      /// nil for a response that isn't one of HTTP.
      var status: Int?
      var fields: [String: String] = [:]
      var mimeType: String?
      var length: Int64
      var encoding: String?
      /// A binary property list.
      var userInfo: Data?
      var chosenBy: [String: String?]
    }

    /// The approximate size of an object in memory besides its bytes.
    private static let overhead = 512

    let response: CachedURLResponse
    /// When it was stored.
    let date: Date
    private let selection: Selection

    /// Makes one from a response to be stored; nil if no request can find it, as with `Vary: *`.
    init?(_ response: CachedURLResponse, for request: URLRequest, date: Date) {
      let fields = (response.response as? HTTPURLResponse).map { HTTPCache.Response($0).fields }
      guard let selection = Selection(of: Self.request(request), for: fields ?? [:]) else {
        return nil
      }
      self.response = response
      self.date = date
      self.selection = selection
    }

    /// Reads one from the disk; nil if it isn't of this version.
    init?(head: Data, data: Data, date: Date) {
      guard let head = try? JSONDecoder().decode(Head.self, from: head),
        head.version == Head.version,
        let response = Self.response(head)
      else { return nil }
      let userInfo = head.userInfo.flatMap {
        try? PropertyListSerialization.propertyList(from: $0, format: nil) as? [String: Any]
      }
      self.response = CachedURLResponse(
        response: response, data: data, userInfo: userInfo, storagePolicy: .allowed)
      self.date = date
      selection = Selection(
        values: head.chosenBy, language: head.fields["Content-Language"]?.lowercasedASCII)
    }

    /// What a request's response is stored under; nil for a request without a URL.
    static func key(_ request: URLRequest) -> String? {
      guard let url = request.url else { return nil }
      let name = CacheKey(url)?.string ?? url.absoluteString.prefix { $0 != "#" }.description
      return "\(request.httpMethod ?? "GET") \(name)"
    }

    /// Whether the request's fields choose this response.
    func matches(_ request: URLRequest) -> Bool { selection.matches(Self.request(request)) }

    /// Its approximate size in memory, in bytes.
    var cost: Int {
      let fields = (response.response as? HTTPURLResponse)?.allHeaderFields ?? [:]
      let size = fields.reduce(0) { $0 + "\($1.key)".utf8.count + "\($1.value)".utf8.count }
      return response.data.count + size + Self.overhead
    }

    /// The data stored with the body; nil if a part of it can't be stored.
    var head: Data? {
      guard let url = response.response.url else { return nil }
      let http = response.response as? HTTPURLResponse
      var head = Head(
        url: url, status: http?.statusCode, mimeType: response.response.mimeType,
        length: response.response.expectedContentLength,
        encoding: response.response.textEncodingName, chosenBy: selection.values)
      for (name, value) in http?.allHeaderFields ?? [:] { head.fields["\(name)"] = "\(value)" }
      if let userInfo = response.userInfo {
        guard PropertyListSerialization.propertyList(userInfo, isValidFor: .binary),
          let data = try? PropertyListSerialization.data(
            fromPropertyList: userInfo, format: .binary, options: 0)
        else { return nil }
        head.userInfo = data
      }
      return try? JSONEncoder().encode(head)
    }

    private static func response(_ head: Head) -> URLResponse? {
      if let status = head.status {
        return HTTPURLResponse(
          url: head.url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: head.fields)
      }
      return URLResponse(
        url: head.url, mimeType: head.mimeType, expectedContentLength: Int(head.length),
        textEncodingName: head.encoding)
    }

    private static func request(_ request: URLRequest) -> HTTPCache.Request {
      HTTPCache.Request(
        method: request.httpMethod ?? "GET", url: request.url ?? URL(filePath: "/"),
        fields: HTTPCache.Fields(
          (request.allHTTPHeaderFields ?? [:]).map { (name: $0.key, value: $0.value) }))
    }
  }
#endif
