import CachesTestSupport
import Foundation
import SteadCaches
import SteadTestSupport

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What a second process does with a cache of responses.
struct HTTPWorker {
  /// Small, so that entries go all the time and that a large body is streamed to the disk.
  private static let limits = HTTPCache.Limits(
    memorySizeLimit: 200_000, diskSizeLimit: 1_000_000, bodySizeLimit: 500_000,
    bufferSizeLimit: 40_000)
  private static let paths = (0..<8).flatMap { ["/small/\($0)", "/large/\($0 % 4)"] }

  private let base: String
  private let cache: HTTPCache
  private let session: URLSession

  private init(_ directory: URL, _ base: String) {
    self.base = base
    cache = HTTPCache(directory: directory, limits: Self.limits)
    session = URLSession(configuration: .ephemeral)
  }

  /// Runs a command, and says whether it is one that it knows.
  static func run(_ arguments: [String]) -> Bool {
    guard arguments.count >= 3 else { return false }
    let worker = HTTPWorker(
      URL(filePath: arguments[1], directoryHint: .isDirectory), arguments[2])
    switch (arguments[0], arguments.dropFirst(3).first.flatMap { UInt64($0) }) {
    case ("http-serve", _): worker.serve()
    case ("http-changes", .some(let seed)): worker.change(seed: seed)
    default: return false
    }
    return true
  }

  private struct Wrong: Error, CustomStringConvertible {
    let description: String
  }

  // MARK: Commands

  /// Sends requests as it is told, and says the version that came and where from.
  private func serve() {
    say("ready")
    while let line = readLine() {
      let words = line.split(separator: " ").map(String.init)
      WorkerMain.wait {
        switch words[0] {
        case "post":
          try await post(words[1])
          say("posted")
        case "confirm": say(try await get(words[1], .reloadRevalidatingCacheData))
        default: say(try await get(words[1]))
        }
      }
    }
  }

  /// Loads, changes and confirms without end. What is wrong ends it.
  private func change(seed: UInt64) {
    for path in Self.paths { WorkerMain.wait { try await checkStored(path) } }
    say("opened")
    var random = SplitMix(seed: seed)
    while true {
      let path = Self.paths.randomElement(using: &random) ?? "/small/0"
      let number = Int.random(in: 0..<8, using: &random)
      WorkerMain.wait {
        switch number {
        case 0: try await post(path)
        case 1: try await readABit(of: path)
        case 2: _ = try await get(path, .reloadIgnoringLocalCacheData)
        case 3: _ = try await get(path, .reloadRevalidatingCacheData)
        default: _ = try await get(path)
        }
      }
      guard cache.diskSize <= Self.limits.diskSizeLimit,
        cache.memorySize <= Self.limits.memorySizeLimit
      else { WorkerMain.fail(Wrong(description: "\(cache.diskSize), \(cache.memorySize) bytes")) }
    }
  }

  // MARK: Requests

  private func request(_ path: String) throws -> URLRequest {
    guard let url = URL(string: base + path) else { throw URLError(.badURL) }
    return URLRequest(url: url)
  }

  private func post(_ path: String) async throws {
    var request = try request(path)
    request.httpMethod = "POST"
    _ = try await session.data(for: request, cache: cache)
  }

  private func get(
    _ path: String, _ policy: URLRequest.CachePolicy = .useProtocolCachePolicy
  ) async throws -> String {
    var request = try request(path)
    request.cachePolicy = policy
    let (reply, _) = try await session.reply(for: request, cache: cache)
    let body = try Self.check(try await reply.body.data(), path, reply.response)
    return "\(body.version) \(reply.outcome.source)"
  }

  private func readABit(of path: String) async throws {
    let (chunks, _) = try await session.chunks(for: try request(path), cache: cache)
    for try await _ in chunks { break }
  }

  private func checkStored(_ path: String) async throws {
    guard let url = try request(path).url,
      let reply = cache.storedResponse(to: HTTPCache.Request(url: url))
    else { return }
    _ = try Self.check(try await reply.body.data(), path, reply.response)
  }

  private static func check(
    _ bytes: Data, _ path: String, _ response: HTTPCache.Response
  ) throws -> VersionedBody {
    guard let body = VersionedBody(bytes), body.path == path,
      body.entityTag == response.fields["ETag"]
    else {
      throw Wrong(
        description: "\(bytes.count) bytes of \(path), \(response.fields["ETag"] ?? "no tag")")
    }
    return body
  }
}
