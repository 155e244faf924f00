/// A request as a client hands it to a cache, and as the cache hands it to the origin.
package struct SuiteRequest: Sendable {
  package var method: String
  package var url: String
  package var fields = HeaderFields()
  package var body: String?
  /// What the Fetch standard calls the cache mode, such as `no-cache`; nil for the default.
  package var cacheMode: String?
  package var followsRedirects = true

  package init(method: String, url: String) {
    self.method = method
    self.url = url
  }
}

/// A response with its whole body.
package struct SuiteResponse: Sendable {
  package var status: Int
  package var reason: String
  package var fields: HeaderFields
  package var body: String
  /// What an origin sends before it.
  package var interim: [InterimResponse] = []

  package init(status: Int, reason: String, fields: HeaderFields, body: String) {
    self.status = status
    self.reason = reason
    self.fields = fields
    self.body = body
  }
}

/// A response with a status below 200, which another one follows.
package struct InterimResponse: Sendable, Decodable {
  package var status: Int
  package var fields: HeaderFields

  package init(from decoder: any Decoder) throws {
    var values = try decoder.unkeyedContainer()
    status = try values.decode(Int.self)
    let fields = values.isAtEnd ? [] : try values.decode([[String]].self)
    self.fields = HeaderFields(fields.compactMap { $0.count == 2 ? ($0[0], $0[1]) : nil })
  }
}

/// The origin closed the connection without a response.
package struct Disconnection: Error {
  package init() {}
}

/// Answers a request: a cache, or an origin.
package typealias Exchange = @Sendable (SuiteRequest) async throws -> SuiteResponse
