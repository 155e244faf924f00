import Foundation
import SteadTestSupport
import Testing

@testable import SteadCaches

/// A cache that many users share, as RFC 9111 defines it.
@Suite(.hangLimit) struct SharedCacheTests {
  private static let shared = HTTPCache.Configuration(isShared: true)

  /// What a response and its request have, and what the RFC says of it.
  struct Case: Sendable {
    var control: [String] = []
    var hasCookie = false
    var hasAuthorization = false

    private func seconds(_ name: String) -> Int? {
      control.first { $0.hasPrefix(name + "=") }.flatMap { Int($0.dropFirst(name.count + 1)) }
    }

    private var isForAnybody: Bool { control.contains("public") || seconds("s-maxage") != nil }

    /// RFC 9111, 3 and 3.5; and what this library adds for cookies.
    var mayBeStored: Bool {
      if control.contains("private") { return false }
      if hasAuthorization, !isForAnybody, !control.contains("must-revalidate") { return false }
      return !hasCookie || isForAnybody
    }

    /// RFC 9111, 4.2.1: in seconds, of a response without `Last-Modified`.
    var lifetime: Int { seconds("s-maxage") ?? seconds("max-age") ?? 0 }

    /// RFC 9111, 5.2.2.2, 5.2.2.8 and 5.2.2.10.
    var mayBeStale: Bool {
      !control.contains("must-revalidate") && !control.contains("proxy-revalidate")
        && seconds("s-maxage") == nil
    }

    static var all: [Case] {
      var all = [Case()]
      let choices: [[String?]] = [
        [nil, "private", "public"], [nil, "s-maxage=0", "s-maxage=100"],
        [nil, "max-age=0", "max-age=50"], [nil, "must-revalidate", "proxy-revalidate"],
      ]
      for choice in choices {
        all = all.flatMap { one in
          choice.map { directive in
            var copy = one
            if let directive { copy.control.append(directive) }
            return copy
          }
        }
      }
      return all.flatMap { one in
        [(false, false), (false, true), (true, false), (true, true)].map {
          var copy = one
          (copy.hasCookie, copy.hasAuthorization) = $0
          return copy
        }
      }
    }
  }

  // `s-maxage`, `private` and `proxy-revalidate` had no effect, and what one user was sent had to be kept apart.
  @Test func `every combination of directives is as the RFC says`() async throws {
    for (number, test) in Case.all.enumerated() {
      // Not a comma: the directives may be in several fields.
      var fields = HTTPCache.Fields(test.control.map { ("Cache-Control", $0) })
      if test.hasCookie { fields["Set-Cookie"] = "user=anna" }
      let origin = Origin(fields)
      let cache = origin.cache(configuration: Self.shared)
      let own: HTTPCache.Fields = test.hasAuthorization ? ["Authorization": "anna"] : [:]
      let first = try await origin.get("/", own, from: cache)
      #expect(try await first.text == "body")
      #expect(first.outcome.isStored == test.mayBeStored, "\(test)")
      for (age, step) in [(10, 10), (60, 50), (110, 50)] {
        origin.advance(TimeInterval(step))
        let isFresh = test.mayBeStored && age < test.lifetime
        // Other users get it, with and without credentials.
        for asked in [[:], ["Authorization": "bob"]] as [HTTPCache.Fields] where isFresh {
          let reply = try await origin.get("/", asked, from: cache)
          #expect(reply.outcome.source == .hit, "\(test), \(age)")
        }
        guard !isFresh else { continue }
        let stored = try cache.storedResponse(to: Origin.request("/"))
        #expect((stored != nil) == test.mayBeStored, "\(test)")
        let stale: HTTPCache.Fields = ["Cache-Control": "max-stale=1000, only-if-cached"]
        let reply = try await origin.get("/", stale, from: cache)
        let isUsed = test.mayBeStored && test.mayBeStale
        #expect(reply.outcome.source == (isUsed ? .stale : .unavailable), "\(test), \(age)")
      }
      #expect(origin.requests.count == 1, "\(test)")
      if number.isMultiple(of: 50) { await Task.yield() }
    }
  }

  @Test func `fields that are private are not stored`() async throws {
    let origin = Origin(["Cache-Control": "max-age=100, private=\"X-User, Set-Cookie\""])
    origin.answer([
      "Cache-Control": "max-age=100, private=\"X-User, Set-Cookie\"", "X-User": "anna",
      "Set-Cookie": "user=anna", "X-Other": "1",
    ])
    let cache = origin.cache(configuration: Self.shared)
    let first = try await origin.get(from: cache)
    #expect(first.response.fields["X-User"] == "anna")
    _ = try await first.text
    let second = try await origin.get(from: cache)
    #expect(second.outcome.source == .hit)
    #expect(second.response.fields["X-User"] == nil)
    #expect(second.response.fields["Set-Cookie"] == nil)
    #expect(second.response.fields["X-Other"] == "1")
  }

  @Test(arguments: [false, true])
  func `a confirmation can make a response private`(isPrivate: Bool) async throws {
    let origin = Origin(["Cache-Control": "max-age=10", "ETag": "\"1\""])
    let cache = origin.cache(configuration: Self.shared)
    _ = try await origin.get(from: cache).text
    origin.advance(20)
    origin.answer(
      status: 304, ["Cache-Control": isPrivate ? "private" : "s-maxage=100", "ETag": "\"1\""],
      body: "")
    #expect(try await origin.get(from: cache).text == "body")
    #expect(try (cache.storedResponse(to: Origin.request()) == nil) == isPrivate)
  }

  @Test func `accounts are told apart where the server says so`() async throws {
    let origin = Origin { request in
      (
        .init(status: 200, fields: ["Cache-Control": "s-maxage=100", "Vary": "Authorization"]),
        .init(Data((request.fields["Authorization"] ?? "none").utf8))
      )
    }
    let cache = origin.cache(configuration: Self.shared)
    for user in ["anna", "bob", "anna", "bob"] {
      #expect(try await origin.get("/", ["Authorization": user], from: cache).text == user)
    }
    #expect(origin.requests.count == 2)
  }

  @Test func `a shared cache finds nothing that a private one has stored`() async throws {
    let directory = try TemporaryDirectory(inMemory: true)
    let origin = Origin(["Cache-Control": "max-age=100, private"], body: "anna's")
    _ = try await origin.get(from: origin.cache(in: directory.url)).text
    #expect(try origin.cache(in: directory.url).storedResponse(to: Origin.request()) != nil)
    let cache = origin.cache(in: directory.url, configuration: Self.shared)
    #expect(try cache.storedResponse(to: Origin.request()) == nil)
    origin.answer(["Cache-Control": "s-maxage=100"], body: "all's")
    _ = try await origin.get(from: cache).text
    let again = origin.cache(in: directory.url, configuration: Self.shared)
    #expect(try await again.storedResponse(to: Origin.request())?.text == "all's")
    #expect(again.storedURLs.count == 1)
    again.removeAll()
    #expect(try origin.cache(in: directory.url).storedResponse(to: Origin.request()) == nil)
  }

  @Test func `a private cache ignores what is for shared ones`() async throws {
    let origin = Origin(["Cache-Control": "private, s-maxage=1, max-age=100, proxy-revalidate"])
    let cache = origin.cache()
    _ = try await origin.get(from: cache).text
    origin.advance(50)
    #expect(try await origin.get(from: cache).outcome.source == .hit)
  }
}
