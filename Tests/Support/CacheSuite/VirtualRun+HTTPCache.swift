import Foundation
import SteadCaches

extension VirtualRun {
  /// A run over `HTTPCache`, in memory alone, and without a client of HTTP.
  package static func httpCache(isShared: Bool = false) -> VirtualRun {
    VirtualRun(isShared: isShared) { clock, origin in
      let cache = HTTPCache(
        directory: nil, configuration: .init(isShared: isShared), now: { clock.now })
      return { request in
        let reply = try await cache.response(
          to: request.cacheRequest, mode: HTTPCache.Mode(cacheMode: request.cacheMode)
        ) { sent in
          var copy = request
          copy.fields = HeaderFields(sent.fields.map { ($0.name, $0.value) })
          let answer = try await origin(copy)
          return (answer.head, HTTPCache.Body(Data(answer.body.utf8)))
        }
        return try await SuiteResponse(reply)
      }
    }
  }
}

extension SuiteRequest {
  fileprivate var cacheRequest: HTTPCache.Request {
    get throws {
      guard let url = URL(string: url) else { throw URLError(.badURL) }
      return HTTPCache.Request(
        method: method, url: url, fields: HTTPCache.Fields(fields.all.map { ($0.name, $0.value) }),
        hasBody: body != nil)
    }
  }
}

extension SuiteResponse {
  fileprivate var head: HTTPCache.Response {
    HTTPCache.Response(
      status: status, reason: reason,
      fields: HTTPCache.Fields(fields.all.map { ($0.name, $0.value) }))
  }

  fileprivate init(_ reply: HTTPCache.Reply) async throws {
    let body = try await reply.body.data()
    self.init(
      status: reply.response.status, reason: reply.response.reason ?? "",
      fields: HeaderFields(reply.response.fields.map { ($0.name, $0.value) }),
      body: String(decoding: body, as: UTF8.self))
  }
}

extension HTTPCache.Mode {
  /// The mode that the Fetch standard calls so.
  package init(cacheMode: String?) {
    switch cacheMode {
    case "no-cache": self = .revalidate
    case "reload": self = .reload
    case "no-store": self = .bypass
    case "force-cache": self = .preferStored
    case "only-if-cached": self = .onlyStored
    default: self = .standard
    }
  }
}
