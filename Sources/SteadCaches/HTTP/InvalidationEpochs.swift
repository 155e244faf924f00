import Foundation
import Synchronization

/// Keeps what was removed from coming back with a fetch or an update that began before the removal.
///
/// Three ways lead back, and each has its guard:
///
/// | what began before the removal | guard |
/// |---|---|
/// | a fetch, whose response the server may have made before | the body's name is invalidated, and then not stored |
/// | an update of a URL's variants, which was computed from those before | the update is marked, and erases what it has written |
/// | a fetch that later requests would join | the URL's epoch is part of ``HTTPCache/FetchKey`` |
///
/// It only knows this object's own removals. Those of other processes are caught by the disk's
/// transactions.
final class InvalidationEpochs: Sendable {
  private struct State {
    /// The names of the bodies that are being fetched, by the keys of their URLs.
    var active: [String: Set<String>] = [:]
    /// Those among them that must not be stored.
    var invalidated: Set<String> = []
    /// The URLs whose variants are being updated: by how many callers, and whether they were
    /// removed meanwhile.
    var updates: [String: (count: Int, wasRemoved: Bool)] = [:]
    /// The number of invalidations in each slot; a URL's slot is its hash.
    var epochs = [Int](repeating: 0, count: InvalidationEpochs.slots)
  }

  /// A fixed number of epochs instead of one for each URL, so that removals leave nothing behind in
  /// memory. URLs that share a slot are collapsed less often than they could be, and some
  /// revalidations in the background are left to the next request.
  private static let slots = 256

  private let state = Mutex(State())

  /// Records that a body is being fetched. Each call has its call of ``endStoring(_:of:)``.
  func beginStoring(_ id: String, of key: CacheKey) {
    state.withLock { _ = $0.active[key.string, default: []].insert(id) }
  }

  func endStoring(_ id: String, of key: CacheKey) {
    state.withLock { state in
      state.invalidated.remove(id)
      // Empty sets are removed: a program may request any number of URLs.
      state.active[key.string]?.remove(id)
      if state.active[key.string]?.isEmpty == true { state.active[key.string] = nil }
    }
  }

  /// The keys of URLs that are being fetched or whose variants are being updated, as strings.
  var keys: Set<String> {
    state.withLock { Set($0.active.keys).union($0.updates.keys) }
  }

  /// Whether a body must not be stored, since its URL's responses were removed while it was
  /// fetched.
  func isInvalidated(_ id: String) -> Bool { state.withLock { $0.invalidated.contains(id) } }

  /// A number that is different after each invalidation of a URL.
  ///
  /// A request after an invalidation must not get a response from before it, so it is never
  /// collapsed into a fetch of an earlier epoch.
  func epoch(of key: CacheKey) -> Int { state.withLock { $0.epochs[Self.slot(of: key)] } }

  private static func slot(of key: CacheKey) -> Int {
    // Swift's hash will do: epochs are never stored, and each process has its own.
    Int(UInt(bitPattern: key.string.hashValue) % UInt(slots))
  }

  /// Records that a URL's variants are being updated. Each call has its call of ``endUpdate(of:)``.
  func beginUpdate(of key: CacheKey) {
    state.withLock { $0.updates[key.string, default: (0, false)].count += 1 }
  }

  func endUpdate(of key: CacheKey) {
    state.withLock { state in
      state.updates[key.string]?.count -= 1
      // With the last update of the URL: each of them may have read what was removed, and has to
      // see the mark.
      if state.updates[key.string]?.count == 0 { state.updates[key.string] = nil }
    }
  }

  /// Whether a URL's variants were removed while they are being updated, so that nothing of them
  /// may be used.
  func wasRemoved(_ key: CacheKey) -> Bool {
    // Each look-up asks this. Without updates, which is usual, it hashes no string.
    state.withLock { !$0.updates.isEmpty && $0.updates[key.string]?.wasRemoved == true }
  }

  /// Invalidates all fetches and updates of a URL. Call it before the variants are removed, and
  /// again after they left memory: an update may have read them in between.
  func invalidate(_ key: CacheKey) {
    state.withLock { state in
      state.invalidated.formUnion(state.active[key.string] ?? [])
      state.updates[key.string]?.wasRemoved = true
      // Under the same lock: a request sees all three of the marks or none.
      state.epochs[Self.slot(of: key)] += 1
    }
  }

  /// Invalidates all fetches and updates, as ``invalidate(_:)`` does for one URL.
  func invalidateAll() {
    state.withLock { state in
      for names in state.active.values { state.invalidated.formUnion(names) }
      for key in state.updates.keys { state.updates[key]?.wasRemoved = true }
      for slot in state.epochs.indices { state.epochs[slot] += 1 }
    }
  }
}

// MARK: - Unsafe methods

/// Which URLs' responses a request with an unsafe method invalidates (RFC 9111, 4.4).
enum Invalidation {
  private static let safeMethods: Set<String> = [
    "GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "REPORT", "SEARCH", "QUERY",
  ]

  /// The keys of these URLs: the request's own, and those that the response names, on the same
  /// origin.
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
