/// A request of a test, the response that the origin gives to it, and what is expected of the cache between.
package struct TestStep: Sendable, Decodable {
  package enum ExpectedType: String, Sendable, Decodable {
    case cached
    case notCached = "not_cached"
    case validatedByDate = "lm_validated"
    case validatedByTag = "etag_validated"

    var isValidated: Bool { self == .validatedByDate || self == .validatedByTag }
  }

  /// A member of this step whose failure can be one of the test's setup.
  package enum Member: String, Sendable {
    case expectedType = "expected_type"
    case expectedStatus = "expected_status"
    case expectedText = "expected_response_text"
    case expectedMethod = "expected_method"
    case responseFields = "expected_response_headers"
    case missingResponseFields = "expected_response_headers_missing"
    case requestFields = "expected_request_headers"
    case missingRequestFields = "expected_request_headers_missing"
  }

  // The client's side.
  package var method: String
  package var requestFields: [FieldTemplate]
  package var requestBody: String?
  package var query: String?
  package var fileName: String?
  package var cacheMode: String?
  package var followsRedirects: Bool
  /// `If-Modified-Since` is relative to the time at which the response before was made.
  package var relatesDates: Bool
  package var dateFieldsInOldFormat: [String]
  package var pausesAfter: Bool

  // The origin's side.
  package var status: (code: Int, reason: String)?
  package var responseFields: [FieldTemplate]
  package var responseBody: NullableText?
  /// Seconds before the response.
  package var responsePause: Double
  package var disconnects: Bool
  /// `Location` and `Content-Location` are relative to the request's path.
  package var relatesLocations: Bool
  /// What the origin sends before the final response.
  package var interimResponses: [InterimResponse]

  // What is expected.
  package var expectedType: ExpectedType?
  package var expectedStatus: NullableNumber?
  package var expectedText: NullableText?
  package var expectedMethod: String?
  /// Whether the client is to see responses before the final one.
  package var expectsInterimResponses: Bool
  package var expectedRequestFields: [FieldExpectation]
  package var missingRequestFields: [FieldExpectation]
  package var expectedResponseFields: [FieldExpectation]
  package var missingResponseFields: [FieldExpectation]
  package var checksBody: Bool
  private var isSetup: Bool
  private var setupMembers: [String]

  /// Whether an unmet expectation says that the test could not be carried out, not that the cache is wrong.
  package func isSetup(_ member: Member) -> Bool {
    isSetup || setupMembers.contains(member.rawValue)
  }
}

extension TestStep {
  /// A string of a file that says with a null that there is nothing to compare.
  package enum NullableText: Sendable, Equatable {
    case null
    case text(String)
  }

  /// A number of a file that says with a null that there is nothing to compare.
  package enum NullableNumber: Sendable, Equatable {
    case null
    case number(Int)
  }

  private struct Key: CodingKey {
    let stringValue: String
    let intValue: Int? = nil
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { return nil }
    init(_ name: String) { stringValue = name }
  }

  private struct Members {
    let values: KeyedDecodingContainer<Key>

    func get<Value: Decodable>(_ name: String, _ type: Value.Type = Value.self) throws -> Value? {
      try values.decodeIfPresent(Value.self, forKey: Key(name))
    }

    func list<Value: Decodable>(_ name: String) throws -> [Value] { try get(name) ?? [] }
    func flag(_ name: String, otherwise: Bool = false) throws -> Bool { try get(name) ?? otherwise }

    func text(_ name: String) throws -> NullableText? {
      guard values.contains(Key(name)) else { return nil }
      return try get(name, String.self).map { .text($0) } ?? .null
    }

    func number(_ name: String) throws -> NullableNumber? {
      guard values.contains(Key(name)) else { return nil }
      return try get(name, Int.self).map { .number($0) } ?? .null
    }

    func status(_ name: String) throws -> (code: Int, reason: String)? {
      guard values.contains(Key(name)) else { return nil }
      var parts = try values.nestedUnkeyedContainer(forKey: Key(name))
      return (try parts.decode(Int.self), try parts.decode(String.self))
    }
  }

  package init(from decoder: any Decoder) throws {
    let members = Members(values: try decoder.container(keyedBy: Key.self))
    method = try members.get("request_method") ?? "GET"
    requestFields = try members.list("request_headers")
    requestBody = try members.get("request_body")
    query = try members.get("query_arg")
    fileName = try members.get("filename")
    cacheMode = try members.get("cache")
    followsRedirects = try members.get("redirect") != "manual"
    relatesDates = try members.flag("magic_ims")
    dateFieldsInOldFormat = try members.list("rfc850date")
    pausesAfter = try members.flag("pause_after")
    status = try members.status("response_status")
    responseFields = try members.list("response_headers")
    responseBody = try members.text("response_body")
    responsePause = try members.get("response_pause") ?? 0
    disconnects = try members.flag("disconnect")
    relatesLocations = try members.flag("magic_locations")
    interimResponses = try members.list("interim_responses")
    expectsInterimResponses = members.values.contains(Key("expected_interim_responses"))
    expectedType = try members.get("expected_type")
    expectedStatus = try members.number("expected_status")
    expectedText = try members.text("expected_response_text")
    expectedMethod = try members.get("expected_method")
    expectedRequestFields = try members.list("expected_request_headers")
    missingRequestFields = try members.list("expected_request_headers_missing")
    expectedResponseFields = try members.list("expected_response_headers")
    missingResponseFields = try members.list("expected_response_headers_missing")
    checksBody = try members.flag("check_body", otherwise: true)
    isSetup = try members.flag("setup")
    setupMembers = try members.list("setup_tests")
  }
}
