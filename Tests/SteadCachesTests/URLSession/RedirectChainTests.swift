import Foundation
import Testing

@testable import SteadCaches

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite struct RedirectChainTests {
  private static let start = "http://a.test/dir/page?q=1#part"
  private static let body = Data("body".utf8)

  @Test(arguments: [
    ("http://b.test/x", "http://b.test/x#part"),
    ("/x?y=1", "http://a.test/x?y=1#part"),
    ("x", "http://a.test/dir/x#part"),
    ("../x#other", "http://a.test/x#other"),
    ("//b.test:81/x", "http://b.test:81/x#part"),
    ("?z", "http://a.test/dir/page?z#part"),
  ])
  func `resolves the target`(location: String, target: String) throws {
    var chain = try chain()
    #expect(try chain.follow(response(302, location)))
    #expect(chain.request.url?.absoluteString == target)
  }

  @Test(arguments: [
    (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (307, "POST", "POST"),
    (308, "POST", "POST"), (301, "PUT", "PUT"), (302, "DELETE", "DELETE"), (303, "PUT", "GET"),
    (303, "HEAD", "HEAD"), (301, "GET", "GET"),
  ])
  func `keeps the method or GETs`(status: Int, method: String, next: String) throws {
    var chain = try chain(method, fields: ["Content-Type": "text/plain", "X-Own": "1"])
    #expect(try chain.follow(response(status, "/x")))
    let isKept = method == next
    #expect(chain.request.httpMethod == next)
    #expect(chain.request.httpBody == (isKept ? Self.body : nil))
    #expect((chain.request.value(forHTTPHeaderField: "Content-Type") != nil) == isKept)
    #expect(chain.request.value(forHTTPHeaderField: "X-Own") == "1")
  }

  @Test(arguments: [200, 201, 300, 304, 305, 404])
  func `follows nothing else`(status: Int) throws {
    var chain = try chain()
    #expect(try !chain.follow(response(status, "/x")))
    #expect(chain.request.url?.absoluteString == Self.start)
  }

  @Test func `follows no redirect without a target`() throws {
    var chain = try chain()
    #expect(try !chain.follow(HTTPCache.Response(status: 302)))
  }

  @Test(arguments: [
    ("/x", true), ("http://A.TEST:80/x", true), ("http://b.test/x", false),
    ("https://a.test/x", false), ("http://a.test:8080/x", false),
  ])
  func `sends credentials to the same origin only`(location: String, isSame: Bool) throws {
    let fields = ["Authorization": "secret", "Cookie": "secret", "Host": "a.test", "X-Own": "1"]
    var chain = try chain(fields: fields)
    #expect(try chain.follow(response(302, location)))
    #expect(chain.request.allHTTPHeaderFields == (isSame ? fields : ["X-Own": "1"]))
  }

  @Test(arguments: ["file:///etc/passwd", "ftp://a.test/x", "data:text/plain,x", "javascript:0"])
  func `refuses a target that is not of HTTP`(location: String) throws {
    var chain = try chain()
    let error = #expect(throws: URLError.self) { try chain.follow(response(302, location)) }
    #expect(error?.code == .unsupportedURL)
  }

  @Test func `ends after the limit`() throws {
    var chain = try chain()
    for _ in 0..<HTTPCache.redirectLimit { #expect(try chain.follow(response(302, "/x"))) }
    let error = #expect(throws: URLError.self) { try chain.follow(response(302, "/x")) }
    #expect(error?.code == .httpTooManyRedirects)
  }

  @Test func `sends a stream once`() throws {
    var request = try request("POST")
    request.httpBodyStream = InputStream(data: Data("body".utf8))
    var chain = RedirectChain(request)
    let error = #expect(throws: URLError.self) { try chain.follow(response(307, "/x")) }
    #expect(error?.code == .requestBodyStreamExhausted)
  }

  private func chain(_ method: String = "GET", fields: [String: String] = [:]) throws
    -> RedirectChain
  {
    var request = try request(method)
    for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
    request.httpBody = Self.body
    return RedirectChain(request)
  }

  private func request(_ method: String) throws -> URLRequest {
    var request = URLRequest(url: try #require(URL(string: Self.start)))
    request.httpMethod = method
    return request
  }

  private func response(_ status: Int, _ location: String) -> HTTPCache.Response {
    HTTPCache.Response(status: status, fields: ["Location": location])
  }
}
