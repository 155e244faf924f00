import Foundation
import Synchronization

/// Which requests in progress may still store their responses, and which pages are being changed.
///
/// What is invalidated or removed while a request is in progress must not come back with its response, which the server
/// may have made earlier. What is removed while a page is being changed must not come back with the page.
final class StoringRights: Sendable {
  private struct State {
    /// The names of the bodies that may be stored, by the keys of their URLs.
    var active: [String: Set<String>] = [:]
    /// Those among them that may not be stored any more.
    var revoked: Set<String> = []
    /// The pages that are being changed: by how many, and whether they were removed in the meantime.
    var changes: [String: (count: Int, isRemoved: Bool)] = [:]
    /// How often rights were taken from the URLs of each slot.
    var revocations = [Int](repeating: 0, count: StoringRights.slots)
  }

  /// How many counts of revocations there are; URLs that share one merely share fewer fetches, and some questions in the
  /// background wait for the next request.
  private static let slots = 256

  private let state = Mutex(State())

  /// Grants the right to store a body. Each call has its call of ``end(_:of:)``.
  func begin(_ id: String, of key: CacheKey) {
    state.withLock { _ = $0.active[key.string, default: []].insert(id) }
  }

  func end(_ id: String, of key: CacheKey) {
    state.withLock { state in
      state.revoked.remove(id)
      state.active[key.string]?.remove(id)
      if state.active[key.string]?.isEmpty == true { state.active[key.string] = nil }
    }
  }

  /// The URLs of requests that are on their way, or whose pages are being changed, as strings of their keys.
  var keys: Set<String> {
    state.withLock { Set($0.active.keys).union($0.changes.keys) }
  }

  /// Whether a body may not be stored.
  func isRevoked(_ id: String) -> Bool { state.withLock { $0.revoked.contains(id) } }

  /// A number that is another one after each revocation of a URL's rights.
  ///
  /// A request after a revocation must not get a response from before it, so it shares no fetch with requests of an
  /// earlier epoch.
  func epoch(of key: CacheKey) -> Int { state.withLock { $0.revocations[Self.slot(of: key)] } }

  private static func slot(of key: CacheKey) -> Int {
    Int(UInt(bitPattern: key.string.hashValue) % UInt(slots))
  }

  /// Begins to change a page. Each call has its call of ``endChange(of:)``.
  func beginChange(of key: CacheKey) {
    state.withLock { $0.changes[key.string, default: (0, false)].count += 1 }
  }

  func endChange(of key: CacheKey) {
    state.withLock { state in
      state.changes[key.string]?.count -= 1
      if state.changes[key.string]?.count == 0 { state.changes[key.string] = nil }
    }
  }

  /// Whether a page was removed while it is being changed, so that nothing of it may be used.
  func isRemoved(_ key: CacheKey) -> Bool {
    state.withLock { !$0.changes.isEmpty && $0.changes[key.string]?.isRemoved == true }
  }

  /// Takes the rights from all requests of a URL that are on their way. Call it before the page is removed.
  func revoke(_ key: CacheKey) {
    state.withLock { state in
      state.revoked.formUnion(state.active[key.string] ?? [])
      state.changes[key.string]?.isRemoved = true
      state.revocations[Self.slot(of: key)] += 1
    }
  }

  /// Takes the rights from all requests that are on their way. Call it before pages are removed.
  func revokeAll() {
    state.withLock { state in
      for names in state.active.values { state.revoked.formUnion(names) }
      for key in state.changes.keys { state.changes[key]?.isRemoved = true }
      for slot in state.revocations.indices { state.revocations[slot] += 1 }
    }
  }
}

// MARK: - Unsafe methods

/// Which URLs' responses a request makes useless (RFC 9111, 4.4).
enum Invalidation {
  private static let safeMethods: Set<String> = [
    "GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "REPORT", "SEARCH", "QUERY",
  ]

  /// The keys of these URLs: the request's own, and those that the response names, on the same origin.
  ///
  /// - Parameter key: A URL's key.
  static func keys(
    of request: HTTPCache.Request, response: HTTPCache.Response,
    key: (URL) -> CacheKey? = { CacheKey($0) }
  ) -> [CacheKey] {
    guard !safeMethods.contains(request.method), HTTPStatus.isSuccess(response.status),
      let own = key(request.url)
    else { return [] }
    let named = ["Location", "Content-Location"].compactMap { name in
      response.fields[name].flatMap { URL(string: $0, relativeTo: request.url) }.flatMap(key)
    }
    return [own] + named.filter { $0 != own && $0.origin == own.origin }
  }

  /// Whether the response to a POST is what a GET would get (RFC 9110, 9.3.3).
  static func describesItself(
    _ response: HTTPCache.Response, to request: HTTPCache.Request,
    key: (URL) -> CacheKey? = { CacheKey($0) }
  ) -> Bool {
    guard let location = response.fields["Content-Location"],
      let url = URL(string: location, relativeTo: request.url), let described = key(url)
    else { return false }
    return described == key(request.url)
  }
}
