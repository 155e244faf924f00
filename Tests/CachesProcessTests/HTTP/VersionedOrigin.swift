import CachesTestSupport
import Foundation
import LocalServer
import SteadTestSupport
import Synchronization

@testable import SteadCaches

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A server whose responses have a version for each path, which a POST counts up, and a client of it.
final class VersionedOrigin: Sendable {
  private let versions: Versions
  let server: LocalServer
  private let session = URLSession(configuration: .ephemeral)

  init() throws {
    let versions = Versions()
    self.versions = versions
    server = try LocalServer { versions.answer($0) }
  }

  /// Changes a path's contents past all caches.
  func change(_ path: String) { versions.change(path) }

  /// The version that a path has now.
  func version(of path: String) -> Int { versions.version(of: path) }

  /// The body that comes through a cache, and where from; an error if it isn't whole.
  func get(
    _ path: String, _ policy: URLRequest.CachePolicy = .useProtocolCachePolicy,
    from cache: HTTPCache
  ) async throws -> (version: Int, source: HTTPCache.Outcome.Source) {
    var request = URLRequest(url: try server.url(path))
    request.cachePolicy = policy
    let (reply, _) = try await session.reply(for: request, cache: cache)
    guard let body = VersionedBody(try await reply.body.data()), body.path == path,
      body.entityTag == reply.response.fields["ETag"]
    else { throw CocoaError(.fileReadCorruptFile) }
    return (body.version, reply.outcome.source)
  }

  func post(_ path: String, to cache: HTTPCache) async throws {
    var request = URLRequest(url: try server.url(path))
    request.httpMethod = "POST"
    _ = try await session.data(for: request, cache: cache)
  }

  /// The version that a cache has stored; nil if it has none.
  func stored(_ path: String, in cache: HTTPCache) async throws -> Int? {
    let request = HTTPCache.Request(url: try server.url(path))
    guard let reply = cache.storedResponse(to: request) else { return nil }
    guard let body = VersionedBody(try await reply.body.data()), body.path == path else {
      throw CocoaError(.fileReadCorruptFile)
    }
    return body.version
  }
}

/// What the server has.
private final class Versions: Sendable {
  private static let chunkSize = 30_000
  private let versions = Mutex<[String: Int]>([:])

  func version(of path: String) -> Int { versions.withLock { $0[path] ?? 1 } }
  func change(_ path: String) { versions.withLock { $0[path] = ($0[path] ?? 1) + 1 } }

  func answer(_ request: LocalServer.Request) -> LocalServer.Reply {
    guard request.method == "GET" else {
      change(request.target)
      return LocalServer.Reply(status: 204)
    }
    let body = VersionedBody(path: request.target, version: version(of: request.target))
    let fields = [("Cache-Control", "max-age=1000"), ("ETag", body.entityTag)]
    if request["If-None-Match"] == body.entityTag {
      return LocalServer.Reply(status: 304, fields: fields)
    }
    // One with a length, and one without.
    guard body.version.isMultiple(of: 2) else {
      return LocalServer.Reply(fields: fields, body: .data(body.data))
    }
    return LocalServer.Reply(
      fields: fields,
      body: .stream { writer in
        var rest = body.data
        while !rest.isEmpty {
          try writer.write(Data(rest.prefix(Self.chunkSize)))
          rest = rest.dropFirst(Self.chunkSize)
        }
      })
  }
}
