import Foundation
import SteadTestSupport
import Testing

@testable import SteadCaches

/// Confirmations of what is in memory, on disk, or was written by another object: a 304 for the whole and for a part, and
/// the head alone. `Cache-Status` says what was stored.
@Suite(.hangLimit) struct ConfirmationPlaceTests {
  enum Place: CaseIterable { case memory, disk, reopened }

  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory(inMemory: true) }

  /// Caches for one URL's requests, each of them a new one if the place says so.
  private final class Caches {
    let origin: Origin
    private let place: Place
    private let url: URL
    private var cache: HTTPCache

    init(_ origin: Origin, _ place: Place, _ url: URL) {
      (self.origin, self.place, self.url) = (origin, place, url)
      cache = origin.cache(in: place == .memory ? nil : url)
    }

    func get(_ fields: HTTPCache.Fields = [:], method: String = "GET") async throws
      -> (reply: HTTPCache.Reply, text: String)
    {
      if place == .reopened { cache = origin.cache(in: url) }
      let reply = try await origin.get("/", fields, method: method, from: cache)
      return (reply, try await reply.text)
    }
  }

  private static func fields(
    _ fields: HTTPCache.Fields, maxAge: Int, part: Bool = false
  ) -> HTTPCache.Fields {
    var fields = fields
    fields["Cache-Control"] = "max-age=\(maxAge)"
    if part { fields["Content-Range"] = "bytes 0-2/9" }
    return fields
  }

  private func url(_ number: Int) -> URL { directory.url.appending(path: "http\(number)") }

  @Test(arguments: Place.allCases, [true, false])
  func `a 304 confirms what has its validators, wherever that is`(
    place: Place, isPart: Bool
  ) async throws {
    let asked: HTTPCache.Fields = isPart ? ["Range": "bytes=0-2"] : [:]
    let status = isPart ? 206 : 200
    for (number, row) in ValidatorTests.confirmations.enumerated() {
      let (stored, confirmation, isAboutIt) = row
      let note: Comment = "\(stored), 304 with \(confirmation)"
      let first = Self.fields(stored, maxAge: 5, part: isPart)
      let origin = Origin(status: status, first, body: "old")
      let caches = Caches(origin, place, url(number))
      let miss = try await caches.get(asked).reply
      #expect(
        miss.outcome.cacheStatus() == "stead; fwd=miss; fwd-status=\(status); stored", note)
      origin.advance(6)
      origin.answer { request in
        let isConditional = ["If-None-Match", "If-Modified-Since"].contains {
          request.fields.contains($0)
        }
        return isConditional
          ? (.init(status: 304, fields: Self.fields(confirmation, maxAge: 7)), .init())
          : (.init(status: status, fields: first), .init(Data("new".utf8)))
      }
      let (second, text) = try await caches.get(asked)
      #expect(text == (isAboutIt ? "old" : "new"), note)
      #expect(second.response.status == status, note)
      #expect(second.outcome.isStored, note)
      #expect(
        second.outcome.cacheStatus()
          == (isAboutIt
            ? "stead; fwd=stale; fwd-status=304; ttl=7; stored"
            : "stead; fwd=miss; fwd-status=\(status); stored"),
        note)
      #expect(origin.requests.count == (isAboutIt ? 2 : 3), note)
      let (third, rest) = try await caches.get(asked)
      #expect(rest == text && third.response.status == status, note)
      #expect(third.outcome.cacheStatus() == "stead; hit; ttl=\(isAboutIt ? 7 : 5)", note)
      await Task.yield()
    }
  }

  /// Unlike a 304, which answers a question about certain validators, a head has those of the resource as it is now.
  @Test(arguments: Place.allCases)
  func `a head confirms what has its validators, wherever that is`(place: Place) async throws {
    for (number, row) in ValidatorTests.confirmations.enumerated() {
      let (stored, confirmation, _) = row
      let note: Comment = "\(stored), HEAD with \(confirmation)"
      let isAboutIt = ["ETag", "Last-Modified"].allSatisfy {
        confirmation[$0] == nil || confirmation[$0] == stored[$0]
      }
      let origin = Origin(Self.fields(stored, maxAge: 5), body: "old")
      let caches = Caches(origin, place, url(number))
      _ = try await caches.get()
      let (fresh, none) = try await caches.get(method: "HEAD")
      #expect(none.isEmpty && fresh.outcome.cacheStatus() == "stead; hit; ttl=5", note)
      origin.advance(6)
      origin.answer(Self.fields(confirmation, maxAge: 7), body: "")
      let head = try await caches.get(method: "HEAD").reply
      #expect(!head.outcome.isStored, note)
      #expect(head.outcome.cacheStatus() == "stead; fwd=miss; fwd-status=200", note)
      origin.answer(Self.fields(confirmation, maxAge: 7), body: "new")
      let (reply, text) = try await caches.get()
      #expect(text == (isAboutIt ? "old" : "new"), note)
      #expect(
        reply.outcome.cacheStatus()
          == (isAboutIt ? "stead; hit; ttl=7" : "stead; fwd=miss; fwd-status=200; stored"), note)
      #expect(origin.requests.count == (isAboutIt ? 2 : 3), note)
      await Task.yield()
    }
  }
}
