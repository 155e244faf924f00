#if Server
  import AsyncHTTPClient
  import Foundation
  import NIOCore
  import SteadCaches

  /// Which request follows a redirect (RFC 9110, 15.4).
  struct Redirects {
    private static let statuses: Set<Int> = [301, 302, 303, 307, 308]
    private static let ofOrigin = ["Authorization", "Cookie", "Host", "Proxy-Authorization"]
    private static let ofBody = [
      "Content-Encoding", "Content-Language", "Content-Length", "Content-Location", "Content-Type",
      "Transfer-Encoding",
    ]

    private(set) var request: HTTPCache.Request
    private(set) var body: ByteBuffer?
    private var count = 0

    init(_ request: HTTPCache.Request, body: ByteBuffer?) {
      (self.request, self.body) = (request, body)
      self.request.hasBody = body != nil
      // Before the cache sees the request: a server's `Vary` is about what is sent.
      if !request.fields.contains("Accept-Encoding") {
        self.request.fields["Accept-Encoding"] = "gzip, deflate"
      }
    }

    /// Whether a response leads to another request, which ``request`` then is.
    mutating func follow(_ response: HTTPCache.Response) throws -> Bool {
      guard Self.statuses.contains(response.status), let location = response.fields["Location"],
        let target = URL(string: location, relativeTo: request.url)?.absoluteURL
      else { return false }
      guard ["http", "https"].contains(target.scheme?.lowercased()) else {
        throw HTTPClientError.unsupportedScheme(target.scheme ?? "")
      }
      guard count < HTTPCache.redirectLimit else { throw HTTPClientError.redirectLimitReached }
      count += 1
      if becomesGet(response.status) {
        request.method = "GET"
        (request.hasBody, body) = (false, nil)
        for name in Self.ofBody { request.fields.removeAll(named: name) }
      }
      if Self.origin(target) != Self.origin(request.url) {
        for name in Self.ofOrigin { request.fields.removeAll(named: name) }
      }
      request.url = target
      return true
    }

    /// Reads the body of a redirect that is followed, up to a limit.
    func finish(_ body: HTTPCache.Body) async {
      var size = 0
      do {
        for try await chunk in body {
          size += chunk.count
          if size > HTTPCache.redirectBodyLimit { return }
        }
      } catch {}  // Only its storing is lost.
    }

    private func becomesGet(_ status: Int) -> Bool {
      switch status {
      case 301, 302: request.method == "POST"
      case 303: request.method != "GET" && request.method != "HEAD"
      default: false
      }
    }

    private static func origin(_ url: URL) -> [String] {
      let scheme = url.scheme?.lowercased() ?? ""
      return [
        scheme, url.host()?.lowercased() ?? "", String(url.port ?? (scheme == "https" ? 443 : 80)),
      ]
    }
  }
#endif
