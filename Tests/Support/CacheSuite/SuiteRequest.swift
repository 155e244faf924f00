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

  package init(status: Int, reason: String, fields: HeaderFields, body: String) {
    self.status = status
    self.reason = reason
    self.fields = fields
    self.body = body
  }
}

/// The origin closed the connection without a response.
package struct Disconnection: Error {
  package init() {}
}

/// Answers a request: a cache, or an origin.
package typealias Exchange = @Sendable (SuiteRequest) async throws -> SuiteResponse
